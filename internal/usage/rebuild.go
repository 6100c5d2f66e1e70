package usage

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// meetingReach is the longest time after the beginning of a session in which people can be in it, which is
// validate.MaxRoomDuration, with a margin: the attendance of a room that retention has deleted is missing for so long.
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
	wrong, err := s.compare(ctx, &out, out.From, end)
	if err != nil {
		return out, err
	}
	projects := map[string]bool{"": true}
	for _, i := range wrong {
		projects[i.ProjectID] = true
	}
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
	if err := s.markLate(ctx, &out, wrong); err != nil {
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

// markLate records that the hours of some rollups must be rolled up again. Meanwhile retention may have deleted rooms,
// so it looks again for missing rooms while it keeps others from deleting rooms. It does so day by day, because others
// wait for it.
func (s *Service) markLate(ctx context.Context, out *Rebuilt, wrong []Interval) error {
	days := map[time.Time]map[time.Time]bool{}
	for _, i := range wrong {
		day := midnight(i.Start)
		if days[day] == nil {
			days[day] = map[time.Time]bool{}
		}
		days[day][i.Start] = true
	}
	if len(days) == 0 {
		return s.ledger.MarkUsageLate(ctx, *out, s.now(), func(context.Context) ([]time.Time, error) { return nil, nil })
	}
	for _, day := range slices.SortedFunc(maps.Keys(days), time.Time.Compare) {
		err := s.ledger.MarkUsageLate(ctx, *out, s.now(), func(ctx context.Context) ([]time.Time, error) {
			hours := sortedTimes(days[day])
			end := hours[len(hours)-1].Add(time.Hour)
			keptUntil, err := s.keptUntil(ctx, out.OrganizationID, day.Add(-meetingReach), end)
			if keptUntil.After(day) {
				out.KeptUntil = later(out.KeptUntil, keptUntil)
			}
			return slices.DeleteFunc(hours, func(hour time.Time) bool { return hour.Before(keptUntil) }), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keptUntil returns the end of the hours that stay as they are, because rooms or sessions from one time to another
// have been deleted; zero if there is none. It reads no attendance: sessions are deleted before the attendance in them.
func (s *Service) keptUntil(ctx context.Context, organizationID string, start, end time.Time) (
	until time.Time, err error,
) {
	starts, err := s.ledger.UsageStarts(ctx, Scope{OrganizationID: organizationID}, start, end)
	if err != nil {
		return until, err
	}
	recorded := map[intervalKey]Interval{}
	for _, i := range rollUp(starts) {
		recorded[intervalKey{i.ProjectID, i.Start}] = i
	}
	complete, err := s.completeScopes(ctx, organizationID)
	if err != nil {
		return until, err
	}
	for _, id := range complete {
		stored, err := s.ledger.UsageHours(ctx, Scope{organizationID, id}, start, end)
		if err != nil {
			return until, err
		}
		for _, i := range stored {
			if i.isMissingIn(recorded[intervalKey{id, i.Start}]) {
				until = later(until, i.End().Add(meetingReach))
			}
		}
	}
	return until, nil
}

// completeScopes returns the IDs of projects, or "" for the whole organization, that together have every room. What is
// missing in them has been deleted.
func (s *Service) completeScopes(ctx context.Context, organizationID string) ([]string, error) {
	tests, err := s.ledger.TestProjectIDs(ctx, organizationID)
	return append(tests, ""), err
}

// isMissingIn reports whether a room or a session of a stored hour is missing in what is recorded.
func (i *Interval) isMissingIn(recorded Interval) bool {
	return i.Rooms > recorded.Rooms || i.Sessions > recorded.Sessions
}

// compare returns the rollups from one time to another, both midnight or the end of what is rolled up, that differ
// from the recorded attendance. It leaves out the hours for which retention may have deleted rooms, and makes
// out.KeptUntil at least their end.
func (s *Service) compare(ctx context.Context, out *Rebuilt, from, to time.Time) (wrong []Interval, err error) {
	var keptUntil time.Time
	for day := from.Add(-meetingReach); day.Before(to); day = day.Add(DayLength) {
		differ, incomplete, err := s.compareDay(ctx, out.OrganizationID, day, earlier(day.Add(DayLength), to))
		if err != nil {
			return nil, err
		}
		if !incomplete.IsZero() {
			keptUntil = incomplete.Add(time.Hour + meetingReach)
		}
		wrong = append(wrong, differ...)
	}
	if keptUntil.After(from) {
		out.KeptUntil = later(out.KeptUntil, keptUntil)
	}
	return slices.DeleteFunc(wrong, func(i Interval) bool { return i.Start.Before(later(from, keptUntil)) }), nil
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
	recorded := map[intervalKey]Interval{}
	complete, err := s.completeScopes(ctx, organizationID)
	if err != nil {
		return nil, incomplete, err
	}
	projects := map[string]bool{}
	for _, id := range complete {
		projects[id] = true
	}
	for _, i := range rollUp(moves) {
		recorded[intervalKey{i.ProjectID, i.Start}] = i
		projects[i.ProjectID] = true
	}
	for id := range projects {
		stored, err := s.ledger.UsageHours(ctx, Scope{organizationID, id}, start, end)
		if err != nil {
			return nil, incomplete, err
		}
		for _, i := range stored {
			r := recorded[intervalKey{id, i.Start}]
			delete(recorded, intervalKey{id, i.Start})
			if slices.Contains(complete, id) && i.isMissingIn(r) {
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
