package network_test

import (
	"net/netip"
	"testing"

	"parley/internal/network"
)

func TestClientPrefix(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.1":          "192.0.2.1/32",
		"::ffff:192.0.2.1":   "192.0.2.1/32",
		"2001:db8:0:1::1":    "2001:db8:0:1::/64",
		"2001:db8:0:1:2::ff": "2001:db8:0:1::/64",
		"fe80::1%eth0":       "fe80::/64",
	} {
		if got := network.ClientPrefix(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("ClientPrefix(%s) = %s, want %s", address, got, want)
		}
	}
	for address, want := range map[string]string{
		"192.0.2.1":        "192.0.2.1/32",
		"::ffff:192.0.2.1": "192.0.2.1/32",
		"2001:db8:1:2::1":  "2001:db8:1::/48",
		"fe80::1%eth0":     "fe80::/48",
	} {
		if got := network.SitePrefix(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("SitePrefix(%s) = %s, want %s", address, got, want)
		}
	}
	if got := network.ClientPrefix(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("ClientPrefix(no address) = %s, want the zero prefix", got)
	}
}
