package ratelimit

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

// countFailures returns how many failures an address has before it is over its limit.
func countFailures(l *AddressLimiter, address string) (n int) {
	for {
		if over, _ := l.RecordAttempt(netip.MustParseAddr(address)); over {
			return n
		}
		n++
	}
}

func TestAddressLimiter(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	l := NewAddressLimiter(120, func() time.Time { return now }, nil)
	if n := countFailures(l, "192.0.2.1"); n != 120 {
		t.Errorf("got a burst of %d failures, want 120", n)
	}
	over, after := l.RecordAttempt(netip.MustParseAddr("192.0.2.1"))
	if !over || after != 500*time.Millisecond {
		t.Errorf("got over %v, retry after %s, want true, 500ms", over, after)
	}
	if n := countFailures(l, "192.0.2.2"); n != 120 {
		t.Errorf("another address: got %d failures, want 120", n)
	}
	now = now.Add(after)
	if n := countFailures(l, "192.0.2.1"); n != 1 {
		t.Errorf("after the returned time: got %d failures, want 1", n)
	}
	now = now.Add(time.Minute)
	if n := countFailures(l, "192.0.2.1"); n != 120 {
		t.Errorf("after a minute: got %d failures, want 120", n)
	}
	now = now.Add(24 * time.Hour)
	if n := countFailures(l, "192.0.2.1"); n != 120 {
		t.Errorf("after a day: got %d failures, want 120", n)
	}
}

func TestAddressLimiter_Networks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
		{"2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", true},
		{"2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"fe80::1%eth0", "fe80::1%eth1", true},
	} {
		l := NewAddressLimiter(1, func() time.Time { return time.Unix(0, 0) }, nil)
		countFailures(l, c.a)
		if same := countFailures(l, c.b) == 0; same != c.same {
			t.Errorf("%s and %s share a limit: got %v, want %v", c.a, c.b, same, c.same)
		}
	}
	l := NewAddressLimiter(1, func() time.Time { return time.Unix(0, 0) }, nil)
	if over, _ := l.RecordAttempt(netip.Addr{}); over {
		t.Error("the zero address: the first failure is over the limit")
	}
}

// Memory is bounded for any number of addresses, and not every failure walks
// through all of them.
func TestAddressLimiter_BoundedMemory(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	l := NewAddressLimiter(120, func() time.Time { return now }, nil)
	fail := func(n int) {
		var ip [4]byte
		binary.BigEndian.PutUint32(ip[:], uint32(n))
		l.RecordAttempt(netip.AddrFrom4(ip))
	}
	for n := range maxBuckets - 1 {
		fail(n)
	}
	now = now.Add(2 * time.Minute)
	fail(maxBuckets)
	if len(l.buckets) != maxBuckets {
		t.Fatalf("got %d buckets, want %d", len(l.buckets), maxBuckets)
	}
	fail(maxBuckets + 1) // removes the addresses of two minutes ago and not the last one
	if len(l.buckets) != 2 {
		t.Errorf("got %d buckets, want 2", len(l.buckets))
	}
	for n := range maxBuckets { // at the same moment, so none can be removed as unused
		fail(n)
	}
	if len(l.buckets) > maxBuckets/2 {
		t.Errorf("got %d buckets, want at most %d", len(l.buckets), maxBuckets/2)
	}
}
