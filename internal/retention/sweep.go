package retention

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/project"
)

const (
	// sweepInterval is the time between two sweeps.
	sweepInterval = time.Hour
	// deletionInterval is the time between two sweeps while a project is being deleted,
	// because its last rooms can be deleted only after their hour has been rolled up.
	deletionInterval = time.Minute

	// recordInterval is the time between two entries of the audit log about what sweeps delete in all projects.
	recordInterval = 24 * time.Hour

	// batchTime is how long a transaction should take, because other transactions wait for
	// it: during a sweep on SQLite, the 99th percentile of creating a room is 1.2 times its normal
	// value, and was 2 to 3 times with 10 ms, when a sweep was 1.4 times as fast. The number of rows
	// in a transaction follows from how long the last ones took.
	batchTime = 3 * time.Millisecond
	minRows   = 20
	maxRows   = 500
	// batchRooms is the maximum number of rooms in a transaction.
	batchRooms = 50
	// roundBatches is the number of batches of one project, before others get their turn.
	roundBatches = 20
	projectBatch = 100

	// idleFactor is the pause after a transaction as a multiple of its duration, so that a
	// sweep takes at most a fifth of the time of the database.
	idleFactor = 4
	// settledMargin is how much earlier than the settled usage a room must have ended, so
	// that a report which waited for the database for hours still finds its rows.
	settledMargin = 24 * time.Hour
	// streamPeriod is how long unused webhook streams and failure records of URLs are kept if
	// deliveries are kept for ever. Deliveries do not need them.
	streamPeriod = 30 * 24 * time.Hour
	// rejectionPeriod is how long counts of rejected calls are kept if records of calls are
	// kept for ever, because strangers cause them.
	rejectionPeriod = 30 * 24 * time.Hour
	// sessionPeriod is how long sessions of the console are kept after they expire, so that a
	// list shows who was there.
	sessionPeriod = 30 * 24 * time.Hour
)

