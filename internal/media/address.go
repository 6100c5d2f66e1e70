package media

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"parley/internal/late"
)

// addresses are the IP addresses of the media engine.
type addresses struct {
	node []netip.Addr // announced to browsers; one or two, at most one of each family
	bind []netip.Addr // on which media is received
	// missing says which address of the configuration is not used; nil if all are.
	missing *AddressError
}

// loopbackOnly reports whether only this machine can reach the engine.
func (a addresses) loopbackOnly() bool {
	for _, ip := range a.bind {
		if !ip.IsLoopback() {
			return false
		}
	}
	return true
}

// machine has the addresses of this machine.
type machine struct {
	own map[netip.Addr]bool
	// outbound4 and outbound6 are the addresses from which the system would send; the zero value without a route.
	outbound4, outbound6 netip.Addr
}

// resolveAddresses returns the addresses of the configuration and replaces missing ones
// by those of this machine. LiveKit always gets explicit addresses, because without
// them it binds all addresses and asks public STUN servers for its own.
func resolveAddresses(cfg Config) (addresses, error) {
	own, err := ownAddresses()
	if err != nil {
		return addresses{}, err
	}
	m := machine{own: own, outbound4: outboundAddress(own, "udp4"), outbound6: outboundAddress(own, "udp6")}
	return m.resolve(cfg)
}

func (m machine) resolve(cfg Config) (addresses, error) {
	node, err := parseIPs("node IP", strings.Split(cfg.NodeIP, ","))
	if err != nil {
		return addresses{}, err
	}
	if len(node) == 0 {
		detected, err := m.detect(cfg.Local)
		if err != nil {
			return addresses{}, err
		}
		node = []netip.Addr{detected}
	}
	if len(node) > 2 || len(node) == 2 && node[0].Is4() == node[1].Is4() {
		return addresses{}, fmt.Errorf("media: node IP %q must be at most one IPv4 and one IPv6 address", cfg.NodeIP)
	}

	bind, err := parseIPs("bind IP", cfg.BindIPs)
	if err != nil {
		return addresses{}, err
	}
	for _, ip := range bind {
		if !m.own[ip] {
			return addresses{}, fmt.Errorf("media: bind IP %s is not an address of this machine", ip)
		}
	}
	if len(bind) > 0 {
		return addresses{node: node, bind: bind}, nil
	}
	var a addresses
	for _, ip := range node {
		if from, found := m.bindAddress(ip); found {
			a.node, a.bind = append(a.node, ip), append(a.bind, from)
		} else {
			a.missing = &AddressError{NodeIP: ip}
		}
	}
	if len(a.bind) == 0 {
		return addresses{}, &AddressError{NodeIP: node[0]}
	}
	return a, nil
}

