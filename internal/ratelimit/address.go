package ratelimit

import (
	"net/netip"
	"time"

	"parley/internal/network"
)

// AddressLimiter bounds how often each address may fail. Only failures count: an
// address over its bound is refused when it fails again, and nobody else is.
type AddressLimiter struct{ *Limiter }

// NewAddressLimiter allows perMinute failures a minute for each address, as many of
// them at once.
func NewAddressLimiter(perMinute int, now func() time.Time, exchange Exchange) *AddressLimiter {
	return &AddressLimiter{newLimiter(time.Minute/time.Duration(perMinute), time.Minute, now, exchange)}
}

// NewBurstAddressLimiter allows perMinute a minute for each address, of which as many
// may come at once as are earned in the time burst, and at least one.
func NewBurstAddressLimiter(perMinute int, burst time.Duration, now func() time.Time, exchange Exchange) *AddressLimiter {
	every := time.Minute / time.Duration(perMinute)
	return &AddressLimiter{newLimiter(every, max(burst, every), now, exchange)}
}

// RecordAttempt notes a failure and reports whether the address is over its bound,
// and when it may try again. Addresses count by their network.
func (l *AddressLimiter) RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration) {
	ok, retryAfter := l.Allow(network.ClientPrefix(a).String())
	return !ok, retryAfter
}

// Exhausted reports whether the address is over its bound already, and when it
// may try again. It notes nothing.
func (l *AddressLimiter) Exhausted(a netip.Addr) (over bool, retryAfter time.Duration) {
	now := l.now().UnixNano()
	l.mu.RLock()
	spent, known := l.buckets[network.ClientPrefix(a).String()]
	l.mu.RUnlock()
	if !known {
		return false, 0
	}
	ahead := time.Duration(max(spent.theoreticalArrival.Load(), now) + int64(l.interval) - now)
	return ahead > l.burst, max(0, ahead-l.burst)
}
