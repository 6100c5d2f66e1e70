package network_test

import (
	"net/netip"
	"strings"
	"testing"

	"parley/internal/network"
)

func TestIsUnreachable(t *testing.T) {
	t.Parallel()
	parse := func(text string) (ips []netip.Addr) {
		for _, part := range strings.Fields(text) {
			ips = append(ips, netip.MustParseAddr(part))
		}
		return ips
	}
	for _, tc := range []struct {
		name, announced, host string
		want                  bool
	}{
		{"this machine only", "127.0.0.1", "127.0.0.1 ::1", false},
		{"a proxy in front of loopback", "127.0.0.1", "203.0.113.7", true},
		{"a proxy in front of loopback, on a local network", "127.0.0.1", "192.168.1.4", true},
		{"loopback, and an unknown name", "127.0.0.1", "", true},
		{"a private address behind a public name", "10.0.0.4", "203.0.113.7 2001:db8::7", true},
		{"a private address, and an unknown name", "10.0.0.4", "", false},
		{"a local network", "192.168.1.4", "192.168.1.4", false},
		{"a name that is local on this machine", "192.168.1.4", "127.0.1.1", false},
		{"a public address", "203.0.113.7", "203.0.113.9", false},
		{"IPv6 is public", "10.0.0.4 2001:db8::7", "203.0.113.7", false},
		{"IPv4 in IPv6", "10.0.0.4", "::ffff:10.0.0.4", false},
	} {
		if got := network.IsUnreachable(parse(tc.announced), parse(tc.host)); got != tc.want {
			t.Errorf("%s: got %t, want %t", tc.name, got, tc.want)
		}
	}
}