// detect returns the address to announce if the configuration has none: that of IPv6 only on a machine without IPv4.
// A computer that is offline can still run a local server, on loopback.
func (m machine) detect(local bool) (netip.Addr, error) {
	switch {
	case m.outbound4.IsValid():
		return m.outbound4, nil
	case m.outbound6.IsValid():
		return m.outbound6, nil
	case local:
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	return netip.Addr{}, &AddressError{}
}

// bindAddress returns the address of this machine on which it receives media that is sent to a node IP. It never
// replaces another address by loopback, because the machine may get its address a moment later, for example by DHCP,
// and the engine would not notice.
func (m machine) bindAddress(node netip.Addr) (from netip.Addr, found bool) {
	outbound := m.outbound4
	if node.Is6() {
		outbound = m.outbound6
	}
	switch {
	case m.own[node] || node.IsLoopback():
		return node, true
	default:
		return outbound, outbound.IsValid()
	}
}

// AddressError says that this machine cannot receive media for one address of the configuration or, if NodeIP is zero,
// that no address was detected. The machine may get an address later.
type AddressError struct {
	NodeIP netip.Addr // of the configuration; the zero value if it has none
}

func (e *AddressError) Error() string {
	remedy := "connect this machine to the network, or set an address of this machine"
	if e.NodeIP.Is6() {
		remedy += ", or leave the IPv6 address out"
	}
	return fmt.Sprintf("--rtc-node-ip (PARLEY_RTC_NODE_IP): %s: %s", e.Reason(), remedy)
}

// Reason returns the reason without the setting and the remedy.
func (e *AddressError) Reason() string {
	switch {
	case !e.NodeIP.IsValid():
		return "this machine has no route to a network, so it has no address for media"
	case e.NodeIP.Is4():
		return fmt.Sprintf("this machine does not have the address %s, and has no route to an IPv4 network", e.NodeIP)
	}
	return fmt.Sprintf("this machine does not have the address %s, and has no route to an IPv6 network", e.NodeIP)
}

// AnnouncedIPs returns the addresses that an engine with these node IPs announces to browsers. It returns an
// AddressError if an address cannot be used: together with the other address, or without any. local has the meaning of
// Config.Local.
func AnnouncedIPs(nodeIPs []netip.Addr, local bool) ([]netip.Addr, error) {
	addrs, err := resolveAddresses(Config{NodeIP: joinIPs(nodeIPs), Local: local})
	if err == nil && addrs.missing != nil {
		err = addrs.missing
	}
	return addrs.node, err
}

// CheckPorts binds and releases the ports of an engine with these node IPs. local is that of Config, and tcpPort is 0
// for an engine that opens none. It returns a PortError for each that cannot be opened.
func CheckPorts(nodeIPs []netip.Addr, local bool, udpPort, tcpPort int) (unopened []*PortError, err error) {
	cfg := Config{NodeIP: joinIPs(nodeIPs), Local: local, UDPPort: udpPort, TCPPort: tcpPort}
	addrs, err := resolveAddresses(cfg)
	if err != nil {
		return nil, err
	}
	if failure := bindUDP(udpPort, addrs.bind); failure != nil {
		unopened = append(unopened, failure)
	}
	if cfg.TCPPort != 0 && !addrs.loopbackOnly() {
		listener, err := openTCP(cfg.TCPPort)
		if failure, ok := errors.AsType[*PortError](err); ok {
			unopened = append(unopened, failure)
		} else {
			_ = listener.Close()
		}
	}
	return unopened, nil
}

func joinIPs(ips []netip.Addr) string {
	texts := make([]string, len(ips))
	for i, ip := range ips {
		texts[i] = ip.String()
	}
	return strings.Join(texts, ",")
}

func parseIPs(setting string, texts []string) ([]netip.Addr, error) {
	var ips []netip.Addr
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("media: %s %q is not an IP address", setting, text)
		}
		ips = append(ips, ip.Unmap())
	}
	return ips, nil
}

func ownAddresses() (map[netip.Addr]bool, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("media: list the addresses of this machine: %w", err)
	}
	own := make(map[netip.Addr]bool, len(found))
	for _, a := range found {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				own[ip.Unmap()] = true
			}
		}
	}
	return own, nil
}

// outboundAddress returns the address from which the system would send, or the zero value without a
// route to a network. Connecting a UDP socket sends nothing, and the two targets are addresses that are
// reserved for documentation.
func outboundAddress(own map[netip.Addr]bool, network string) netip.Addr {
	target := "192.0.2.1:9"
	if network == "udp6" {
		target = "[2001:db8::1]:9"
	}
	conn, err := net.Dial(network, target)
	if err != nil {
		return netip.Addr{}
	}
	defer func() { _ = conn.Close() }()
	if from, ok := conn.LocalAddr().(*net.UDPAddr); ok {
		if ip := from.AddrPort().Addr().Unmap(); own[ip] && !ip.IsLoopback() {
			return ip
		}
	}
	return netip.Addr{}
}

// udpPort returns the UDP port for media: that of the configuration, or another one that is free on all addresses. Then
// failure says why. It binds and releases the port before LiveKit binds it, because LiveKit's error does not name the
// port.
//
// With the other port, the relays of this process reach the engine, and so do browsers that no firewall separates from
// it. It waits for a port in use, because the kernel releases that of a killed process a moment later.
func udpPort(cfg Config, addrs addresses, wait time.Duration) (port int, failure *PortError, err error) {
	for began := time.Now(); ; time.Sleep(portRetryInterval) {
		failure = bindUDP(cfg.UDPPort, addrs.bind)
		if failure == nil {
			return cfg.UDPPort, nil, nil
		}
		if !errors.Is(failure, syscall.EADDRINUSE) || time.Since(began) > wait {
			break
		}
	}
	for range otherPortAttempts {
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addrs.bind[0], 0)))
		if err != nil {
			return 0, nil, failure
		}
		port = conn.LocalAddr().(*net.UDPAddr).Port
		_ = conn.Close()
		if bindUDP(port, addrs.bind) == nil {
			return port, failure, nil
		}
	}
	return 0, nil, failure
}

