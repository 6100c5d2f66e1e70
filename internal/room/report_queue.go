package room

import (
	"context"
	"slices"
	"sync"
	"time"

	"parley/internal/fault"
)

// maxPendingReports is the maximum number of reports that wait for an unavailable
// database. Reports beyond it are dropped; the next reconciliation makes up for
// them.
const maxPendingReports = 10_000

// report is a report of the media engine that a connection was made or ended.
type report struct {
	session, identity, connection string

	at     time.Time
	reason LeaveReason // empty for a join
}

// reportQueue holds the reports that could not be stored yet, in order. Without it
// the next reconciliation would still find the joins and leaves, but not their
// times and reasons. The zero value is ready to use.
type reportQueue struct {
	mu    sync.Mutex
	queue []report
}

// appendIfPending appends a report if an earlier report of the same participant is
// pending, and reports whether that is so. It drops a second join or leave of the
// same connection, because reconciliation produces one with a less exact time.
func (q *reportQueue) appendIfPending(r report) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	pending, duplicate := false, false
	for _, other := range q.queue {
		pending = pending || other.identity == r.identity
		duplicate = duplicate || other.session == r.session && other.connection == r.connection &&
			(other.reason == "") == (r.reason == "")
	}
	if pending && !duplicate {
		q.queue = append(q.queue, r)
	}
	return pending
}

func (q *reportQueue) push(r report) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) < maxPendingReports {
		q.queue = append(q.queue, r)
	}
}

// hasPending reports whether a report about a participant is pending.
func (q *reportQueue) hasPending(identity string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.queue, func(r report) bool { return r.identity == identity })
}

func (q *reportQueue) peek() (report, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return report{}, false
	}
	return q.queue[0], true
}

// pop removes the first report.
func (q *reportQueue) pop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = slices.Delete(q.queue, 0, 1)
}

// ParticipantJoined stores that a participant connected. It removes a participant
// whose seat is gone while the room is full or over.
func (s *Presence) ParticipantJoined(session, identity, connection string, at time.Time) {
	s.receive(report{session: session, identity: identity, connection: connection, at: at})
}

// ParticipantLeft stores that a connection ended.
func (s *Presence) ParticipantLeft(session, identity, connection string, at time.Time, reason LeaveReason) {
	s.receive(report{
		session:    session,
		identity:   identity,
		connection: connection,
		at:         at,
		reason:     reason,
	})
}

func (s *Presence) receive(r report) {
	if s.reportQueue.appendIfPending(r) {
		return
	}
	if err := s.writeReport(context.Background(), r); fault.Is(err, fault.Unavailable) {
		s.reportQueue.push(r)
	}
}

// flushReports stores the pending reports. If the database is unavailable, it returns that error, and the reports stay.
func (s *Presence) flushReports(ctx context.Context) error {
	for {
		r, ok := s.reportQueue.peek()
		if !ok {
			return nil
		}
		if err := s.writeReport(ctx, r); fault.Is(err, fault.Unavailable) {
			return err
		}
		s.reportQueue.pop()
	}
}

// writeReport stores a report, and logs why it could not.
func (s *Presence) writeReport(ctx context.Context, r report) error {
	err, operation := error(nil), "record join"
	if r.reason == "" {
		err = s.recordJoin(ctx, r.session, r.identity, r.connection, r.at)
	} else {
		err, operation = s.recordLeave(ctx, r.session, r.identity, r.connection, r.at, r.reason), "record leave"
	}
	switch {
	case fault.Is(err, fault.Unavailable):
		s.log.Warn(operation+" failed, will retry", "session", r.session, "identity", r.identity, "error", err)
	case err != nil:
		s.log.Error(operation+" failed", "session", r.session, "identity", r.identity, "error", err)
	}
	return err
}
