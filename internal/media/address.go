package media

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
)

// addresses says where media is received and what browsers are told of it.
type addresses struct {
	node []netip.Addr // one or two, at most one of each family
	bind []netip.Addr
}

// loopbackOnly reports that nothing outside this machine can reach us.
func (a addresses) loopbackOnly() bool {
	for _, ip := range a.bind {
		if !ip.IsLoopback() {
			return false
		}
	}
	return true
}

// resolveAddresses works out what the configuration leaves open. Every address
// is named to LiveKit in the end: left alone it binds all of them, and asks
// public STUN servers who it is.
func resolveAddresses(cfg Config) (addresses, error) {
	local, err := localAddresses()
	if err != nil {
		return addresses{}, err
	}
	node, err := parseIPs("node IP", strings.Split(cfg.NodeIP, ","))
	if err != nil {
		return addresses{}, err
	}
	if len(node) == 0 {
		node = []netip.Addr{outboundAddress(local, "udp4")}
	}
	if len(node) > 2 || len(node) == 2 && node[0].Is4() == node[1].Is4() {
		return addresses{}, fmt.Errorf("media: node IP %q may name one IPv4 and one IPv6 address", cfg.NodeIP)
	}

	bind, err := parseIPs("bind IP", cfg.BindIPs)
	if err != nil {
		return addresses{}, err
	}
	for _, ip := range bind {
		if !local[ip] {
			return addresses{}, fmt.Errorf("media: bind IP %s is not an address of this machine", ip)
		}
	}
	if len(bind) == 0 {
		for _, ip := range node {
			switch {
			case local[ip]:
				bind = append(bind, ip)
			case ip.Is4():
				bind = append(bind, outboundAddress(local, "udp4"))
			default:
				bind = append(bind, outboundAddress(local, "udp6"))
			}
		}
	}
	return addresses{node: node, bind: bind}, nil
}

func parseIPs(what string, texts []string) ([]netip.Addr, error) {
	var ips []netip.Addr
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("media: %s %q is not an IP address", what, text)
		}
		ips = append(ips, ip.Unmap())
	}
	return ips, nil
}

func localAddresses() (map[netip.Addr]bool, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("media: list the addresses of this machine: %w", err)
	}
	local := make(map[netip.Addr]bool, len(found))
	for _, a := range found {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				local[ip.Unmap()] = true
			}
		}
	}
	return local, nil
}

// outboundAddress is the address the system would send from. Connecting a UDP
// socket sends nothing; the two targets are addresses reserved for documents.
// Without a way to the network it is loopback, so that a laptop on a train
// can still try things out.
func outboundAddress(local map[netip.Addr]bool, network string) netip.Addr {
	target, loopback := "192.0.2.1:9", netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if network == "udp6" {
		target, loopback = "[2001:db8::1]:9", netip.IPv6Loopback()
	}
	conn, err := net.Dial(network, target)
	if err != nil {
		return loopback
	}
	defer func() { _ = conn.Close() }()
	if from, ok := conn.LocalAddr().(*net.UDPAddr); ok {
		if ip := from.AddrPort().Addr().Unmap(); local[ip] {
			return ip
		}
	}
	return loopback
}

// checkPorts tries the ports before LiveKit does: its own message names no
// port plainly, and when the TCP port fails it keeps the UDP sockets open.
func checkPorts(cfg Config, where addresses, tcp bool) error {
	for _, ip := range where.bind {
		addr := net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(cfg.UDPPort)))
		conn, err := net.ListenUDP("udp", addr)
		if err != nil {
			return portError("UDP", cfg.UDPPort, ip.String(), err)
		}
		_ = conn.Close()
	}
	if tcp {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{Port: cfg.TCPPort})
		if err != nil {
			return portError("TCP", cfg.TCPPort, "this machine", err)
		}
		_ = l.Close()
	}
	return nil
}

func portError(kind string, port int, on string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("media: %s port %d on %s is already in use", kind, port, on)
	}
	return fmt.Errorf("media: cannot listen on %s port %d on %s: %w", kind, port, on, err)
}
