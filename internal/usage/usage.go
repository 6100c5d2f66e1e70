package usage

import (
	"context"
	"time"

	"parley/internal/project"
)

// Totals are sums over the attendance records: one for each connection of a
// participant, from joining to leaving.
type Totals struct {
	AudioMillis  int64 // in audio rooms
	VideoMillis  int64 // in video rooms
	RoomsCreated int64
	Sessions     int64 // number of sessions that began
	Peak         int64 // maximum number of concurrent connections
}

// Usage is what an organization has used in a period.
type Usage struct {
	Organization       project.Organization
	Start, End         time.Time
	AsOf               time.Time
	ParticipantMinutes Minutes // audio and video
	AudioMinutes       Minutes
	VideoMinutes       Minutes
	RoomsCreated       int64
	Sessions           int64
	Peak               int64
	Plan               PlanUsage
	PayAsYouGo         *PayAsYouGo // nil unless the organization pays as it goes
}

// PlanUsage compares usage with a plan. The other fields are valid only if Known
// is true.
type PlanUsage struct {
	Known     bool
	Name      string
	Included  *Minutes // nil if the plan does not define included minutes
	Remaining *Minutes // included minutes that are left, at least 0
}

// PayAsYouGo is the amount due of an organization.
type PayAsYouGo struct {
	Priced    bool // whether a price is set; without one there is no amount
	Currency  string
	UnitPrice string // per participant minute
	AmountDue string
}

// Service reports the usage and the plans of organizations.
type Service struct {
	ledger   Ledger
	provider Provider
	now      func() time.Time

	rolledUpUntil time.Time // RollUp has rolled up all organizations until then
}

// NewService returns a Service.
func NewService(ledger Ledger, provider Provider, now func() time.Time) *Service {
	return &Service{ledger: ledger, provider: provider, now: now}
}

// Usage returns the usage of an organization in the current calendar month (UTC).
func (s *Service) Usage(ctx context.Context, o project.Organization) (Usage, error) {
	u := Usage{Organization: o, AsOf: s.now().UTC().Truncate(time.Millisecond)}
	u.Start = time.Date(u.AsOf.Year(), u.AsOf.Month(), 1, 0, 0, 0, 0, time.UTC)
	u.End = u.Start.AddDate(0, 1, 0)
	t, err := totals(ctx, s.ledger, Scope{OrganizationID: o.ID}, u.Start, u.AsOf)
	if err != nil {
		return Usage{}, err
	}
	u.ParticipantMinutes = minutesFromMillis(t.AudioMillis + t.VideoMillis)
	u.AudioMinutes, u.VideoMinutes = minutesFromMillis(t.AudioMillis), minutesFromMillis(t.VideoMillis)
	u.RoomsCreated, u.Sessions, u.Peak = t.RoomsCreated, t.Sessions, t.Peak
	u.Plan = s.planUsage(o, u.ParticipantMinutes)
	if o.Billing == project.Payg {
		u.PayAsYouGo = &PayAsYouGo{}
		if o.UnitPrice != "" {
			*u.PayAsYouGo = PayAsYouGo{Priced: true, Currency: o.Currency, UnitPrice: o.UnitPrice,
				AmountDue: Amount(o.UnitPrice, u.ParticipantMinutes)}
		}
	}
	return u, nil
}

// Totals returns the totals of a scope for a period. Connections count for their part of
// the period; rooms and sessions count if they began in it.
func (s *Service) Totals(ctx context.Context, scope Scope, start, end time.Time) (Totals, error) {
	return totals(ctx, s.ledger, scope, start.UTC(), end.UTC())
}

func (s *Service) planUsage(o project.Organization, used Minutes) PlanUsage {
	p, known := s.provider.Plan(o.Plan)
	if !known {
		return PlanUsage{}
	}
	u := PlanUsage{Known: true, Name: p.Name}
	if p.IncludedMinutes != nil {
		included := Minutes(*p.IncludedMinutes * 100)
		remaining := max(0, included-used)
		u.Included, u.Remaining = &included, &remaining
	}
	return u
}

// PlanOf returns the plan of an organization; false when it is unknown.
func (s *Service) PlanOf(o project.Organization) (Plan, bool) { return s.provider.Plan(o.Plan) }
