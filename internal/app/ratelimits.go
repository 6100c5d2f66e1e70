package app

import (
	"time"

	"parley/internal/api/join"
	"parley/internal/api/manage"
	"parley/internal/api/roomapi"
	"parley/internal/cluster"
	"parley/internal/ratelimit"
	"parley/internal/room"
)

const (
	// writesPerSecond and readsPerSecond limit the calls of one credential, with
	// bursts of twice as many.
	writesPerSecond = 50
	readsPerSecond  = 100
	// failedAuthenticationsPerMinute limits the failed authentications of one
	// address, on all versions together.
	failedAuthenticationsPerMinute = 120
	// wrongLinksPerMinute limits the wrong room ids and links of one address.
	wrongLinksPerMinute = 60
	// connectionChecksPerMinute limits the connection checks of one address.
	connectionChecksPerMinute = 30
	// joinCallsPerMinute limits the calls of one address to the join API. The pages of a
	// school that waits for its teacher make a few in two seconds each.
	joinCallsPerMinute = 300 * 60
	joinCallsBurst     = 10 * time.Second
	// newSeatsBurst is the burst of new seats of one address, as the time in which
	// it accrues: with 60 a minute an address may take 25 seats (a class) at once,
	// and 45 in 20 s.
	newSeatsBurst = 25 * time.Second
)

// rateLimits are the limiters of the API. The zero value limits nothing.
type rateLimits struct {
	reads, writes   *ratelimit.Limiter
	management      *ratelimit.Limiter // of integrators' tokens
	sessions        *ratelimit.Limiter // of integrators in the console
	failures, links *ratelimit.AddressLimiter
	checks          *ratelimit.AddressLimiter
	joinCalls       *ratelimit.AddressLimiter
	seats           *ratelimit.AddressLimiter // nil for no limit on new seats
}

// newRateLimits returns the limits of this node, or with redis those of all
// nodes together.
func newRateLimits(newSeatsPerMinute int, redis *cluster.Redis, now func() time.Time) rateLimits {
	exchange := func(name string) ratelimit.Exchange {
		if redis == nil {
			return nil
		}
		return cluster.NewRateExchange(redis, name, now)
	}
	b := rateLimits{
		reads:      ratelimit.New(readsPerSecond, now, exchange("reads")),
		writes:     ratelimit.New(writesPerSecond, now, exchange("writes")),
		management: ratelimit.New(manage.TokenCallsPerSecond, now, exchange("management")),
		sessions:   ratelimit.New(manage.SessionCallsPerSecond, now, exchange("sessions")),
		failures:   ratelimit.NewAddressLimiter(failedAuthenticationsPerMinute, now, exchange("failures")),
		links:      ratelimit.NewAddressLimiter(wrongLinksPerMinute, now, exchange("links")),
		checks:     ratelimit.NewAddressLimiter(connectionChecksPerMinute, now, exchange("checks")),
		joinCalls:  ratelimit.NewBurstAddressLimiter(joinCallsPerMinute, joinCallsBurst, now, nil),
	}
	if newSeatsPerMinute > 0 {
		b.seats = ratelimit.NewBurstAddressLimiter(newSeatsPerMinute, newSeatsBurst, now, exchange("seats"))
	}
	return b
}

// joinLimits returns the limiters of the join API.
func (b rateLimits) joinLimits() join.Limits {
	if b.links == nil {
		return join.Limits{}
	}
	return join.Limits{Guesses: b.links, Checks: b.checks, Calls: b.joinCalls}
}

// seatLimiter returns the limit on new seats; nil for none.
func (b rateLimits) seatLimiter() room.JoinLimiter {
	if b.seats == nil {
		return nil
	}
	return b.seats
}

// managementFailures returns the limiter of failed authentications of the
// management API; nil without rate limits.
func (b rateLimits) managementFailures() manage.FailureLimiter {
	if b.failures == nil {
		return nil
	}
	return b.failures
}

// roomAPILimits returns the limiters of versions 3 and 4.
func (b rateLimits) roomAPILimits() roomapi.Limits {
	if b.writes == nil {
		return roomapi.Limits{}
	}
	return roomapi.Limits{Writes: b.writes, Reads: b.reads, Failures: b.failures}
}
