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
	// moreInterval is the time between two sweeps while a sweep leaves something to do: events to pack, or the last rooms
	// of a project that is being deleted, whose hour has not been rolled up.
	moreInterval = time.Minute

	projectBatch = 100

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

	// packAfter is the time after the end of a room in which its events are not packed, because most of the late ones,
	// such as ratings, are recorded in it.
	packAfter = time.Hour
	// packBatches is the number of transactions that pack events in a sweep. After an upgrade there may be millions of
	// rooms to pack, and the deletion of a project waits for the next sweep.
	packBatches = 1000
)

// Run sweeps every hour until ctx ends, and every minute while a project is being deleted, while there are more events
// to pack, or after an error. It calls report after each sweep with its error, and with that of the last attempt of a
// sweep to compact the files.
func (s *Service) Run(ctx context.Context, report func(swept, compacted error)) {
	for {
		more, err := s.Sweep(ctx)
		if ctx.Err() != nil {
			return
		}
		report(err, s.compactError)
		interval := sweepInterval
		if more || err != nil {
			interval = moreInterval
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

// Sweep deletes the data that is older than its period, continues the deletion of projects, packs the events of rooms
// that are over, and compacts the files if that is due. It reports whether a project is still being deleted, or events
// remain to be packed. If a project fails, Sweep continues with the others and returns the errors of all. Several
// nodes may sweep at the same time, but each calls it from one goroutine.
func (s *Service) Sweep(ctx context.Context) (more bool, err error) {
	deleting := false
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
	for _, p := range swept {
		for _, failed := range p.erased.failed {
			errs = append(errs, fmt.Errorf("project %s: %w", p.erased.projectID, failed))
		}
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
	moreToPack, err := s.packEvents(ctx)
	errs = append(errs, err, s.recordDaily(ctx))
	return deleting || moreToPack, errors.Join(errs...)
}

// packEvents packs the events of rooms that are over. It reports whether there may be more.
func (s *Service) packEvents(ctx context.Context) (more bool, err error) {
	now := s.now()
	before := now.Add(-packAfter)
	var packing Packing
	err = s.store.WriteInBackground(ctx, func(ctx context.Context) (err error) {
		if packing, err = s.store.PreparePacking(ctx, now, before); err != nil || !packing.Closing {
			return err
		}
		return audit.Record(ctx, s.store, now, audit.Change{Action: audit.DatabaseContracted, Subject: "packed_events"})
	})
	if err != nil {
		return false, err
	}
	s.logPacking(packing)
	if !packing.Allowed {
		return packing.Closed && packing.OlderNode == "", nil
	}
	var from, next time.Time
	for range packBatches {
		_, err := s.transact(ctx, func(ctx context.Context) (rows int, err error) {
			rows, next, err = s.store.PackEvents(ctx, from, before, s.batchRows)
			return rows, err
		})
		if from = next; err != nil || from.IsZero() {
			return false, err
		}
	}
	return true, nil
}

// logPacking logs what has changed since the last sweep of this process, and in each sweep the node that prevents the
// packing.
func (s *Service) logPacking(now Packing) {
	previous := s.packing
	s.packing = now
	switch {
	case now.OlderNode != "":
		s.log.Warn("events of ended rooms are not packed, because a node of an earlier version runs", "node", now.OlderNode)
	case now.Closed && !now.Allowed && !previous.Closed:
		s.log.Info("no earlier version can use the database any more, and events of ended rooms will be packed")
	case !now.Closed && !now.From.Equal(previous.From):
		s.log.Info("events of ended rooms will be packed, until then you can go back to an earlier version",
			"from", now.From.UTC().Format(time.RFC3339))
	}
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
		unfinished, err := s.repeat(ctx, roundBatches, func(ctx context.Context) (int, error) {
			return step.batch(ctx, before)
		})
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

// maxFailedRooms is the number of rooms of a project that a sweep leaves out after their erasure has failed.
const maxFailedRooms = 100

// failedRoom is the error of a room that could not be erased, for example because its data is damaged.
type failedRoom struct {
	id  string
	err error
}

// Error returns the cause with the ID of the room.
func (f failedRoom) Error() string { return fmt.Sprintf("erase people of room %s: %v", f.id, f.err) }

// Unwrap returns the cause.
func (f failedRoom) Unwrap() error { return f.err }

// erasePeople erases the people of the oldest rooms in one transaction. If the last room is
// too large for it, further transactions erase the rest of that room. If a room fails, erasePeople leaves it out from
// then on, so that the others do not wait for it.
func (s *Service) erasePeople(ctx context.Context, swept *sweptRooms, before time.Time) (int, error) {
	rows, err := s.eraseOldest(ctx, swept, before)
	failed, ok := errors.AsType[failedRoom](err)
	if !ok || ctx.Err() != nil || fault.Is(err, fault.Unavailable) || len(swept.failed) == maxFailedRooms {
		return rows, err
	}
	swept.failed = append(swept.failed, failed)
	return 1, nil
}

func (s *Service) eraseOldest(ctx context.Context, swept *sweptRooms, before time.Time) (int, error) {
	swept.before = before
	var except []string
	for _, f := range swept.failed {
		except = append(except, f.id)
	}
	var t *traces // of the room that is continued; nobody joins an ended room
	var at, next position
	rows, err := s.transactRooms(ctx, swept, func(ctx context.Context) (rooms, rows int, err error) {
		t, at = nil, position{}
		ids, err := s.store.RoomsWithPeople(ctx, swept.projectID, before, except, min(batchRooms, s.batchRows))
		if err != nil {
			return 0, 0, err
		}
		for _, id := range ids {
			if rows >= s.batchRows {
				break
			}
			found, err := s.findEverybody(ctx, id)
			if err != nil {
				return 0, 0, failedRoom{id, err}
			}
			n, reached, err := s.erasePart(ctx, found, position{}, s.batchRows-rows, &Erased{})
			if err != nil {
				return 0, 0, failedRoom{id, err}
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
			if rows, next, err = s.erasePart(ctx, t, at, s.batchRows, &Erased{}); err != nil {
				return 0, 0, failedRoom{t.roomID, err}
			}
			if next.done {
				rooms = 1
			}
			return rooms, rows, nil
		})
		at = next
	}
	return rows, err
}
