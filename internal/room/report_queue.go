package room

import (
	"slices"
	"sync"
	"time"

	"parley/internal/fault"
)

// maxPendingReports bounds the reports that wait for a database that does not answer.
// What is beyond it is found by the next look.
const maxPendingReports = 10_000

// report is what the media engine says of a connection: that somebody joined,
// or, with a reason, that they left.
type report struct {
	session, identity, connection string

	at     time.Time
	reason LeaveReason
}

// reportQueue are those that could not be written down yet, in order. Without them
// the next look would still find who came and went, but not when and why.
type reportQueue struct {
	mu    sync.Mutex
	queue []report
}

// appendIfPending keeps a report if an earlier one of the same connection still waits.
// What a look makes of the same silence is known already, and better.
func (k *reportQueue) appendIfPending(r report) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	same := func(other report) bool { return other.session == r.session && other.connection == r.connection }
	if !slices.ContainsFunc(k.queue, same) {
		return false
	}
	if !slices.ContainsFunc(k.queue, func(other report) bool { return same(other) && (other.reason == "") == (r.reason == "") }) {
		k.queue = append(k.queue, r)
	}
	return true
}

func (k *reportQueue) push(r report) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.queue) < maxPendingReports {
		k.queue = append(k.queue, r)
	}
}

// hasPending reports whether something that was said of a seat's holder waits.
func (k *reportQueue) hasPending(identity string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(k.queue, func(r report) bool { return r.identity == identity })
}

func (k *reportQueue) peek() (report, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.queue) == 0 {
		return report{}, false
	}
	return k.queue[0], true
}

// pop takes the first one off.
func (k *reportQueue) pop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queue = slices.Delete(k.queue, 0, 1)
}

// ParticipantJoined implements MediaObserver. Somebody whose seat is gone, in
// a room that is full by now or over, is taken out again.
func (s *Service) ParticipantJoined(session, identity, connection string, at time.Time) {
	s.receive(report{session: session, identity: identity, connection: connection, at: at})
}

// ParticipantLeft implements MediaObserver.
func (s *Service) ParticipantLeft(session, identity, connection string, at time.Time, reason LeaveReason) {
	s.receive(report{session: session, identity: identity, connection: connection, at: at, reason: reason})
}

func (s *Service) receive(r report) {
	if s.reportQueue.appendIfPending(r) {
		return
	}
	if err := s.writeReport(r); fault.Is(err, fault.Unavailable) {
		s.reportQueue.push(r)
	}
}

// flushReports writes down what was kept, until that fails again.
func (s *Service) flushReports() {
	for {
		r, ok := s.reportQueue.peek()
		if !ok {
			return
		}
		if err := s.writeReport(r); fault.Is(err, fault.Unavailable) {
			return
		}
		s.reportQueue.pop()
	}
}

func (s *Service) writeReport(r report) error {
	err, what := error(nil), "a join"
	if r.reason == "" {
		err = s.recordJoin(r.session, r.identity, r.connection, r.at)
	} else {
		err, what = s.recordLeave(r.session, r.identity, r.connection, r.at, r.reason), "a leave"
	}
	switch {
	case fault.Is(err, fault.Unavailable):
		s.log.Warn(what+" could not be written down yet", "session", r.session, "identity", r.identity, "error", err)
	case err != nil:
		s.log.Error(what+" could not be written down", "session", r.session, "identity", r.identity, "error", err)
	}
	return err
}
