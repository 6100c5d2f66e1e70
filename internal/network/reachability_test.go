package network_test

import (
	"net/netip"
	"strings"
	"testing"

	"parley/internal/network"
)

func TestUnreachable(t *testing.T) {
	t.Parallel()
	parse := func(text string) (ips []netip.Addr) {
		for _, part := range strings.Fields(text) {
			ips = append(ips, netip.MustParseAddr(part))
		}
		return ips
	}
	for _, tc := range []struct {
		name, announced, host string
		want                  network.Browsers
	}{
		{"this machine only", "127.0.0.1", "127.0.0.1 ::1", network.NoBrowsers},
		{"a proxy in front of loopback", "127.0.0.1", "203.0.113.7", network.AllBrowsers},
		{"a proxy in front of loopback, on a local network", "127.0.0.1", "192.168.1.4", network.AllBrowsers},
		{"loopback, and an unknown name", "127.0.0.1", "", network.AllBrowsers},
		{"a private address behind a public name", "10.0.0.4", "203.0.113.7 2001:db8::7", network.AllBrowsers},
		{"an address behind the NAT of a provider", "100.64.0.1", "203.0.113.7", network.AllBrowsers},
		{"a name with an address behind the NAT of a provider", "100.64.0.1", "100.127.255.255", network.NoBrowsers},
		{"a private address, and an unknown name", "10.0.0.4", "", network.NoBrowsers},
		{"a local network", "192.168.1.4", "192.168.1.4", network.NoBrowsers},
		{"a name that is local on this machine", "192.168.1.4", "127.0.1.1", network.NoBrowsers},
		{"a public address", "203.0.113.7", "203.0.113.9", network.NoBrowsers},
		{"IPv6 alone is public", "10.0.0.4 2001:db8::7", "203.0.113.7", network.WithoutIPv6},
		{"IPv6 alone", "2001:db8::7", "203.0.113.7 2001:db8::7", network.WithoutIPv6},
		{"IPv4 alone", "203.0.113.7", "203.0.113.7 2001:db8::7", network.NoBrowsers},
		{"IPv4 alone, and a name with IPv6 alone", "203.0.113.7", "2001:db8::7", network.NoBrowsers},
		{"a private address behind a name with IPv6 alone", "10.0.0.4", "2001:db8::7", network.AllBrowsers},
		{"a private IPv6 address beside a public one", "203.0.113.7 fd00::7", "203.0.113.7 2001:db8::7", network.WithoutIPv4},
		{"private addresses of both kinds", "10.0.0.4 fd00::7", "203.0.113.7 2001:db8::7", network.AllBrowsers},
		{"both kinds", "203.0.113.7 2001:db8::7", "203.0.113.7 2001:db8::7", network.NoBrowsers},
		{"a local network with public IPv6", "192.168.1.4", "192.168.1.4 2001:db8::7", network.NoBrowsers},
		{"IPv4 in IPv6", "10.0.0.4", "::ffff:10.0.0.4", network.NoBrowsers},
	} {
		if got := network.Unreachable(parse(tc.announced), parse(tc.host)); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
