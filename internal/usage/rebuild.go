package usage

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// meetingReach is the longest time after the creation of a room in which people can be in it,
// with a margin: the attendance of a room that retention has deleted is missing for so long.
const meetingReach = 2 * DayLength

// DayChange is a day whose usage a rebuild has changed.
type DayChange struct {
	ProjectID     string    // empty for all projects of the organization but test projects
	Date          time.Time // midnight UTC
	Before, After Totals
}

// Rebuilt is the result of Rebuild.
type Rebuilt struct {
	OrganizationID string

	From, To time.Time   // the first and the last day: midnight UTC
	Changes  []DayChange // in order of the days
	// KeptUntil is the end of the hours that were left as they are, because retention has
	// deleted rooms from which they were computed. It is zero if there are none.
	KeptUntil time.Time
}

// Rebuild computes the usage of an organization from one day to another, both included, again
// from the recorded attendance, and stores what is different. Zero dates mean the same as in
// Report, and so do the errors. Repeating it changes nothing, and meetings and other nodes may
// go on meanwhile.
func (s *Service) Rebuild(ctx context.Context, organizationID string, from, to time.Time) (Rebuilt, error) {
	report, err := s.Report(ctx, Scope{OrganizationID: organizationID}, from, to)
	if err != nil {
		return Rebuilt{}, err
	}
	out := Rebuilt{OrganizationID: organizationID, From: report.From, To: report.To}
	progress, err := s.ledger.UsageProgress(ctx, organizationID)
	if err != nil {
		return out, err
	}
	end := earlier(progress.Until, report.To.Add(DayLength))
	var hours []time.Time
	projects := map[string]bool{"": true}
	for day := out.From.Add(-meetingReach); day.Before(end); day = day.Add(DayLength) {
		wrong, incomplete, err := s.compareDay(ctx, organizationID, day, earlier(day.Add(DayLength), end))
		if err != nil {
			return out, err
		}
		if !incomplete.IsZero() {
			out.KeptUntil = incomplete.Add(time.Hour + meetingReach)
		}
		for _, i := range wrong {
			if !i.Start.Before(out.From) {
				hours = append(hours, i.Start)
				projects[i.ProjectID] = true
			}
		}
	}
	if !out.KeptUntil.After(out.From) {
		out.KeptUntil = time.Time{}
	}
	hours = slices.DeleteFunc(hours, func(h time.Time) bool { return h.Before(out.KeptUntil) })
	bounds := []time.Time{out.From}
	for _, day := range report.Days { // as of the same moment before and after
		bounds = append(bounds, earlier(day.Date.Add(DayLength), report.AsOf))
	}
	before := map[string][]Totals{}
	for id := range projects {
		if before[id], err = periodTotals(ctx, s.ledger, Scope{organizationID, id}, bounds...); err != nil {
			return out, err
		}
	}
	if err := s.ledger.MarkUsageLate(ctx, out, hours, s.now()); err != nil {
		return out, err
	}
	rollUpTo := RolledUpUntil(s.now())
	if err := s.rollUpOrganization(ctx, organizationID, rollUpTo); err != nil {
		return out, err
	}
	for id, old := range before {
		now, err := periodTotals(ctx, s.ledger, Scope{organizationID, id}, bounds...)
		if err != nil {
			return out, err
		}
		for i, day := range report.Days {
			if old[i] != now[i] {
				out.Changes = append(out.Changes, DayChange{id, day.Date, old[i], now[i]})
			}
		}
	}
	slices.SortFunc(out.Changes, func(a, b DayChange) int {
		return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.ProjectID, b.ProjectID))
	})
	return out, nil
}

// compareDay returns the rollups of a part of a day that differ from the recorded attendance,
// and the start of the last hour in which rooms or sessions are missing that retention has
// deleted; zero if there is none.
func (s *Service) compareDay(ctx context.Context, organizationID string, start, end time.Time) (
	wrong []Interval, incomplete time.Time, err error,
) {
	moves, err := s.ledger.UsageMoves(ctx, Scope{OrganizationID: organizationID}, start, end)
	if err != nil {
		return nil, incomplete, err
	}
	type key struct {
		projectID string
		start     time.Time
	}
	recorded := map[key]Interval{}
	// Together these have every room. What is missing in them has been deleted.
	complete := map[string]bool{"": true}
	tests, err := s.ledger.TestProjectIDs(ctx, organizationID)
	if err != nil {
		return nil, incomplete, err
	}
	for _, id := range tests {
		complete[id] = true
	}
	projects := maps.Clone(complete)
	for _, i := range rollUp(moves) {
		recorded[key{i.ProjectID, i.Start}] = i
		projects[i.ProjectID] = true
	}
	for id := range projects {
		stored, err := s.ledger.UsageHours(ctx, Scope{organizationID, id}, start, end)
		if err != nil {
			return nil, incomplete, err
		}
		for _, i := range stored {
			r := recorded[key{id, i.Start}]
			delete(recorded, key{id, i.Start})
			if complete[id] && (i.Rooms > r.Rooms || i.Sessions > r.Sessions) {
				incomplete = later(incomplete, i.Start)
			}
			if i.Change != r.Change || i.Millis != r.Millis || i.Rise != r.Rise || i.Rooms != r.Rooms ||
				i.Sessions != r.Sessions {
				wrong = append(wrong, i)
			}
		}
	}
	for _, i := range recorded { // hours without a rollup
		wrong = append(wrong, i)
	}
	return wrong, incomplete, nil
}
