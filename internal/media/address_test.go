package media

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestResolveAddresses(t *testing.T) {
	local, err := resolveAddresses(Config{Local: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(local.node) != 1 || len(local.bind) != 1 || local.node[0] != local.bind[0] || local.node[0].IsUnspecified() {
		t.Fatalf("addresses: got %v, want one specific address, the same in node and bind", local)
	}
}

// A machine that has no network, perhaps not yet, has no address for media, unless loopback is enough.
func TestMachine_Resolve(t *testing.T) {
	ip4, ip6 := netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("fd00::5")
	own := func(ips ...netip.Addr) map[netip.Addr]bool {
		all := map[netip.Addr]bool{netip.MustParseAddr("127.0.0.1"): true}
		for _, ip := range ips {
			all[ip] = true
		}
		return all
	}
	const noRoute4 = "--rtc-node-ip (PARLEY_RTC_NODE_IP): this machine does not have the address 203.0.113.9, and has no " +
		"route to an IPv4 network: connect this machine to the network, or set an address of this machine"
	machines := map[string]machine{
		"offline":  {own: own()},
		"isolated": {own: own(ip4)}, // a network without a route to others
		"IPv4":     {own: own(ip4), outbound4: ip4},
		"IPv6":     {own: own(ip6), outbound6: ip6},
		"both":     {own: own(ip4, ip6), outbound4: ip4, outbound6: ip6},
	}
	for _, c := range []struct {
		machine string
		cfg     Config
		want    string // the addresses, or the error
	}{
		{"offline", Config{Local: true}, "[127.0.0.1] [127.0.0.1] loopback"},
		{"offline", Config{}, "--rtc-node-ip (PARLEY_RTC_NODE_IP): this machine has no route to a network, so it has no " +
			"address for media: connect this machine to the network, or set an address of this machine"},
		{"offline", Config{NodeIP: "203.0.113.9"}, noRoute4},
		{"offline", Config{NodeIP: "203.0.113.9", Local: true}, noRoute4},
		{"offline", Config{NodeIP: "127.0.0.1"}, "[127.0.0.1] [127.0.0.1] loopback"},
		{"offline", Config{NodeIP: "127.0.0.5"}, "[127.0.0.5] [127.0.0.5] loopback"},
		{"offline", Config{NodeIP: "203.0.113.9", BindIPs: []string{"127.0.0.1"}}, "[203.0.113.9] [127.0.0.1] loopback"},
		{"isolated", Config{NodeIP: "10.0.0.5"}, "[10.0.0.5] [10.0.0.5]"},
		{"isolated", Config{NodeIP: "203.0.113.9"}, noRoute4},
		{"IPv4", Config{}, "[10.0.0.5] [10.0.0.5]"},
		{"IPv4", Config{NodeIP: "127.0.0.5"}, "[127.0.0.5] [127.0.0.5] loopback"},
		{"IPv4", Config{NodeIP: "203.0.113.9"}, "[203.0.113.9] [10.0.0.5]"},
		{"IPv4", Config{NodeIP: "203.0.113.9,2001:db8::9"}, "[203.0.113.9] [10.0.0.5], and not --rtc-node-ip " +
			"(PARLEY_RTC_NODE_IP): this machine does not have the address 2001:db8::9, and has no route to an IPv6 network: " +
			"connect this machine to the network, or set an address of this machine, or leave the IPv6 address out"},
		{"offline", Config{NodeIP: "203.0.113.9,2001:db8::9"}, noRoute4},
		{"IPv6", Config{}, "[fd00::5] [fd00::5]"},
		{"IPv6", Config{NodeIP: "203.0.113.9"}, noRoute4},
		{"both", Config{}, "[10.0.0.5] [10.0.0.5]"},
		{"both", Config{NodeIP: "203.0.113.9,2001:db8::9"}, "[203.0.113.9 2001:db8::9] [10.0.0.5 fd00::5]"},
	} {
		got, err := machines[c.machine].resolve(c.cfg)
		text := fmt.Sprintf("%v %v", got.node, got.bind)
		if got.loopbackOnly() {
			text += " loopback"
		}
		if got.missing != nil {
			text += ", and not " + got.missing.Error()
		}
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%s, %+v: got %q, want %q", c.machine, c.cfg, text, c.want)
		}
	}
}

func TestListenTCP_PortInUse(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	cfg := Config{TCPPort: l.Addr().(*net.TCPAddr).Port}
	public := addresses{bind: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
	loopback := addresses{bind: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
	want := fmt.Sprintf("--rtc-tcp-port (PARLEY_RTC_TCP_PORT): TCP port %d on this machine is already in use: "+
		"stop the other program, or choose another port", cfg.TCPPort)
	listener, unopened := listenTCP(cfg, public)
	if listener != unopened || unopened == nil || unopened.Err().Error() != want {
		t.Errorf("got %v, %v, want a listener that is not open because of %q", listener, unopened, want)
	}
	if listener, unopened := listenTCP(cfg, loopback); listener != nil || unopened != nil {
		t.Errorf("on loopback: got %v, %v, want no listener", listener, unopened)
	}
}

// A UDP port that is free a moment later, such as that of a killed process, is used.
func TestUDPPort_Released(t *testing.T) {
	taken, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	want := taken.LocalAddr().(*net.UDPAddr).Port
	addrs := addresses{bind: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
	time.AfterFunc(5*portRetryInterval, func() { _ = taken.Close() })
	got, failure, err := udpPort(Config{UDPPort: want}, addrs, time.Minute)
	if err != nil || failure != nil || got != want {
		t.Errorf("got port %d, %v, %v, want %d", got, failure, err, want)
	}
}

// No port can be opened on an address that this machine does not have.
func TestUDPPort_NoAddress(t *testing.T) {
	addrs := addresses{bind: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
	const want = "--rtc-udp-port (PARLEY_RTC_UDP_PORT): cannot listen on UDP port 7882 on 192.0.2.1: "
	_, _, err := udpPort(Config{UDPPort: 7882}, addrs, 0)
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestRedact(t *testing.T) {
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJwYXJsZXkifQ.c2lnbmF0dXJl"
	for text, want := range map[string]string{
		"nothing to hide":                       "nothing to hide",
		"invalid token: " + token:               "invalid token: [token]",
		"GET /rtc?access_token=abc&x=1":         "GET /rtc?access_token=[token]&x=1",
		`{"sdp":"a=ice-pwd:abcdef\r\na=mid:0"}`: `{"sdp":"a=ice-pwd:[password]\r\na=mid:0"}`,
		"key hush-hush used":                    "key [secret] used",
	} {
		if got := redact(text, "hush-hush"); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
