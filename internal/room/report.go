package room

import (
	"slices"
	"sync"
	"time"

	"parley/internal/fault"
)

// keepAtMost bounds the reports that wait for a database that does not answer.
// What is beyond it is found by the next look.
const keepAtMost = 10_000

// report is what the media engine says of a connection: that somebody joined,
// or, with a reason, that they left.
type report struct {
	session, identity, connection string

	at     time.Time
	reason LeaveReason
}

// reports are those that could not be written down yet, in order. Without them
// the next look would still find who came and went, but not when and why.
type reports struct {
	mu   sync.Mutex
	kept []report
}

// behind keeps a report if an earlier one of the same connection still waits.
// What a look makes of the same silence is known already, and better.
func (k *reports) behind(r report) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	same := func(other report) bool { return other.session == r.session && other.connection == r.connection }
	if !slices.ContainsFunc(k.kept, same) {
		return false
	}
	if !slices.ContainsFunc(k.kept, func(other report) bool { return same(other) && (other.reason == "") == (r.reason == "") }) {
		k.kept = append(k.kept, r)
	}
	return true
}

func (k *reports) keep(r report) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) < keepAtMost {
		k.kept = append(k.kept, r)
	}
}

// waits reports whether something that was said of a seat's holder waits.
func (k *reports) waits(identity string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(k.kept, func(r report) bool { return r.identity == identity })
}

func (k *reports) first() (report, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) == 0 {
		return report{}, false
	}
	return k.kept[0], true
}

// written takes the first one off.
func (k *reports) written() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = slices.Delete(k.kept, 0, 1)
}

// ParticipantJoined implements MediaObserver. Somebody whose seat is gone, in
// a room that is full by now or over, is taken out again.
func (s *Service) ParticipantJoined(session, identity, connection string, at time.Time) {
	s.hear(report{session: session, identity: identity, connection: connection, at: at})
}

// ParticipantLeft implements MediaObserver.
func (s *Service) ParticipantLeft(session, identity, connection string, at time.Time, reason LeaveReason) {
	s.hear(report{session: session, identity: identity, connection: connection, at: at, reason: reason})
}

func (s *Service) hear(r report) {
	if s.reports.behind(r) {
		return
	}
	if err := s.writeDown(r); fault.Is(err, fault.Unavailable) {
		s.reports.keep(r)
	}
}

// catchUp writes down what was kept, until that fails again.
func (s *Service) catchUp() {
	for {
		r, ok := s.reports.first()
		if !ok {
			return
		}
		if err := s.writeDown(r); fault.Is(err, fault.Unavailable) {
			return
		}
		s.reports.written()
	}
}

func (s *Service) writeDown(r report) error {
	err, what := error(nil), "a join"
	if r.reason == "" {
		err = s.joined(r.session, r.identity, r.connection, r.at)
	} else {
		err, what = s.left(r.session, r.identity, r.connection, r.at, r.reason), "a leave"
	}
	switch {
	case fault.Is(err, fault.Unavailable):
		s.log.Warn(what+" could not be written down yet", "session", r.session, "identity", r.identity, "error", err)
	case err != nil:
		s.log.Error(what+" could not be written down", "session", r.session, "identity", r.identity, "error", err)
	}
	return err
}
