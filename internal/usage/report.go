package usage

import (
	"context"
	"time"

	"parley/internal/fault"
)

// MaxReportDays is the maximum number of days of a report.
const MaxReportDays = 366

// Report is what a scope has used in some days.
type Report struct {
	From, To time.Time // the first and the last day: midnight UTC
	AsOf     time.Time // what happens later does not count
	Totals   Totals
	Days     []Day // in order; those that have begun
}

// Day is what a scope has used on a day (UTC). The peaks of the days are independent of each
// other, and a connection that crosses midnight counts on both days for its part.
type Day struct {
	Date   time.Time // midnight UTC
	Totals Totals
}

// Report returns the usage from one day to another, both included. A zero from means the
// first day of the current month (UTC), and a zero to means today. Report returns Invalid if
// to is before from, if from is after today, or if there are more than MaxReportDays days.
func (s *Service) Report(ctx context.Context, scope Scope, from, to time.Time) (Report, error) {
	r, bounds, err := s.newReport(from, to)
	if err != nil || len(r.Days) == 0 {
		return r, err
	}
	days, err := periodTotals(ctx, s.ledger, scope, bounds...)
	if err != nil {
		return Report{}, err
	}
	for i, d := range days {
		r.Days[i].Totals = d
		r.Totals = r.Totals.plus(d)
	}
	return r, nil
}

// ReportProjects returns the usage of each of some projects of an organization, in their order,
// in the period that Report would report.
func (s *Service) ReportProjects(ctx context.Context, organizationID string, projectIDs []string, from, to time.Time) (
	[]Totals, error,
) {
	r, bounds, err := s.newReport(from, to)
	totals := make([]Totals, len(projectIDs))
	if err != nil || len(r.Days) == 0 {
		return totals, err
	}
	progress, err := s.ledger.UsageProgress(ctx, organizationID)
	if err != nil {
		return nil, err
	}
	for i, id := range projectIDs {
		used, err := totalsAt(ctx, s.ledger, progress, Scope{organizationID, id}, bounds[0], bounds[len(bounds)-1])
		if err != nil {
			return nil, err
		}
		totals[i] = used[0]
	}
	return totals, nil
}

// newReport returns the report of a period without usage, and the bounds of its days. It has no
// day if the first one begins just now.
func (s *Service) newReport(from, to time.Time) (Report, []time.Time, error) {
	now := s.now().UTC().Truncate(time.Millisecond)
	today := midnight(now)
	if from.IsZero() {
		from = monthStart(now)
	}
	if to.IsZero() {
		to = today
	}
	r := Report{From: midnight(from), To: midnight(to), AsOf: now}
	switch {
	case r.From.After(today):
		return r, nil, fault.Invalidf("from must not be after today, %s", today.Format(time.DateOnly))
	case r.To.Before(r.From):
		return r, nil, fault.Invalidf("to must not be before from, %s", r.From.Format(time.DateOnly))
	case !r.To.Before(r.From.AddDate(0, 0, MaxReportDays)):
		return r, nil, fault.Invalidf("to must be at most %d days after from", MaxReportDays-1)
	}
	bounds := []time.Time{r.From}
	for day := r.From; !day.After(r.To) && day.Before(now); day = day.AddDate(0, 0, 1) {
		r.Days = append(r.Days, Day{Date: day})
		bounds = append(bounds, earlier(day.AddDate(0, 0, 1), now))
	}
	return r, bounds, nil
}

// monthStart returns the first moment of the month (UTC) of a time.
func monthStart(t time.Time) time.Time {
	day := midnight(t)
	return day.AddDate(0, 0, 1-day.Day())
}

func midnight(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// plus returns the totals of two periods that follow each other.
func (t Totals) plus(o Totals) Totals {
	return Totals{
		AudioMillis:  t.AudioMillis + o.AudioMillis,
		VideoMillis:  t.VideoMillis + o.VideoMillis,
		RoomsCreated: t.RoomsCreated + o.RoomsCreated,
		Sessions:     t.Sessions + o.Sessions,
		Peak:         max(t.Peak, o.Peak),
	}
}

// LastHours returns the usage of the last 24 hours (UTC), the current one last, of a scope or,
// for an empty scope, of all organizations. Their peaks are added then, although they may have
// been at different times. Date is the start of the hour.
func (s *Service) LastHours(ctx context.Context, scope Scope) ([]Day, error) {
	now := s.now().UTC().Truncate(time.Millisecond)
	first := now.Truncate(time.Hour).Add(-23 * time.Hour)
	hours := make([]Day, 24)
	bounds := []time.Time{first}
	for i := range hours {
		hours[i].Date = first.Add(time.Duration(i) * time.Hour)
		bounds = append(bounds, earlier(hours[i].Date.Add(time.Hour), now))
	}
	if scope != (Scope{}) {
		return hours, s.addHours(ctx, hours, scope, bounds)
	}
	for after := ""; ; {
		used, last, err := s.ledger.OrganizationsUsedAfter(ctx, after, first, organizationBatch)
		if err != nil || last == "" {
			return hours, err
		}
		for _, id := range used {
			if err := s.addHours(ctx, hours, Scope{OrganizationID: id}, bounds); err != nil {
				return nil, err
			}
		}
		after = last
	}
}

// addHours adds what a scope has used to hours.
func (s *Service) addHours(ctx context.Context, hours []Day, scope Scope, bounds []time.Time) error {
	used, err := periodTotals(ctx, s.ledger, scope, bounds...)
	for i, u := range used {
		peak := hours[i].Totals.Peak + u.Peak
		hours[i].Totals = hours[i].Totals.plus(u)
		hours[i].Totals.Peak = peak
	}
	return err
}
