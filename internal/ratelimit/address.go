package ratelimit

import (
	"net/netip"
	"time"

	"parley/internal/network"
)

// AddressLimiter limits how often each network address may fail. Only failures
// count, so an address over its limit is refused when it fails again, and
// other addresses are not affected.
type AddressLimiter struct{ *Limiter }

// NewAddressLimiter returns an AddressLimiter that allows each address
// perMinute failures a minute, and a burst of as many. The exchange is as for
// New.
func NewAddressLimiter(perMinute int, now func() time.Time, exchange Exchange) *AddressLimiter {
	return &AddressLimiter{newLimiter(time.Minute/time.Duration(perMinute), time.Minute, now, exchange)}
}

// NewBurstAddressLimiter returns an AddressLimiter that allows each address
// perMinute failures a minute. The burst is as many as the address earns in the
// given time, and at least one. The exchange is as for New.
func NewBurstAddressLimiter(
	perMinute int, burst time.Duration, now func() time.Time, exchange Exchange,
) *AddressLimiter {
	interval := time.Minute / time.Duration(perMinute)
	return &AddressLimiter{newLimiter(interval, max(burst, interval), now, exchange)}
}

// RecordAttempt counts a failure. It reports whether the address is over its
// limit, and after which time it may try again. An address counts by its
// network.ClientPrefix.
func (l *AddressLimiter) RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration) {
	ok, retryAfter := l.Allow(network.ClientPrefix(a).String())
	return !ok, retryAfter
}
