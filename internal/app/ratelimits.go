package app

import (
	"context"
	"time"

	"parley/internal/api/join"
	"parley/internal/api/manage"
	"parley/internal/api/rooms"
	"parley/internal/key"
	"parley/internal/live"
	"parley/internal/project"
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
	reads, writes   *live.RateLimiter
	failures, links *live.AddressLimiter
	checks          *live.AddressLimiter
	seats           *live.AddressLimiter // nil for no limit on new seats
}

func newRateLimits(newSeatsPerMinute int, now func() time.Time) rateLimits {
	b := rateLimits{reads: live.NewRateLimiter(readsPerSecond, now), writes: live.NewRateLimiter(writesPerSecond, now),
		failures: live.NewAddressLimiter(failedAuthenticationsPerMinute, now), links: live.NewAddressLimiter(wrongLinksPerMinute, now),
		checks: live.NewAddressLimiter(connectionChecksPerMinute, now)}
	if newSeatsPerMinute > 0 {
		b.seats = live.NewBurstAddressLimiter(newSeatsPerMinute, newSeatsBurst, now)
	}
	return b
}

// shareVia has them hold on all nodes together.
func (b rateLimits) shareVia(with *live.Redis) {
	if b.reads == nil {
		return
	}
	b.reads.Share(with, "reads")
	b.writes.Share(with, "writes")
	b.failures.Share(with, "failures")
	b.links.Share(with, "links")
	b.checks.Share(with, "checks")
	if b.seats != nil {
		b.seats.Share(with, "seats")
	}
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
