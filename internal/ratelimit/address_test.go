package ratelimit

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

// countFailures counts how many an address has before it is over its bound.
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
		t.Errorf("%d failures at once", n)
	}
	over, after := l.RecordAttempt(netip.MustParseAddr("192.0.2.1"))
	if !over || after != 500*time.Millisecond {
		t.Errorf("%v, again after %s", over, after)
	}
	if n := countFailures(l, "192.0.2.2"); n != 120 {
		t.Errorf("another address has %d", n)
	}
	now = now.Add(after)
	if n := countFailures(l, "192.0.2.1"); n != 1 {
		t.Errorf("%d after the time that was said", n)
	}
	now = now.Add(time.Minute)
	if n := countFailures(l, "192.0.2.1"); n != 120 {
		t.Errorf("%d after a minute", n)
	}
	now = now.Add(24 * time.Hour)
	if n := countFailures(l, "192.0.2.1"); n != 120 {
		t.Errorf("%d after a day: quiet is not saved up", n)
	}
}

// One customer is one address, however it is written.
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
			t.Errorf("%s and %s count as one: %v", c.a, c.b, same)
		}
	}
	l := NewAddressLimiter(1, func() time.Time { return time.Unix(0, 0) }, nil)
	if over, _ := l.RecordAttempt(netip.Addr{}); over {
		t.Error("an address that is not known has a bucket too")
	}
}

// However many addresses there are, memory is bounded, and a full house does
// not make each failure cost a walk through it.
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
		t.Fatalf("%d buckets", len(l.buckets))
	}
	fail(maxBuckets + 1) // those of two minutes ago make room, the last one stays
	if len(l.buckets) != 2 {
		t.Errorf("%d buckets", len(l.buckets))
	}
	for n := range maxBuckets { // all at once: nobody is quiet
		fail(n)
	}
	if len(l.buckets) > maxBuckets/2 {
		t.Errorf("%d buckets", len(l.buckets))
	}
}
