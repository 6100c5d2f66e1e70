package app

import (
	"context"
	"time"

	"parley/internal/api/legacy"
	"parley/internal/key"
	"parley/internal/live"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/usage"
)

// writesPerSecond is how often one credential may sign a write, with bursts of
// twice that.
const writesPerSecond = 50

// limits bounds the calls of versions 3 and 4. Whoever fails to sign spends
// the same budget as on version 5.
func (a *App) limits(now func() time.Time) legacy.Limits {
	if !a.cfg.RateLimitsEnabled {
		return legacy.Limits{}
	}
	return legacy.Limits{Rate: live.NewRate(writesPerSecond, now), Failures: a.gateway.failures}
}

// entitled tells the rooms what the plan of a project's organization allows. A
// missing provider leaves the technical bounds.
type entitled struct {
	keys  *key.Service
	plans usage.Provider
}

// Entitlements implements room.Plans.
func (e entitled) Entitlements(ctx context.Context, p project.Project) (room.Entitlements, error) {
	ring, err := e.keys.Ring(ctx, p.ID)
	if err != nil {
		return room.Entitlements{}, err
	}
	plan, known := e.plans.Plan(ring.Organization.Plan)
	if !known {
		return room.Technical, nil
	}
	return room.Entitlements{MaxParticipants: plan.MaxParticipants,
		Duration: time.Duration(plan.RoomDuration) * time.Minute, BreakoutRooms: plan.BreakoutRooms}, nil
}
