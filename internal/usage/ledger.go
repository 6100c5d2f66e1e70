package usage

import (
	"context"
	"slices"
	"time"

	"parley/internal/room"
)

const (
	// settleDelay is how long after its end an hour is rolled up. It is longer than
	// room.ReportDelay by more than the clocks of the nodes differ and a transaction
	// takes, so that a report that the rollup has missed is recorded as late.
	settleDelay = room.ReportDelay + 3*time.Minute
	// rollupWindow is the time that one transaction rolls up at most.
	rollupWindow = 24 * time.Hour
	// organizationBatch is the number of organizations that one query returns.
	organizationBatch = 100
)

// Scope is what figures are about: an organization or one of its projects.
type Scope struct {
	OrganizationID string
	ProjectID      string // empty for all projects
}

// Progress says how far the attendance of an organization is rolled up.
type Progress struct {
	Until   time.Time // all hours before it are rolled up; zero if none is
	Version int64     // changes with each rollup
	Late    []LateReport
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
	Hours          []Hour       // new hours, in order
	Corrections    []Correction // in order of their hours
	Done           []LateReport // the reports that are included
}

// Correction replaces the rollups of an hour that was rolled up before.
type Correction struct {
	Hour    time.Time
	Rollups []Hour // without Base
}

// Ledger reads the recorded attendance and stores its rollups.
type Ledger interface {
	// UsageProgress returns the progress of an organization. Its late reports are in order
	// of their hours.
	UsageProgress(ctx context.Context, organizationID string) (Progress, error)
	// UsageHours returns the rollups that start in [from, to), in order. Hours without a
	// move have none.
	UsageHours(ctx context.Context, s Scope, from, to time.Time) ([]Hour, error)
	// LatestUsageHour returns the latest rollup that starts before a time, or a zero Hour.
	LatestUsageHour(ctx context.Context, s Scope, before time.Time) (Hour, error)
	// UsageMoves returns the moves in [from, to), in order of time. At the same time,
	// leaves come first. Hidden connections and those of no duration make no moves.
	UsageMoves(ctx context.Context, s Scope, from, to time.Time) ([]Move, error)
	// FirstUsageMove returns a time that is not after the first move of an organization,
	// or the zero time if it has none.
	FirstUsageMove(ctx context.Context, organizationID string) (time.Time, error)
	// SaveUsageRollup stores a rollup, unless the progress has another version by now.
	SaveUsageRollup(ctx context.Context, r Rollup) error
	// OrganizationsAfter returns at most limit organizations with an ID greater than
	// id, in order.
	OrganizationsAfter(ctx context.Context, id string, limit int) ([]string, error)
	// OrganizationsWithLateUsage returns at most limit organizations.
	OrganizationsWithLateUsage(ctx context.Context, limit int) ([]string, error)
}

// totals returns the totals of a scope for the period from start to end. It reads the
// rollups, and moves only of the time that is not rolled up.
func totals(ctx context.Context, l Ledger, s Scope, start, end time.Time) (Totals, error) {
	progress, err := l.UsageProgress(ctx, s.OrganizationID)
	if err != nil {
		return Totals{}, err
	}
	rolledUp := earlier(progress.Until, end).Truncate(time.Hour)
	outdated := map[time.Time]bool{} // hours that are read from their moves
	if aligned := start.Truncate(time.Hour); !aligned.Equal(start) {
		outdated[aligned] = true
	}
	from := earlier(start.Truncate(time.Hour), rolledUp)
	for _, late := range progress.Late {
		if late.Hour.Before(rolledUp) {
			outdated[late.Hour] = true
			from = earlier(from, late.Hour) // the hours after it may have a wrong Base
		}
	}
	base, err := l.LatestUsageHour(ctx, s, from)
	if err != nil {
		return Totals{}, err
	}
	t := newTimeline(start, end, from, base.AtEnd())
	hours, err := l.UsageHours(ctx, s, from, rolledUp)
	if err != nil {
		return Totals{}, err
	}
	hours = slices.DeleteFunc(hours, func(h Hour) bool { return outdated[h.Start] })
	addMoves := func(from, to time.Time) error {
		moves, err := l.UsageMoves(ctx, s, from, to)
		for _, m := range moves {
			t.addMove(m)
		}
		return err
	}
	for _, hour := range sortedTimes(outdated) {
		if !hour.Before(rolledUp) {
			continue // it is part of the rest
		}
		for len(hours) > 0 && hours[0].Start.Before(hour) {
			t.addHour(&hours[0])
			hours = hours[1:]
		}
		if err := addMoves(hour, hour.Add(time.Hour)); err != nil {
			return Totals{}, err
		}
	}
	for i := range hours {
		t.addHour(&hours[i])
	}
	if err := addMoves(rolledUp, end); err != nil {
		return Totals{}, err
	}
	t.advance(end)
	return t.totals(), nil
}

