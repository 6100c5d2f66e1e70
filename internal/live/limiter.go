package live

import (
	"net/netip"
	"time"

	"parley/internal/network"
)

// Limiter bounds how often each address may fail. Only failures count: an
// address over its bound is refused when it fails again, and nobody else is.
type Limiter struct{ *Rate }

// NewLimiter allows perMinute failures a minute for each address, as many of
// them at once.
func NewLimiter(perMinute int, now func() time.Time) *Limiter {
	return &Limiter{newRate(time.Minute/time.Duration(perMinute), time.Minute, now)}
}

// NewBurstLimiter allows perMinute a minute for each address, of which as many
// may come at once as are earned in the time burst, and at least one.
func NewBurstLimiter(perMinute int, burst time.Duration, now func() time.Time) *Limiter {
	every := time.Minute / time.Duration(perMinute)
	return &Limiter{newRate(every, max(burst, every), now)}
}

// Failed notes a failure and reports whether the address is over its bound,
// and when it may try again. Addresses count by their network.
func (l *Limiter) Failed(a netip.Addr) (over bool, retryAfter time.Duration) {
	ok, retryAfter := l.Allow(network.Of(a).String())
	return !ok, retryAfter
}

// Exhausted reports whether the address is over its bound already, and when it
// may try again. It notes nothing.
func (l *Limiter) Exhausted(a netip.Addr) (over bool, retryAfter time.Duration) {
	now := l.now().UnixNano()
	l.mu.RLock()
	spent, known := l.callers[network.Of(a).String()]
	l.mu.RUnlock()
	if !known {
		return false, 0
	}
	ahead := time.Duration(max(spent.until.Load(), now) + int64(l.every) - now)
	return ahead > l.burst, max(0, ahead-l.burst)
}
