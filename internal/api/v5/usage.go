package v5

import (
	"encoding/json"

	"parley/internal/usage"
)

// getUsage returns the usage of the organization, or of the test project, in the current month.
func (s *Server) getUsage(c *call) ([]byte, error) {
	u, err := s.usage.Usage(c.timeoutContext(), c.keyring.Organization, c.keyring.Project)
	if err != nil {
		return nil, err
	}
	out := Usage{
		OrganizationId: u.Organization.ID,
		BillingModel:   UsageBillingModel(u.Organization.Billing),
		AsOf:           Time(u.AsOf),
		Totals: Totals{
			ParticipantMinutes:         u.ParticipantMinutes.Float(),
			AudioParticipantMinutes:    u.AudioMinutes.Float(),
			VideoParticipantMinutes:    u.VideoMinutes.Float(),
			RoomsCreated:               u.RoomsCreated,
			Sessions:                   u.Sessions,
			PeakConcurrentParticipants: u.Peak,
		},
		Plan: newPlanUsage(u),
	}
	out.Period.Start, out.Period.End = Time(u.Start), Time(u.End)
	if u.Test {
		out.Test = &u.Test
	}
	if p := u.PayAsYouGo; p != nil {
		out.PayAsYouGo = &PayAsYouGo{Availability: availability(p.Priced)}
		if p.Priced {
			unit := ParticipantMinute
			out.PayAsYouGo.Currency, out.PayAsYouGo.Unit = &p.Currency, &unit
			out.PayAsYouGo.UnitPrice, out.PayAsYouGo.AmountDue = &p.UnitPrice, &p.AmountDue
		}
	}
	return json.Marshal(UsageResponse{Data: out})
}

func newPlanUsage(u usage.Usage) PlanUsage {
	if !u.Plan.Known {
		return PlanUsage{Availability: AvailabilityUnavailable}
	}
	return PlanUsage{
		Availability:     AvailabilityAvailable,
		Name:             &u.Plan.Name,
		IncludedMinutes:  newFigure(u.Plan.Included),
		UsedMinutes:      newFigure(&u.Plan.Used),
		RemainingMinutes: newFigure(u.Plan.Remaining),
	}
}

func newFigure(m *usage.Minutes) *Figure {
	if m == nil {
		return &Figure{Availability: AvailabilityUnavailable}
	}
	value := m.Float()
	return &Figure{Availability: AvailabilityAvailable, Value: &value}
}

func availability(known bool) Availability {
	if known {
		return AvailabilityAvailable
	}
	return AvailabilityUnavailable
}
