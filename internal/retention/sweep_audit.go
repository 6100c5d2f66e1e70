package retention

import (
	"context"
	"errors"
	"time"

	"parley/internal/audit"
)

// recordInterval is the time between two entries of the audit log about what sweeps delete in all projects.
const recordInterval = 24 * time.Hour

// sweptProject is what a sweep has done to a project.
type sweptProject struct {
	erased, deleted sweptRooms
	emptied         bool // only the row of the project is left
}

func newSweptProject(id string) *sweptProject {
	return &sweptProject{erased: sweptRooms{projectID: id, action: audit.PeopleErased},
		deleted: sweptRooms{projectID: id, action: audit.RoomsDeleted}}
}

// sweptRooms are the rooms that a sweep erases or deletes in one project. The first
// transaction writes an entry to the audit log. The others add to a sum in the database, because a
// large sweep has thousands of transactions, and one entry at the end has that sum.
type sweptRooms struct {
	projectID string
	action    audit.Action
	before    time.Time // the rooms had ended before
	recorded  bool      // the first transaction has its entry
	failed    []failedRoom
}

// count records the rooms that a transaction has finished. It must be called in that transaction.
func (s *Service) count(ctx context.Context, swept *sweptRooms, rooms int) error {
	done := Swept{Action: swept.action, N: rooms, Before: swept.before}
	if swept.recorded {
		return s.store.AddSwept(ctx, swept.projectID, done)
	}
	return s.recordSwept(ctx, swept.projectID, done)
}

func (s *Service) recordSwept(ctx context.Context, projectID string, done Swept) error {
	count, before := "rooms", "ended_before"
	switch done.Action {
	case audit.DeliveriesDeleted:
		count, before = "deliveries", "created_before"
	case audit.CallsDeleted:
		count, before = "calls", "received_before"
	}
	return audit.Record(ctx, s.store, s.now(), audit.Change{
		Action:    done.Action,
		Subject:   projectID,
		ProjectID: projectID,
		After:     audit.Fields{count: done.N, before: audit.Timestamp(done.Before)},
	})
}

// recordRest writes the audit entries for the sums of projects, also for those that a sweep or an
// erasure left that was killed or interrupted.
func (s *Service) recordRest(ctx context.Context, projects map[string]*sweptProject) error {
	var errs []error
	for id := range projects {
		errs = append(errs, s.recordRestOf(ctx, id))
	}
	return errors.Join(errs...)
}

func (s *Service) recordRestOf(ctx context.Context, projectID string) error {
	rest, err := s.store.UnrecordedSweeps(ctx, projectID)
	if err != nil {
		return err
	}
	erasuresUntil := cutoff(s.now(), erasurePeriod)
	persons, err := s.store.UnfinishedErasures(ctx, projectID, erasuresUntil)
	if err != nil || len(rest)+len(persons) == 0 {
		return err
	}
	return s.store.WriteInBackground(ctx, func(ctx context.Context) error {
		return errors.Join(s.recordUnrecordedSweeps(ctx, projectID),
			s.recordUnfinishedErasures(ctx, projectID, erasuresUntil))
	})
}

// recordUnrecordedSweeps replaces the sums of a project by entries in the audit log. It must be
// called in a transaction.
func (s *Service) recordUnrecordedSweeps(ctx context.Context, projectID string) error {
	rest, err := s.store.TakeUnrecordedSweeps(ctx, projectID)
	if err != nil {
		return err
	}
	for _, done := range rest {
		if err := s.recordSwept(ctx, projectID, done); err != nil {
			return err
		}
	}
	return nil
}

// recordDaily records the deliveries and calls that sweeps have deleted in all projects. It does so in the first sweep
// of a process and of each day, because an entry for each project and hour would be most of the audit log.
func (s *Service) recordDaily(ctx context.Context) error {
	now := s.now()
	if now.Before(s.recordAfter) {
		return nil
	}
	err := s.recordRestOf(ctx, "")
	if err == nil {
		s.recordAfter = now.Truncate(recordInterval).Add(recordInterval)
	}
	return err
}
