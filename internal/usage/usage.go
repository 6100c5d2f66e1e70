package usage

import (
	"context"
	"sync/atomic"
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

// ParticipantMinutes returns the time in all rooms.
func (t Totals) ParticipantMinutes() Minutes { return minutesFromMillis(t.AudioMillis + t.VideoMillis) }

// AudioMinutes returns the time in audio rooms.
func (t Totals) AudioMinutes() Minutes { return minutesFromMillis(t.AudioMillis) }

// VideoMinutes returns the time in video rooms.
func (t Totals) VideoMinutes() Minutes { return minutesFromMillis(t.VideoMillis) }

// Usage is what an organization, without its test projects, or a test project has used in a
// period.
type Usage struct {
	Organization       project.Organization
	Test               bool // the usage of a test project, which costs nothing
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
	Used      Minutes  // that count; none of a test project
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

	rolledUpUntil atomic.Pointer[time.Time] // RollUp has rolled up all organizations until then
	rollups       atomic.Int64              // that RollUp has stored

	recent recentHistories
}

// NewService returns a Service.
func NewService(ledger Ledger, provider Provider, now func() time.Time) *Service {
	return &Service{ledger: ledger, provider: provider, now: now}
}

// Rollups returns the number of rollups that this process has stored, and the time until
// which it has found all organizations rolled up. The time is zero until RollUp has succeeded.
func (s *Service) Rollups() (stored int64, until time.Time) {
	if t := s.rolledUpUntil.Load(); t != nil {
		until = *t
	}
	return s.rollups.Load(), until
}

// Usage returns the usage of the current calendar month (UTC) that concerns a project: that of
// the project itself if it is a test project, and otherwise that of its organization.
func (s *Service) Usage(ctx context.Context, o project.Organization, p project.Project) (Usage, error) {
	u := Usage{Organization: o, Test: p.Test, AsOf: s.now().UTC().Truncate(time.Millisecond)}
	u.Start = monthStart(u.AsOf)
	u.End = u.Start.AddDate(0, 1, 0)
	scope := Scope{OrganizationID: o.ID}
	if p.Test {
		scope.ProjectID = p.ID
	}
	t, err := s.totalsSince(ctx, scope, u.Start, u.AsOf)
	if err != nil {
		return Usage{}, err
	}
	u.ParticipantMinutes, u.AudioMinutes, u.VideoMinutes = t.ParticipantMinutes(), t.AudioMinutes(), t.VideoMinutes()
	u.RoomsCreated, u.Sessions, u.Peak = t.RoomsCreated, t.Sessions, t.Peak
	counted, price := u.ParticipantMinutes, o.UnitPrice
	if p.Test {
		counted, price = 0, "0"
	}
	u.Plan = s.planUsage(o, counted)
	if o.Billing == project.Payg {
		u.PayAsYouGo = &PayAsYouGo{}
		if o.UnitPrice != "" {
			*u.PayAsYouGo = PayAsYouGo{Priced: true, Currency: o.Currency, UnitPrice: price,
				AmountDue: Amount(price, counted)}
		}
	}
	return u, nil
}

// totalsSince is Totals for a period that ends now.
func (s *Service) totalsSince(ctx context.Context, scope Scope, start, now time.Time) (Totals, error) {
	// The history until the end of the day is the same for all reads of the day.
	h, err := s.recent.get(ctx, s.ledger, scope, start, midnight(now).Add(DayLength))
	if err != nil {
		return Totals{}, err
	}
	if now.Before(h.rolledUp) { // the clock was set back
		return s.Totals(ctx, scope, start, now)
	}
	return h.totals([]time.Time{start, now})[0], nil
}

// Totals returns the totals of a scope for a period. Connections count for their part of
// the period; rooms and sessions count if they began in it.
func (s *Service) Totals(ctx context.Context, scope Scope, start, end time.Time) (Totals, error) {
	t, err := periodTotals(ctx, s.ledger, scope, start.UTC(), end.UTC())
	if err != nil {
		return Totals{}, err
	}
	return t[0], nil
}

func (s *Service) planUsage(o project.Organization, used Minutes) PlanUsage {
	p, known := s.provider.Plan(o.Plan)
	if !known {
		return PlanUsage{}
	}
	u := PlanUsage{Known: true, Name: p.Name, Used: used}
	if p.IncludedMinutes != nil {
		included := Minutes(*p.IncludedMinutes * 100)
		remaining := max(0, included-used)
		u.Included, u.Remaining = &included, &remaining
	}
	return u
}

// PlanOf returns the plan of an organization; false when it is unknown.
func (s *Service) PlanOf(o project.Organization) (Plan, bool) { return s.provider.Plan(o.Plan) }
