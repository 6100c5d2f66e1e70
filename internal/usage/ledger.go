package usage

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/internal/room"
)

const (
	// rollupDelay is how long after its end an hour is rolled up. It is longer than
	// room.ReportDelay by more than a transaction takes, so that a report that the rollup
	// has missed is recorded as late.
	rollupDelay = room.ReportDelay + 3*time.Minute
	// rollupWindow is the time that one transaction rolls up at most.
	rollupWindow = 24 * time.Hour
	// foldWindow is the longest period that one transaction folds into days.
	foldWindow = 7 * DayLength
	// organizationBatch is the number of organizations that one query returns.
	organizationBatch = 100
)

// Scope is what figures are about: an organization or one of its projects.
type Scope struct {
	OrganizationID string
	ProjectID      string // empty for all projects but test projects
}

// Progress says how far the attendance of an organization is rolled up.
type Progress struct {
	Until   time.Time // all hours before it are rolled up; zero if none is
	Version int64     // changes with each rollup
	// The days before DaysUntil, which is midnight, are folded. It is zero if an earlier
	// release, which folds no days, has stored the last rollup.
	DaysUntil time.Time
	Late      []time.Time // the hours with late reports, in order
}

// LateReport says that attendance changed in an hour that may have been rolled up
// before, so that the hour must be rolled up again.
type LateReport struct {
	ID   string
	Hour time.Time
}

// Rollup is what one transaction stores.
type Rollup struct {
	OrganizationID string
	Version        int64 // of the progress that it continues
	Until          time.Time
	Hours          []Interval   // new hours, in order
	Corrections    []Correction // in order of their hours
	Done           []LateReport // the reports that are included
	Days           []time.Time  // to be folded from their hours, which are stored before
	DaysUntil      time.Time    // see Progress
}

// Correction replaces the rollups of an hour that was rolled up before.
type Correction struct {
	Hour    time.Time
	Rollups []Interval // without Base
}

// HourChoice returns the starts of hours.
type HourChoice func(ctx context.Context) ([]time.Time, error)

// Ledger reads the recorded attendance and stores its rollups.
type Ledger interface {
	// Changes returns a number that grows with each change, before the caller who made the change continues.
	// complete is false if other processes can change what the ledger reads.
	Changes() (n uint64, complete bool)
	// UsageProgress returns the progress of an organization, as of one moment.
	UsageProgress(ctx context.Context, organizationID string) (Progress, error)
	// UsageToRollUp returns the progress of an organization without its late hours, and at most limit of its late
	// reports, in order of their hours, as of one moment.
	UsageToRollUp(ctx context.Context, organizationID string, limit int) (Progress, []LateReport, error)
	// UsageHours returns the hours that start in [from, to), in order. Hours without a
	// move are not stored.
	UsageHours(ctx context.Context, s Scope, from, to time.Time) ([]Interval, error)
	// UsageDays returns the folded days that start in [from, to), in order. Days without a
	// move are not stored.
	UsageDays(ctx context.Context, s Scope, from, to time.Time) ([]Interval, error)
	// LatestUsageHour returns the latest hour that starts before a time, or a zero Interval.
	LatestUsageHour(ctx context.Context, s Scope, before time.Time) (Interval, error)
	// FirstUsageHour returns the start of the first hour of an organization, or the zero time.
	FirstUsageHour(ctx context.Context, organizationID string) (time.Time, error)
	// TestProjectIDs returns the IDs of an organization's test projects.
	TestProjectIDs(ctx context.Context, organizationID string) ([]string, error)
	// UsageMoves returns the moves in [from, to), in order of time. At the same time,
	// leaves come first. Hidden connections and those of no duration make no moves. Those of all
	// projects contain those of test projects, marked as Test.
	UsageMoves(ctx context.Context, s Scope, from, to time.Time) ([]Move, error)
	// UsageStarts returns those of UsageMoves that are the creation of a room or the start of a session.
	UsageStarts(ctx context.Context, s Scope, from, to time.Time) ([]Move, error)
	// FirstUsageMove returns a time that is not after the first move of an organization,
	// or the zero time if it has none.
	FirstUsageMove(ctx context.Context, organizationID string) (time.Time, error)
	// SaveUsageRollup stores a rollup, unless the progress has another version by now or the
	// organization is deleted.
	SaveUsageRollup(ctx context.Context, r Rollup) error
	// MarkUsageLate records that an operator has rebuilt a period, and that the hours of it that choose returns, which
	// may be none, must be rolled up again. choose runs in a transaction in which nobody else deletes rooms of the
	// organization, and may run more than once. The error is NotFound if the organization does not exist.
	MarkUsageLate(ctx context.Context, r Rebuilt, now time.Time, choose HourChoice) error
	// OrganizationsAfter returns at most limit organizations with an ID greater than
	// id, in order.
	OrganizationsAfter(ctx context.Context, id string, limit int) ([]string, error)
	// OrganizationsUsedAfter looks at no more than limit organizations with an ID greater than id, in order. It returns
	// those that have used anything since a full hour, and perhaps others, and the last ID that it has looked at; empty
	// if there are no more.
	OrganizationsUsedAfter(ctx context.Context, id string, since time.Time, limit int) (
		used []string, last string, err error)
	// OrganizationsWithLateUsage returns at most limit organizations.
	OrganizationsWithLateUsage(ctx context.Context, limit int) ([]string, error)
}

// RolledUpUntil returns the time up to which a RollUp that runs at now rolls up hours.
func RolledUpUntil(now time.Time) time.Time { return now.UTC().Add(-rollupDelay).Truncate(time.Hour) }

