package room_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/room"
)

// For random actions, and for reports that come late, twice or never, a room behaves
// like its model and its rows are consistent.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(t, rt, f)
		for range 3 {
			rt.Repeat(map[string]func(*rapid.T){
				"enter":          m.enter,
				"take a seat":    m.reserveSeat,
				"join":           m.join,
				"join elsewhere": m.joinElsewhere,
				"join again":     m.joinTwice,
				"reconnect":      m.reconnect,
				"leave":          m.leaveOne,
				"leave again":    m.leaveTwice,
				"vanish":         m.leaveUnreported,
				"wait":           m.wait,
				"wait long":      m.waitLong,
				"sweep":          m.sweep,
				"appear":         m.joinUnreported,
				"compare":        m.reconcile,
				"restart":        m.restart,
				"end":            m.stop,
				"":               m.check,
			})
		}
		for !m.over() {
			f.clock.advance(25 * time.Hour)
			m.sweep(rt)
			m.check(rt)
		}
	})
}

// model is the expected state of a room. Its methods act on the real room and compute
// the expected result.
type model struct {
	*fixture
	id string

	state      room.State
	reason     room.EndReason
	max        int
	empty      time.Duration
	created    time.Time
	start      time.Time // zero for a quick room
	opened     bool
	started    time.Time
	emptySince time.Time
	session    int
	live       bool
	seats      map[int]*modelSeat // by browser
	attendance []*modelAttendance
	unrecorded map[string]bool                // found only in the engine by the last reconciliation
	missing    map[*modelAttendance]time.Time // found only in the attendance by it, since when
	unreported int
}

type modelSeat struct {
	identity, session string // from the latest admission
	number            int    // of that session
	state             room.SeatState
	until             time.Time
	connection        string
	gone              bool // its row was deleted because it was never connected to
}

// unused reports whether no participant has ever connected with the seat.
func (s *modelSeat) unused() bool { return s.connection == "" && s.state != room.Joined }

// isHeld reports whether the seat is held for a connection.
func (s *modelSeat) isHeld(now time.Time) bool { return s.until.After(now) }

// modelAttendance is one connection from join to leave.
type modelAttendance struct {
	browser    int
	connection string
	from, to   time.Time
	reason     room.LeaveReason
}

func newModel(t *testing.T, rt *rapid.T, f *fixture) *model {
	q := room.Spec{MaxParticipants: rapid.IntRange(1, 4).Draw(rt, "max"),
		EmptyTimeout: time.Second *
			rapid.SampledFrom([]time.Duration{0, 1, 20, 299, 300, 301, 3600, 86400}).Draw(rt, "empty timeout")}
	m := &model{
		fixture: f,
		state:   room.Open,
		opened:  true,
		max:     q.MaxParticipants,
		created: f.clock.Now(),
		seats:   map[int]*modelSeat{},
	}
	if ahead := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Minute, 2 * time.Hour}).Draw(rt, "starts in"); ahead > 0 {
		m.start, m.state, m.opened = m.created.Add(ahead), room.Scheduled, false
		q.StartAt = m.start
	}
	m.id, _ = f.create(t, q)
	m.empty = cmp.Or(q.EmptyTimeout, 300*time.Second)
	return m
}

func (m *model) over() bool {
	return m.state == room.Ended || m.state == room.Expired || m.state == room.Cancelled
}

func (m *model) count(states ...room.SeatState) (n int) {
	for _, s := range m.seats {
		if slices.Contains(states, s.state) {
			n++
		}
	}
	return n
}

func (m *model) taken() int { return m.count(room.Reserved, room.Joined) }

// expectRelease releases the seats whose reservation has expired, unless their
// participant is connected.
func (m *model) expectRelease() {
	for n, s := range m.seats {
		if s.until.IsZero() || s.isHeld(m.clock.Now()) {
			continue
		}
		s.state, s.until = room.Free, time.Time{}
		for _, o := range m.byJoin() {
			if o.browser == n && isPresent(o) {
				s.state, s.connection = room.Joined, o.connection
			}
		}
		s.gone = s.gone || s.unused()
	}
}

// expectedState returns the room's state, given the time and the taken seats.
func (m *model) expectedState() (room.State, room.EndReason) {
	now, unused := m.clock.Now(), 0
	for _, s := range m.seats {
		if s.state == room.Reserved && s.unused() {
			unused++
		}
	}
	if unused > 0 {
		now = now.Add(-room.ConnectTimeout)
	}
	switch {
	case m.over():
	case m.state == room.Active && m.clock.Now().Sub(m.started) >= 24*time.Hour:
		return room.Ended, room.EndedDuration
	case m.taken() > unused:
	case m.state == room.Open && m.start.IsZero() && now.Sub(m.created) >= max(m.empty, room.QuickRoomMinWait):
		return room.Expired, ""
	case m.state == room.Open && !m.start.IsZero() && now.Sub(m.start) >= 24*time.Hour:
		return room.Expired, ""
	case m.state == room.Active && now.Sub(m.emptySince) >= m.empty:
		return room.Ended, room.EndedEmpty
	}
	return m.state, m.reason
}

// expectOpen models the transition that precedes every change of a room.
func (m *model) expectOpen() {
	if m.state == room.Scheduled && !m.clock.Now().Before(m.start) {
		m.state, m.opened = room.Open, true
	}
}

// expectTransitions models the transitions that follow every change of a room.
func (m *model) expectTransitions() {
	if m.over() {
		return
	}
	m.expectOpen()
	m.expectRelease()
	m.state, m.reason = m.expectedState()
	m.expectEnd()
}

// expectEnd models the effect of an end on participants.
func (m *model) expectEnd() {
	if m.over() {
		for _, s := range m.attendance {
			m.endAttendance(s, m.clock.Now(), room.LeftRoomOver)
		}
		for _, s := range m.seats {
			s.gone = s.gone || s.state == room.Reserved && s.unused()
			s.state, s.until = room.Free, time.Time{}
		}
	}
	if m.taken() == 0 {
		for _, s := range m.attendance {
			m.endAttendance(s, m.clock.Now(), room.LeftLost)
		}
		m.live = false
	}
}

// endAttendance models the end of a visit at a time, or at the end of the duration if that was earlier.
func (m *model) endAttendance(s *modelAttendance, at time.Time, reason room.LeaveReason) {
	if end := m.started.Add(24 * time.Hour); !m.started.IsZero() && end.Before(at) {
		at = end
	}
	if s.to.IsZero() {
		s.to, s.reason = at, reason
		if at.Before(s.from) {
			s.to = s.from
		}
	}
}
