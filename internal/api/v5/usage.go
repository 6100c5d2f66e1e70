package v5

import (
	"strconv"

	"parley/internal/usage"
)

// getUsage returns the usage of the organization, or of the test project, in the current month.
func (s *Server) getUsage(c *call) ([]byte, error) {
	u, err := s.usage.Usage(&c.timeout, c.keyring.Organization, c.keyring.Project)
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
	return c.setBody(func(b []byte) []byte { return appendUsage(b, out) }), nil
}

// appendUsage appends the JSON of UsageResponse, in the form of encoding/json.
func appendUsage(b []byte, u Usage) []byte {
	b = u.AsOf.appendJSON(append(b, `{"data":{"as_of":`...))
	b = appendText(append(b, `,"billing_model":`...), string(u.BillingModel))
	b = appendText(append(b, `,"organization_id":`...), u.OrganizationId)
	if p := u.PayAsYouGo; p != nil {
		b = append(b, `,"pay_as_you_go":{`...)
		b = appendOptional(b, `"amount_due":`, p.AmountDue, ",")
		b = appendText(append(b, `"availability":`...), string(p.Availability))
		b = appendOptional(b, `,"currency":`, p.Currency, "")
		b = appendOptional(b, `,"unit":`, p.Unit, "")
		b = append(appendOptional(b, `,"unit_price":`, p.UnitPrice, ""), '}')
	}
	b = u.Period.End.appendJSON(append(b, `,"period":{"end":`...))
	b = u.Period.Start.appendJSON(append(b, `,"start":`...))
	b = appendText(append(b, `},"plan":{"availability":`...), string(u.Plan.Availability))
	b = appendFigure(b, `,"included_minutes":`, u.Plan.IncludedMinutes)
	b = appendOptional(b, `,"name":`, u.Plan.Name, "")
	b = appendFigure(b, `,"remaining_minutes":`, u.Plan.RemainingMinutes)
	b = append(appendFigure(b, `,"used_minutes":`, u.Plan.UsedMinutes), '}')
	if u.Test != nil {
		b = strconv.AppendBool(append(b, `,"test":`...), *u.Test)
	}
	t := &u.Totals
	b = appendMinutes(append(b, `,"totals":{"audio_participant_minutes":`...), t.AudioParticipantMinutes)
	b = appendMinutes(append(b, `,"participant_minutes":`...), t.ParticipantMinutes)
	b = strconv.AppendInt(append(b, `,"peak_concurrent_participants":`...), t.PeakConcurrentParticipants, 10)
	b = strconv.AppendInt(append(b, `,"rooms_created":`...), t.RoomsCreated, 10)
	b = strconv.AppendInt(append(b, `,"sessions":`...), t.Sessions, 10)
	b = appendMinutes(append(b, `,"video_participant_minutes":`...), t.VideoParticipantMinutes)
	return append(b, "}}}"...)
}

// appendOptional appends the text before a value, the value, and the text after it; nothing for nil.
func appendOptional[T ~string](b []byte, before string, value *T, after string) []byte {
	if value == nil {
		return b
	}
	return append(appendText(append(b, before...), string(*value)), after...)
}

// appendFigure appends the text before a figure and the figure; nothing for nil.
func appendFigure(b []byte, before string, f *Figure) []byte {
	if f == nil {
		return b
	}
	b = appendText(append(append(b, before...), `{"availability":`...), string(f.Availability))
	if f.Value != nil {
		b = appendMinutes(append(b, `,"value":`...), *f.Value)
	}
	return append(b, '}')
}

// appendMinutes appends minutes, which are hundredths, so that encoding/json uses no exponent either.
func appendMinutes(b []byte, m Minutes) []byte { return strconv.AppendFloat(b, m, 'f', -1, 64) }

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