// RollUp rolls up the ended hours of all organizations, rolls up again the hours with late
// reports, and folds complete days. A failure in one organization does not stop the others.
// Several nodes may call it at the same time, but each node from one goroutine.
func (s *Service) RollUp(ctx context.Context) (failed error) {
	rollUpTo := RolledUpUntil(s.now())
	if _, until := s.Rollups(); rollUpTo.After(until) {
		after := ""
		for {
			batch, err := s.ledger.OrganizationsAfter(ctx, after, organizationBatch)
			if err != nil {
				return err
			}
			for _, id := range batch {
				failed = errors.Join(failed, s.rollUpOrganization(ctx, id, rollUpTo))
			}
			if len(batch) < organizationBatch {
				break
			}
			after = batch[len(batch)-1]
		}
		if failed != nil {
			return failed
		}
		s.rolledUpUntil.Store(&rollUpTo)
	}
	late, err := s.ledger.OrganizationsWithLateUsage(ctx, organizationBatch)
	failed = err
	for _, id := range late {
		failed = errors.Join(failed, s.rollUpOrganization(ctx, id, rollUpTo))
	}
	return failed
}

func (s *Service) rollUpOrganization(ctx context.Context, id string, rollUpTo time.Time) error {
	for {
		// One more than a rollup includes, so that nextRollup knows whether others are left.
		progress, late, err := s.ledger.UsageToRollUp(ctx, id, maxLateReports+1)
		if err != nil {
			return err
		}
		next, more, err := s.nextRollup(ctx, id, progress, late, rollUpTo)
		if err != nil {
			return err
		}
		if next.Until.Equal(progress.Until) && next.DaysUntil.Equal(progress.DaysUntil) && len(next.Done) == 0 {
			return nil
		}
		if err := s.ledger.SaveUsageRollup(ctx, next); err != nil {
			return err
		}
		s.rollups.Add(1)
		if !more && !next.Until.Before(rollUpTo) && next.DaysUntil.Equal(midnight(next.Until)) {
			return nil
		}
	}
}

// maxLateReports and maxCorrections bound what one transaction stores, because many hours may have late reports after
// an outage or a rebuild.
const (
	maxLateReports = 500
	maxCorrections = 24
)

// nextRollup returns the rollup that continues progress. It includes those late reports, which are in order, of the
// hours before its end; more says whether others are left.
func (s *Service) nextRollup(
	ctx context.Context, id string, progress Progress, reports []LateReport, rollUpTo time.Time,
) (r Rollup, more bool, err error) {
	r = Rollup{OrganizationID: id, Version: progress.Version, Until: progress.Until}
	from := progress.Until
	if from.IsZero() {
		first, err := s.ledger.FirstUsageMove(ctx, id)
		if err != nil {
			return r, false, err
		}
		if from = first.Truncate(time.Hour); first.IsZero() {
			from = rollUpTo
		}
	}
	scope := Scope{OrganizationID: id}
	if from.Before(rollUpTo) {
		r.Until = earlier(from.Add(rollupWindow), rollUpTo)
		moves, err := s.ledger.UsageMoves(ctx, scope, from, r.Until)
		if err != nil {
			return r, false, err
		}
		r.Hours = rollUp(moves)
		if err := s.setBases(ctx, id, from, r.Hours); err != nil {
			return r, false, err
		}
	} else if progress.Until.IsZero() {
		r.Until = from
	}
	for _, late := range reports {
		if !late.Hour.Before(r.Until) {
			break // these hours are rolled up later
		}
		if more = len(r.Done) == maxLateReports || len(r.Corrections) == maxCorrections; more {
			break
		}
		r.Done = append(r.Done, late)
		corrected := len(r.Corrections) > 0 && r.Corrections[len(r.Corrections)-1].Hour.Equal(late.Hour)
		if corrected || !late.Hour.Before(from) {
			continue
		}
		moves, err := s.ledger.UsageMoves(ctx, scope, late.Hour, late.Hour.Add(time.Hour))
		if err != nil {
			return r, false, err
		}
		r.Corrections = append(r.Corrections, Correction{late.Hour, rollUp(moves)})
	}
	return r, more, s.addDays(ctx, &r, progress, from)
}

// addDays adds the days that a rollup folds: those that it corrects, and those that follow the
// folded ones. from is where its new hours start.
func (s *Service) addDays(ctx context.Context, r *Rollup, progress Progress, from time.Time) error {
	next := progress.DaysUntil
	if next.IsZero() {
		first, err := s.ledger.FirstUsageHour(ctx, r.OrganizationID)
		if err != nil {
			return err
		}
		if first.IsZero() {
			first = from
		}
		next = midnight(first)
	}
	for _, c := range r.Corrections {
		if day := midnight(c.Hour); day.Before(next) && !slices.Contains(r.Days, day) {
			r.Days = append(r.Days, day)
		}
	}
	r.DaysUntil = earlier(next.Add(foldWindow), midnight(r.Until))
	for ; next.Before(r.DaysUntil); next = next.Add(DayLength) {
		r.Days = append(r.Days, next)
	}
	return nil
}

// setBases sets the Base of new hours, which are in order and follow the stored ones.
func (s *Service) setBases(ctx context.Context, organizationID string, from time.Time, hours []Interval) error {
	base := map[string]Level{}
	for i := range hours {
		h := &hours[i]
		level, known := base[h.ProjectID]
		if !known {
			latest, err := s.ledger.LatestUsageHour(ctx, Scope{organizationID, h.ProjectID}, from)
			if err != nil {
				return err
			}
			level = latest.AtEnd()
		}
		h.Base = level
		base[h.ProjectID] = h.AtEnd()
	}
	return nil
}