// Run sweeps every hour until ctx ends, and every minute while a project is being deleted or
// after an error.
func (s *Service) Run(ctx context.Context) {
	for {
		deleting, err := s.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case fault.Is(err, fault.Unavailable):
			s.log.Warn("delete old data failed, will retry", "error", err)
		case err != nil:
			s.log.Error("delete old data failed, will retry", "error", err)
		}
		interval := sweepInterval
		if deleting || err != nil {
			interval = deletionInterval
		}
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// Sweep deletes the data that is older than its period, continues the deletion of projects, and
// compacts the files if that is due. It reports whether a project is still being deleted. If a project
// fails, Sweep continues with the others and returns the errors of all. Several
// nodes may sweep at the same time, but each calls it from one goroutine.
func (s *Service) Sweep(ctx context.Context) (deleting bool, err error) {
	due, err := s.dueProjects(ctx)
	errs := []error{err}
	swept := map[string]*sweptProject{} // by ID of the project
	var emptied []project.Project       // whose deletion can be finished
	for len(due) > 0 {
		var unfinished []string
		for _, id := range due {
			p, err := s.store.Project(ctx, id)
			if fault.Is(err, fault.NotFound) {
				continue // another node has finished its deletion
			}
			if swept[id] == nil {
				swept[id] = newSweptProject(id)
			}
			more := false
			if err == nil {
				deleting = deleting || p.Deleted()
				more, err = s.sweepProject(ctx, p, swept[id])
			}
			if ctx.Err() != nil {
				return deleting, ctx.Err()
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("project %s: %w", id, err))
			}
			if swept[id].emptied {
				emptied = append(emptied, p)
			}
			if more {
				unfinished = append(unfinished, id)
			}
		}
		due = unfinished
	}
	errs = append(errs, s.recordRest(ctx, swept), s.finishDeletions(ctx, emptied),
		s.resumeCompaction(ctx))
	errs = append(errs, s.repeatToEnd(ctx, func(ctx context.Context) (int, error) {
		return s.store.PruneStreams(ctx, cutoff(s.now(), cmp.Or(s.periods.Deliveries, streamPeriod)), s.batchRows)
	}), s.repeatToEnd(ctx, func(ctx context.Context) (int, error) {
		return s.store.PruneTargets(ctx, cutoff(s.now(), cmp.Or(s.periods.Deliveries, streamPeriod)), s.batchRows)
	}), s.repeatToEnd(ctx, func(ctx context.Context) (int, error) {
		return s.store.DeleteConsoleSessions(ctx, cutoff(s.now(), sessionPeriod), s.batchRows)
	}), s.sweepCallsWithoutProject(ctx))
	errs = append(errs, s.recordDaily(ctx))
	return deleting, errors.Join(errs...)
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

// dueProjects returns the IDs of the projects in which a sweep has work. It only reads, because most
// of thousands of projects have no work. One query reads a hundred projects.
func (s *Service) dueProjects(ctx context.Context) (due []string, err error) {
	for after := ""; ; {
		projects, err := s.store.Projects(ctx, project.ListQuery{After: after, Limit: projectBatch})
		if err != nil || len(projects) == 0 {
			return due, err
		}
		ids := make([]string, len(projects))
		for i, p := range projects {
			ids[i] = p.ID
		}
		oldest, err := s.store.OldestData(ctx, ids)
		if err != nil {
			return due, err
		}
		for _, p := range projects {
			if p.Deleted() || s.isDue(p, oldest[p.ID]) {
				due = append(due, p.ID)
			}
		}
		if len(projects) < projectBatch {
			return due, nil
		}
		after = ids[len(ids)-1]
	}
}

// isDue reports whether a project has data whose period is over, or a sum that the audit log
// does not show yet.
func (s *Service) isDue(p project.Project, oldest Oldest) bool {
	periods, now := s.periods.ForProject(p.Settings.Retention), s.now()
	isOver := func(at time.Time, period time.Duration) bool {
		return !at.IsZero() && at.Before(cutoff(now, period))
	}
	return oldest.Unrecorded || isOver(oldest.Erasure, erasurePeriod) ||
		isOver(oldest.Delivery, periods.Deliveries) || isOver(oldest.Call, periods.Calls) ||
		isOver(oldest.People, periods.People) || isOver(oldest.Room, periods.Rooms)
}

// sweepCallsWithoutProject deletes old records of calls that belong to no project.
func (s *Service) sweepCallsWithoutProject(ctx context.Context) error {
	err := s.repeatToEnd(ctx, func(ctx context.Context) (int, error) {
		return s.store.DeleteRejections(ctx, cutoff(s.now(), cmp.Or(s.periods.Calls, rejectionPeriod)), s.batchRows)
	})
	before := cutoff(s.now(), s.periods.Calls)
	if before.IsZero() {
		return err
	}
	return errors.Join(err, s.repeatToEnd(ctx, func(ctx context.Context) (int, error) {
		return s.deleteCalls(ctx, "", before, s.batchRows)
	}))
}

// deleteCalls deletes old records of calls, and adds their number to the sum of all projects.
func (s *Service) deleteCalls(ctx context.Context, projectID string, before time.Time, limit int) (int, error) {
	calls, rows, err := s.store.DeleteCalls(ctx, projectID, before, limit)
	if err != nil || calls == 0 {
		return rows, err
	}
	return rows, s.store.AddSwept(ctx, "", Swept{Action: audit.CallsDeleted, N: calls, Before: before})
}

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

// sweepProject deletes the old data of one project, or all data if the project is being
// deleted. It reports whether there may be more. Deliveries go first, because they are kept
// no longer than their room.
func (s *Service) sweepProject(ctx context.Context, p project.Project, swept *sweptProject) (more bool, err error) {
	periods, now := s.periods.ForProject(p.Settings.Retention), s.now()
	type (
		batch     func(ctx context.Context, before time.Time) (done int, err error)
		deleteOld func(ctx context.Context, projectID string, before time.Time, limit int) (int, error)
	)
	inTransaction := func(deleteRows deleteOld) batch {
		return func(ctx context.Context, before time.Time) (int, error) {
			return s.transact(ctx, func(ctx context.Context) (int, error) {
				return deleteRows(ctx, p.ID, before, s.batchRows)
			})
		}
	}
	deleteDeliveries := func(ctx context.Context, projectID string, before time.Time, limit int) (int, error) {
		n, err := s.store.DeleteDeliveries(ctx, projectID, before, limit)
		switch {
		case err != nil || n == 0:
			return 0, err
		case p.Deleted():
			return n, s.countDeleted(ctx, p, Deleted{Deliveries: n})
		}
		return n, s.store.AddSwept(ctx, "", Swept{Action: audit.DeliveriesDeleted, N: n, Before: before})
	}
	deleteCalls := s.deleteCalls
	if p.Deleted() {
		deleteCalls = func(ctx context.Context, projectID string, before time.Time, limit int) (int, error) {
			_, rows, err := s.store.DeleteCalls(ctx, projectID, before, limit)
			return rows, err
		}
	}
	for _, step := range []struct {
		period time.Duration
		batch  batch
	}{
		{periods.Deliveries, inTransaction(deleteDeliveries)},
		{periods.Calls, inTransaction(deleteCalls)},
		{periods.People, func(ctx context.Context, before time.Time) (int, error) {
			return s.erasePeople(ctx, &swept.erased, before)
		}},
		{periods.Rooms, func(ctx context.Context, before time.Time) (int, error) {
			return s.deleteRooms(ctx, p, &swept.deleted, before)
		}},
	} {
		before := cutoff(now, step.period)
		if p.Deleted() {
			before = now
		}
		if before.IsZero() {
			continue
		}
		unfinished, err := s.repeat(ctx, func(ctx context.Context) (int, error) { return step.batch(ctx, before) })
		if err != nil {
			return false, err
		}
		more = more || unfinished
	}
	if p.Deleted() && !more {
		swept.emptied, err = s.emptyProject(ctx, p.ID)
		return false, err
	}
	return more, nil
}

// countDeleted adds to the receipt of a project that is being deleted. It must be called in the
// transaction that deletes, because the receipt outlives a crash.
func (s *Service) countDeleted(ctx context.Context, p project.Project, d Deleted) error {
	if !p.Deleted() {
		return nil
	}
	return s.store.AddDeleted(ctx, p.ID, d, s.now())
}

// repeat runs a batch until it has nothing to do, at most roundBatches times. It reports
// whether there may be more to do.
func (s *Service) repeat(ctx context.Context, batch func(ctx context.Context) (done int, err error)) (bool, error) {
	for range roundBatches {
		if done, err := batch(ctx); err != nil || done == 0 {
			return false, err
		}
	}
	return true, nil
}

// repeatToEnd runs transactions until one has nothing to do.
func (s *Service) repeatToEnd(ctx context.Context, work work) error {
	for {
		if rows, err := s.transact(ctx, work); err != nil || rows == 0 {
			return err
		}
	}
}

// work is the work of a transaction. It returns about how many rows it has changed.
type work func(ctx context.Context) (rows int, err error)

// transact runs a transaction of a sweep and returns its rows. After one that has changed
// rows, it adapts the size of the next one, and leaves the database to others for a while.
func (s *Service) transact(ctx context.Context, work work) (rows int, err error) {
	began := time.Now()
	err = s.store.WriteInBackground(ctx, func(ctx context.Context) (err error) {
		rows, err = work(ctx)
		return err
	})
	if err != nil {
		s.batchRows = max(minRows, s.batchRows/2)
		return 0, err
	}
	if rows == 0 {
		return 0, nil
	}
	took := time.Since(began)
	s.adjustBatch(took)
	sleep(ctx, idleFactor*took)
	return rows, ctx.Err()
}

// adjustBatch changes the size of the next transaction after one that took some time.
func (s *Service) adjustBatch(took time.Duration) {
	switch {
	case took > batchTime:
		s.batchRows = max(minRows, s.batchRows/2)
	case took < batchTime/2:
		s.batchRows = min(maxRows, s.batchRows*2)
	}
}

// sleep waits for a duration or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// deleteRooms deletes the oldest rooms that ended before a time and that no usage figure
// needs any more. It runs one transaction, which may leave a part of the last room to the
// next.
func (s *Service) deleteRooms(ctx context.Context, p project.Project, swept *sweptRooms, before time.Time) (
	int, error,
) {
	return s.transactRooms(ctx, swept, func(ctx context.Context) (rooms, rows int, err error) {
		// A rebuild of the usage takes the same lock before it decides which hours to compute again.
		if err := s.store.LockOrganization(ctx, p.OrganizationID); err != nil {
			return 0, 0, err
		}
		settled, err := s.store.UsageSettledUntil(ctx, p.OrganizationID)
		if err != nil {
			return 0, 0, err
		}
		swept.before = before
		if settled = settled.Add(-settledMargin); before.After(settled) {
			swept.before = settled
		}
		ids, err := s.store.RoomsToDelete(ctx, p.ID, swept.before, min(batchRooms, s.batchRows))
		if err != nil {
			return 0, 0, err
		}
		var sum Deleted
		for _, id := range ids {
			if rows == s.batchRows {
				break
			}
			deleted, n, err := s.store.DeleteRoom(ctx, id, s.batchRows-rows)
			if err != nil {
				return 0, 0, err
			}
			sum.add(deleted)
			rows += n
		}
		return sum.Rooms, rows, s.countDeleted(ctx, p, sum)
	})
}

// erasePeople erases the people of the oldest rooms in one transaction. If the last room is
// too large for it, further transactions erase the rest of that room.
func (s *Service) erasePeople(ctx context.Context, swept *sweptRooms, before time.Time) (int, error) {
	swept.before = before
	var t *traces // of the room that is continued; nobody joins an ended room
	var at, next position
	rows, err := s.transactRooms(ctx, swept, func(ctx context.Context) (rooms, rows int, err error) {
		t, at = nil, position{}
		ids, err := s.store.RoomsWithPeople(ctx, swept.projectID, before, min(batchRooms, s.batchRows))
		if err != nil {
			return 0, 0, err
		}
		for _, id := range ids {
			if rows >= s.batchRows {
				break
			}
			found, err := s.findEverybody(ctx, id)
			if err != nil {
				return 0, 0, err
			}
			n, reached, err := s.erasePart(ctx, found, position{}, s.batchRows-rows, &Erased{})
			if err != nil {
				return 0, 0, err
			}
			if rows += n; !reached.done {
				t, at = found, reached
				break
			}
			rooms++
		}
		return rooms, rows, nil
	})
	for err == nil && t != nil && !at.done {
		_, err = s.transactRooms(ctx, swept, func(ctx context.Context) (rooms, rows int, err error) {
			if err := s.store.LockRooms(ctx, []string{t.roomID}); err != nil {
				return 0, 0, err
			}
			if rows, next, err = s.erasePart(ctx, t, at, s.batchRows, &Erased{}); next.done {
				rooms = 1
			}
			return rooms, rows, err
		})
		at = next
	}
	return rows, err
}

// transactRooms is transact for work that also returns how many rooms it has finished, which
// are counted in the same transaction.
func (s *Service) transactRooms(ctx context.Context, swept *sweptRooms,
	work func(ctx context.Context) (rooms, rows int, err error)) (int, error) {
	rooms := 0
	rows, err := s.transact(ctx, func(ctx context.Context) (rows int, err error) {
		if rooms, rows, err = work(ctx); err != nil || rooms == 0 {
			return rows, err
		}
		return rows, s.count(ctx, swept, rooms)
	})
	if rows == 0 {
		return 0, err
	}
	swept.recorded = swept.recorded || rooms > 0
	return rows, err
}