func sortedTimes(set map[time.Time]bool) []time.Time {
	times := make([]time.Time, 0, len(set))
	for t := range set {
		times = append(times, t)
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// RollUp rolls up the hours of all organizations that have ended, and again those
// with late reports. Several nodes may do it at the same time, but each calls it from one
// goroutine.
func (s *Service) RollUp(ctx context.Context) error {
	settled := s.now().UTC().Add(-settleDelay).Truncate(time.Hour)
	if settled.After(s.rolledUpUntil) {
		after := ""
		for {
			batch, err := s.ledger.OrganizationsAfter(ctx, after, organizationBatch)
			if err != nil {
				return err
			}
			for _, id := range batch {
				if err := s.rollUpOrganization(ctx, id, settled); err != nil {
					return err
				}
			}
			if len(batch) < organizationBatch {
				break
			}
			after = batch[len(batch)-1]
		}
		s.rolledUpUntil = settled
	}
	late, err := s.ledger.OrganizationsWithLateUsage(ctx, organizationBatch)
	for _, id := range late {
		if err == nil {
			err = s.rollUpOrganization(ctx, id, settled)
		}
	}
	return err
}

func (s *Service) rollUpOrganization(ctx context.Context, id string, settled time.Time) error {
	for {
		progress, err := s.ledger.UsageProgress(ctx, id)
		if err != nil {
			return err
		}
		next, err := s.nextRollup(ctx, id, progress, settled)
		if err != nil {
			return err
		}
		if next.Until.Equal(progress.Until) && len(next.Done) == 0 {
			return nil
		}
		if err := s.ledger.SaveUsageRollup(ctx, next); err != nil {
			return err
		}
		if !next.Until.Before(settled) {
			return nil
		}
	}
}

// nextRollup returns the rollup that continues progress. It includes the late reports
// of the hours before its end.
func (s *Service) nextRollup(
	ctx context.Context, id string, progress Progress, settled time.Time,
) (Rollup, error) {
	r := Rollup{OrganizationID: id, Version: progress.Version, Until: progress.Until}
	from := progress.Until
	if from.IsZero() {
		first, err := s.ledger.FirstUsageMove(ctx, id)
		if err != nil {
			return r, err
		}
		if from = first.Truncate(time.Hour); first.IsZero() {
			from = settled
		}
	}
	scope := Scope{OrganizationID: id}
	if from.Before(settled) {
		r.Until = earlier(from.Add(rollupWindow), settled)
		moves, err := s.ledger.UsageMoves(ctx, scope, from, r.Until)
		if err != nil {
			return r, err
		}
		r.Hours = rollUp(moves)
		if err := s.setBases(ctx, id, from, r.Hours); err != nil {
			return r, err
		}
	} else if progress.Until.IsZero() {
		r.Until = from
	}
	for _, late := range progress.Late {
		if !late.Hour.Before(r.Until) {
			continue // this hour is rolled up later
		}
		r.Done = append(r.Done, late)
		corrected := len(r.Corrections) > 0 && r.Corrections[len(r.Corrections)-1].Hour.Equal(late.Hour)
		if corrected || !late.Hour.Before(from) {
			continue
		}
		moves, err := s.ledger.UsageMoves(ctx, scope, late.Hour, late.Hour.Add(time.Hour))
		if err != nil {
			return r, err
		}
		r.Corrections = append(r.Corrections, Correction{late.Hour, rollUp(moves)})
	}
	return r, nil
}

// setBases sets the Base of new hours, which are in order and follow the stored ones.
func (s *Service) setBases(ctx context.Context, organizationID string, from time.Time, hours []Hour) error {
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
