package app

import (
	"context"
	"time"

	"parley/internal/api/join"
	"parley/internal/api/legacy"
	"parley/internal/api/manage"
	"parley/internal/key"
	"parley/internal/live"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/usage"
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
	// newSeatsBurst is the burst of new seats of one address, as the time in which
	// it accrues: with 60 a minute an address may take 25 seats (a class) at once,
	// and 45 in 20 s.
	newSeatsBurst = 25 * time.Second
)

// rateLimits are the limiters of the API. The zero value limits nothing.
type rateLimits struct {
	reads, writes   *live.RateLimiter
	failures, links *live.AddressLimiter
	checks          *live.AddressLimiter
	seats           *live.AddressLimiter // nil for no limit on new seats
}

func newRateLimits(newSeatsPerMinute int, now func() time.Time) rateLimits {
	b := rateLimits{reads: live.NewRateLimiter(readsPerSecond, now), writes: live.NewRateLimiter(writesPerSecond, now),
		failures: live.NewAddressLimiter(failedAuthenticationsPerMinute,
			now), links: live.NewAddressLimiter(wrongLinksPerMinute, now),
		checks: live.NewAddressLimiter(connectionChecksPerMinute, now)}
	if newSeatsPerMinute > 0 {
		b.seats = live.NewBurstAddressLimiter(newSeatsPerMinute, newSeatsBurst, now)
	}
	return b
}

// shareVia makes the limits hold for all nodes together.
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

// joinLimits returns the limiters of the join API.
func (b rateLimits) joinLimits() join.Limits {
	if b.links == nil {
		return join.Limits{}
	}
	return join.Limits{Guesses: b.links, Checks: b.checks}
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
func (b rateLimits) roomAPILimits() legacy.Limits {
	if b.writes == nil {
		return legacy.Limits{}
	}
	return legacy.Limits{Writes: b.writes, Reads: b.reads, Failures: b.failures}
}

// planEntitlements returns the entitlements of the plan of a project's
// organization.
type planEntitlements struct {
	provider usage.Provider
	keys     *key.Service
}

// Entitlements returns the entitlements of a project; the technical limits when
// its plan is unknown.
func (p planEntitlements) Entitlements(ctx context.Context, owner project.Project) (room.Entitlements, error) {
	keyring, err := p.keys.Keyring(ctx, owner.ID)
	if err != nil {
		return room.Entitlements{}, err
	}
	plan, known := p.provider.Plan(keyring.Organization.Plan)
	if !known {
		return room.MaxEntitlements, nil
	}
	return room.Entitlements{MaxParticipants: plan.MaxParticipants,
		Duration: time.Duration(plan.RoomDuration) * time.Minute, BreakoutRooms: plan.BreakoutRooms}, nil
}
