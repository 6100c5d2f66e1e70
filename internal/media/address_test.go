package media

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
)

func TestResolveAddresses(t *testing.T) {
	local, err := resolveAddresses(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(local.node) != 1 || len(local.bind) != 1 || local.node[0] != local.bind[0] || local.node[0].IsUnspecified() {
		t.Fatalf("addresses: got %v, want one specific address, the same in node and bind", local)
	}
	for _, c := range []struct {
		cfg      Config
		want     string
		loopback bool
	}{
		{Config{NodeIP: "127.0.0.1"}, "[127.0.0.1] [127.0.0.1]", true},
		{Config{NodeIP: "203.0.113.9"}, fmt.Sprintf("[203.0.113.9] %v", local.bind), local.loopbackOnly()},
		{Config{NodeIP: "203.0.113.9", BindIPs: []string{"127.0.0.1"}}, "[203.0.113.9] [127.0.0.1]", true},
		{Config{NodeIP: local.node[0].String()}, fmt.Sprintf("%v %v", local.node, local.bind), local.loopbackOnly()},
	} {
		got, err := resolveAddresses(c.cfg)
		if err != nil {
			t.Errorf("addresses with %+v: got error %v, want none", c.cfg, err)
			continue
		}
		if text := fmt.Sprintf("%v %v", got.node, got.bind); text != c.want || got.loopbackOnly() != c.loopback {
			t.Errorf("%+v: %s, loopback %t; want %s", c.cfg, text, got.loopbackOnly(), c.want)
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
	if _, err := listenTCP(cfg, public); err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	if listener, err := listenTCP(cfg, loopback); err != nil || listener != nil {
		t.Errorf("on loopback: got %v, %v, want no listener", listener, err)
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
