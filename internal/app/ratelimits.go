package app

import (
	"context"
	"time"

	"parley/internal/api/join"
	"parley/internal/api/manage"
	"parley/internal/api/rooms"
	"parley/internal/cluster"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/ratelimit"
	"parley/internal/room"
	"parley/internal/usage"
)

const (
	// writesPerSecond and readsPerSecond are how often one credential may
	// call, with bursts of twice that.
	writesPerSecond = 50
	readsPerSecond  = 100
	// failedAuthenticationsPerMinute is how many calls a minute one address may fail
	// to sign, on all versions together, before they are refused as too many.
	failedAuthenticationsPerMinute = 120
	// wrongLinksPerMinute is how many wrong room ids and links a minute one address
	// may try.
	wrongLinksPerMinute = 60
	// connectionChecksPerMinute is how many connection checks a minute one address may
	// make.
	connectionChecksPerMinute = 30
	// newSeatsBurst is the time in which an address earns what it may take of
	// new seats at once: with 60 a minute 25, a class, and 45 in 20 s.
	newSeatsBurst = 25 * time.Second
)

// rateLimits is how often may be called. The zero value bounds nothing.
type rateLimits struct {
	reads, writes   *ratelimit.Limiter
	failures, links *ratelimit.AddressLimiter
	checks          *ratelimit.AddressLimiter
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
		reads:    ratelimit.New(readsPerSecond, now, exchange("reads")),
		writes:   ratelimit.New(writesPerSecond, now, exchange("writes")),
		failures: ratelimit.NewAddressLimiter(failedAuthenticationsPerMinute, now, exchange("failures")),
		links:    ratelimit.NewAddressLimiter(wrongLinksPerMinute, now, exchange("links")),
		checks:   ratelimit.NewAddressLimiter(connectionChecksPerMinute, now, exchange("checks")),
	}
	if newSeatsPerMinute > 0 {
		b.seats = ratelimit.NewBurstAddressLimiter(newSeatsPerMinute, newSeatsBurst, now, exchange("seats"))
	}
	return b
}

// joinLimits is what the join API asks.
func (b rateLimits) joinLimits() join.Limits {
	if b.links == nil {
		return join.Limits{}
	}
	return join.Limits{Guesses: b.links, Checks: b.checks}
}

// managementFailures is what the management API asks.
func (b rateLimits) managementFailures() manage.FailureLimiter {
	if b.failures == nil {
		return nil
	}
	return b.failures
}

// roomAPILimits is what versions 3 and 4 ask.
func (b rateLimits) roomAPILimits() rooms.Limits {
	if b.writes == nil {
		return rooms.Limits{}
	}
	return rooms.Limits{Writes: b.writes, Reads: b.reads, Failures: b.failures}
}

// planEntitlements tells the rooms what the plan of a project's organization allows. What
// no provider knows has the technical bounds.
type planEntitlements struct {
	provider usage.Provider
	keys     *key.Service
}

// Entitlements implements room.Plans.
func (p planEntitlements) Entitlements(ctx context.Context, of project.Project) (room.Entitlements, error) {
	ring, err := p.keys.Keyring(ctx, of.ID)
	if err != nil {
		return room.Entitlements{}, err
	}
	plan, known := p.provider.Plan(ring.Organization.Plan)
	if !known {
		return room.MaxEntitlements, nil
	}
	return room.Entitlements{MaxParticipants: plan.MaxParticipants, Duration: time.Duration(plan.RoomDuration) * time.Minute, BreakoutRooms: plan.BreakoutRooms}, nil
}
