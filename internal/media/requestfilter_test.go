package media_test

import (
	"net/netip"
	"testing"

	"parley/internal/media"
)

// The engine learns only addresses of a client to which one of its own may have a way.
func TestIsReachable(t *testing.T) {
	t.Parallel()
	const public, private, loopback = "203.0.113.7", "192.168.1.2", "127.0.0.1"
	for _, c := range []struct {
		own, client string
		want        bool
	}{
		{public, "198.51.100.9", true}, {public, "2001:db8::1", true},
		{public, private, false}, {public, "10.0.0.1", false}, {public, "100.64.0.1", false}, {public, "fd00::1", false},
		{public, loopback, false}, {public, "::1", false},
		{private, "10.0.0.1", true}, {private, "fd00::1", true}, {private, public, false}, {private, loopback, false},
		{loopback, "127.0.0.2", true}, {loopback, private, false}, {loopback, public, false},
		{public, "169.254.169.254", false}, {private, "169.254.169.254", false}, {private, "fe80::1", false},
		{public, "224.0.0.1", false}, {public, "0.0.0.0", false}, {private, "::", false},
	} {
		own, client := netip.MustParseAddr(c.own), netip.MustParseAddr(c.client)
		if got := media.IsReachable(client, []netip.Addr{own}); got != c.want {
			t.Errorf("server at %s, client at %s: got %v, want %v", own, client, got, c.want)
		}
	}
	if media.IsReachable(netip.Addr{}, []netip.Addr{netip.MustParseAddr(public)}) {
		t.Error("a name: got true, want false")
	}
}
