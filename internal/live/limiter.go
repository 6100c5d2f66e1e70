package live

import (
	"net/netip"
	"time"
)

// Limiter bounds how often each address may fail. Only failures count: an
// address over its bound is refused when it fails again, and nobody else is.
type Limiter struct{ *Rate }

// NewLimiter allows perMinute failures a minute for each address, as many of
// them at once.
func NewLimiter(perMinute int, now func() time.Time) *Limiter {
	return &Limiter{newRate(time.Minute/time.Duration(perMinute), time.Minute, now)}
}

// Failed notes a failure and reports whether the address is over its bound,
// and when it may try again. IPv6 addresses are taken by their /64, because
// one customer commonly has all of it.
func (l *Limiter) Failed(a netip.Addr) (over bool, retryAfter time.Duration) {
	ok, retryAfter := l.Allow(network(a).String())
	return !ok, retryAfter
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