const (
	// portReleaseTimeout is how long a start waits for a UDP port in use.
	portReleaseTimeout = 800 * time.Millisecond
	// portRetryInterval is the time between two attempts.
	portRetryInterval = 20 * time.Millisecond
	// otherPortAttempts is how many other ports are tried, because one may be free on one address only.
	otherPortAttempts = 10
)

// freePortInterval is the time between two attempts to see whether the UDP port of the configuration is free now.
const freePortInterval = 5 * time.Second

// freePort is whether a port was free at the last attempt. There is one attempt at a time, because two would find the
// port of each other.
type freePort struct {
	mu   sync.Mutex
	at   time.Time
	free bool
}

// try returns whether the port is free. It calls bind if the last attempt is older than freePortInterval.
func (f *freePort) try(bind func() bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at.IsZero() || time.Since(f.at) > freePortInterval {
		f.free, f.at = bind(), time.Now()
	}
	return f.free
}

// bindUDP binds and releases a UDP port on all addresses.
func bindUDP(port int, on []netip.Addr) *PortError {
	for _, ip := range on {
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(port))))
		if err != nil {
			return &PortError{
				Setting:  udpPortSetting,
				Protocol: "UDP",
				Port:     port,
				Host:     ip.String(),
				Err:      err,
			}
		}
		_ = conn.Close()
	}
	return nil
}

// listenTCP returns the listener of the configuration, or opens the TCP port for media. It returns nil if there is
// none. If the port cannot be opened, unopened opens the listener as soon as that is possible.
func listenTCP(cfg Config, addrs addresses) (listener net.Listener, unopened *late.Listener) {
	if cfg.TCPListener != nil {
		return cfg.TCPListener, nil
	}
	if cfg.TCPPort == 0 || addrs.loopbackOnly() {
		return nil, nil
	}
	listener, err := openTCP(cfg.TCPPort)
	if err != nil {
		unopened = late.NewListener(":"+strconv.Itoa(cfg.TCPPort), err,
			func() (net.Listener, error) { return openTCP(cfg.TCPPort) }, cfg.Log)
		listener = unopened
	}
	if cfg.LimitTCP != nil {
		listener = cfg.LimitTCP(listener)
	}
	return listener, unopened
}

// openTCP opens the TCP port for media. Its error is a PortError.
func openTCP(port int) (net.Listener, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{Port: port})
	if err != nil {
		return nil, &PortError{
			Setting:  tcpPortSetting,
			Protocol: "TCP",
			Port:     port,
			Host:     "this machine",
			Err:      err,
			Retried:  true,
		}
	}
	return listener, nil
}

// The settings of the ports, for errors.
const (
	udpPortSetting = "--rtc-udp-port (PARLEY_RTC_UDP_PORT)"
	tcpPortSetting = "--rtc-tcp-port (PARLEY_RTC_TCP_PORT)"
)

// PortError is why a port for media cannot be opened. An engine works without it.
type PortError struct {
	Setting  string // such as --rtc-udp-port (PARLEY_RTC_UDP_PORT)
	Protocol string // UDP or TCP
	Port     int
	Host     string
	Err      error
	Retried  bool // the engine opens the port as soon as it can
	Free     bool // the port can be opened now, which needs a new engine; set by TryUnopenedPorts
}

func (e *PortError) Error() string {
	if errors.Is(e.Err, syscall.EADDRINUSE) {
		return fmt.Sprintf("%s: %s port %d on %s is already in use: stop the other program, or choose another port",
			e.Setting, e.Protocol, e.Port, e.Host)
	}
	return fmt.Sprintf("%s: cannot listen on %s port %d on %s: %v", e.Setting, e.Protocol, e.Port, e.Host, e.Err)
}

func (e *PortError) Unwrap() error { return e.Err }
