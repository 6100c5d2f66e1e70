// Package live holds what is shared while the service runs: counts, kept over
// a restart, and limits on how often somebody may call or try. It imports the
// standard library and x/time only.
package live

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limiter bounds how often each address may fail. Only failures count: an
// address over its bound is refused when it fails again, and nobody else is.
type Limiter struct {
	every time.Duration
	burst int
	now   func() time.Time

	mu      sync.Mutex
	buckets map[netip.Prefix]*bucket
}

type bucket struct {
	*rate.Limiter
	used time.Time
}

// maxBuckets bounds the memory: some 100 bytes each.
const maxBuckets = 100_000

// NewLimiter allows perMinute failures a minute for each address, as many of
// them at once.
func NewLimiter(perMinute int, now func() time.Time) *Limiter {
	return &Limiter{every: time.Minute / time.Duration(perMinute), burst: perMinute, now: now, buckets: map[netip.Prefix]*bucket{}}
}

// Failed notes a failure and reports whether the address is over its bound,
// and when it may try again. IPv6 addresses are taken by their /64, because
// one customer commonly has all of it.
func (l *Limiter) Failed(a netip.Addr) (over bool, retryAfter time.Duration) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(network(a), now)
	b.used = now
	if b.AllowN(now, 1) {
		return false, 0
	}
	return true, l.every
}

func (l *Limiter) bucket(p netip.Prefix, now time.Time) *bucket {
	if b, ok := l.buckets[p]; ok {
		return b
	}
	if len(l.buckets) >= maxBuckets {
		l.prune(now)
	}
	b := &bucket{Limiter: rate.NewLimiter(rate.Every(l.every), l.burst)}
	l.buckets[p] = b
	return b
}

// prune forgets who has been quiet long enough to have a full bucket again,
// and everybody if that frees less than half: the map must not grow without
// bound, and be walked through rarely.
func (l *Limiter) prune(now time.Time) {
	full := l.every * time.Duration(l.burst)
	for p, b := range l.buckets {
		if now.Sub(b.used) > full {
			delete(l.buckets, p)
		}
	}
	if len(l.buckets) > maxBuckets/2 {
		clear(l.buckets)
	}
}

func network(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() && !a.Is4In6() {
		bits = 64
	}
	p, err := a.Unmap().Prefix(min(bits, a.Unmap().BitLen()))
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
