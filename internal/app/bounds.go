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
	// writesPerSecond and readsPerSecond are how often one credential may
	// call, with bursts of twice that.
	writesPerSecond = 50
	readsPerSecond  = 100
	// failedAuthentications is how many calls a minute one address may fail
	// to sign, on all versions together, before they are refused as too many.
	failedAuthentications = 120
	// wrongLinks is how many wrong room ids and links a minute one address
	// may try.
	wrongLinks = 60
	// connectionChecks is how many connection checks a minute one address may
	// make.
	connectionChecks = 30
	// newSeatsBurst is the time in which an address earns what it may take of
	// new seats at once: with 60 a minute 25, a class, and 45 in 20 s.
	newSeatsBurst = 25 * time.Second
)

// bounds is how often may be called. The zero value bounds nothing.
type bounds struct {
	reads, writes   *live.Rate
	failures, links *live.Limiter
	checks          *live.Limiter
	seats           *live.Limiter // nil for no limit on new seats
}

func newBounds(newSeatsPerMinute int, now func() time.Time) bounds {
	b := bounds{reads: live.NewRate(readsPerSecond, now), writes: live.NewRate(writesPerSecond, now),
		failures: live.NewLimiter(failedAuthentications, now), links: live.NewLimiter(wrongLinks, now),
		checks: live.NewLimiter(connectionChecks, now)}
	if newSeatsPerMinute > 0 {
		b.seats = live.NewBurstLimiter(newSeatsPerMinute, newSeatsBurst, now)
	}
	return b
}

// share has them hold on all nodes together.
func (b bounds) share(with *live.Redis) {
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

// join is what the join API asks.
func (b bounds) join() join.Limits {
	if b.links == nil {
		return join.Limits{}
	}
	return join.Limits{Guesses: b.links, Checks: b.checks}
}

// management is what the management API asks.
func (b bounds) management() manage.Failures {
	if b.failures == nil {
		return nil
	}
	return b.failures
}

// legacy is what versions 3 and 4 ask.
func (b bounds) legacy() legacy.Limits {
	if b.writes == nil {
		return legacy.Limits{}
	}
	return legacy.Limits{Rate: b.writes, Reads: b.reads, Failures: b.failures}
}

// plans tells the rooms what the plan of a project's organization allows. What
// no provider knows has the technical bounds.
type plans struct {
	provider usage.Provider
	keys     *key.Service
}

// Entitlements implements room.Plans.
func (p plans) Entitlements(ctx context.Context, of project.Project) (room.Entitlements, error) {
	ring, err := p.keys.Ring(ctx, of.ID)
	if err != nil {
		return room.Entitlements{}, err
	}
	plan, known := p.provider.Plan(ring.Organization.Plan)
	if !known {
		return room.Technical, nil
	}
	return room.Entitlements{MaxParticipants: plan.MaxParticipants, Duration: time.Duration(plan.RoomDuration) * time.Minute, BreakoutRooms: plan.BreakoutRooms}, nil
}
