package app

import (
	"parley/internal/config"
	"parley/internal/room"
	"parley/internal/usage"
	"parley/internal/validate"
)

// planProvider returns the provider of plans that --plan-provider selects.
func planProvider(cfg config.Config) (usage.Provider, error) {
	if cfg.PlanProvider == config.PlanProviderNone {
		return usage.NoProvider{}, nil
	}
	configured, err := cfg.Plans()
	if err != nil {
		return nil, err
	}
	plans := make([]usage.Plan, 0, len(configured))
	for _, c := range configured {
		plans = append(plans, usage.Plan{
			Name:            c.Name,
			MaxParticipants: valueOr(c.MaxParticipants, validate.MaxParticipants),
			RoomDuration:    valueOr(c.RoomDuration, validate.MaxRoomDuration),
			BreakoutRooms:   valueOr(c.BreakoutRooms, validate.MaxBreakoutRooms),
			IncludedMinutes: c.IncludedMinutes,
			Quotas: room.Quotas{Rooms: valueOr(c.RoomsPerDay, 0), Links: valueOr(c.LinksPerDay, 0),
				JoinEvents: valueOr(c.JoinEventsPerDay, 0)},
		})
	}
	return usage.NewBuiltinProvider(plans), nil
}

func valueOr(p *int, fallback int) int {
	if p == nil {
		return fallback
	}
	return *p
}
