package room_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"parley/internal/fault"
	"parley/internal/room"
)

func (m *model) reserveSeat(rt *rapid.T) { m.reserve(rt) }

// enter reserves a seat and joins at once.
func (m *model) enter(rt *rapid.T) {
	if n, ok := m.reserve(rt); ok {
		m.connect(rt, n)
	}
}

func (m *model) reserve(rt *rapid.T) (browser int, ok bool) {
	n := rapid.IntRange(0, 5).Draw(rt, "browser")
	before, seats := *m, map[int]modelSeat{}
	for i, s := range m.seats {
		seats[i] = *s
	}
	m.expectOpen()
	m.expectRelease()
	s, known := m.seats[n]
	if !known {
		s = &modelSeat{state: room.Free}
	}
	state, reason := m.expectedState()
	want := ""
	switch {
	case m.state == room.Scheduled:
		want = "room_not_open"
	case m.over() || state != m.state:
		want = "room_ended"
	case s.state == room.Free && m.taken() >= m.max:
		want = "room_full"
	}
	if p, err := m.Preview(context.Background(), m.id, guest(n)); err == nil && !p.Full && want == "room_full" {
		rt.Fatalf("preview of guest %d in a full room: got %+v, want Full", n, p)
	}
	events := m.read(rt).EventSequence
	a, err := m.ReserveSeat(context.Background(), m.id, guest(n))
	if want != "" {
		if f := fault.From(err); err == nil || f.Code != want ||
			want == "room_ended" && f.Reason != string(cmp.Or(string(reason), string(state))) {
			rt.Fatalf("got %v (%s), want %s", err, fault.From(err).Reason, want)
		}
		*m = before // a refusal changes nothing
		for i, s := range seats {
			*m.seats[i] = s
		}
		if m.read(rt).EventSequence > events {
			m.expectTransitions() // but to be noted, once in a while, for those who run the room
		}
		return n, false
	}
	if err != nil {
		rt.Fatal(err)
	}
	m.seats[n] = s
	s.gone = false
	if s.state != room.Joined {
		s.state = room.Reserved
	}
	switch now := m.clock.Now(); {
	case !s.unused():
		s.until = now.Add(room.RejoinTimeout)
	case s.until.Sub(now) < room.RenewalWindow:
		s.until = now.Add(room.ConnectTimeout)
	}
	if !m.live {
		m.session++
		m.live = true
	}
	s.identity, s.session, s.number = a.Seat.ID, a.SessionID, m.session
	if a.SessionID != room.SessionID(m.id, m.session) || !m.engine.isOpen(a.SessionID) || a.Seat.State != s.state {
		rt.Fatalf("admission: got session %s (open: %v), state %s, want session %s (open: true), state %s", a.SessionID,
			m.engine.isOpen(a.SessionID), a.Seat.State, room.SessionID(m.id, m.session), s.state)
	}
	m.expectTransitions()
	return n, true
}

// reportJoin reports a join.
func (m *model) reportJoin(rt *rapid.T, browser, number int, connection string) {
	now, identity := m.clock.Now(), m.seats[browser].identity
	welcome := m.expectJoin(browser, number, connection, now)
	m.ParticipantJoined(room.SessionID(m.id, number), identity, connection, now)
	if out := m.engine.drainRemoved(); welcome == slices.Contains(out, identity) || len(out) > 1 {
		rt.Fatalf("join of %s, authorized: %v: got %v removed, want only this participant, and only if not authorized",
			identity, welcome, out)
	}
}

// expectJoin computes the result of a join.
func (m *model) expectJoin(browser, number int, connection string, at time.Time) (welcome bool) {
	m.expectOpen()
	s := m.seats[browser]
	welcome = !m.over() && m.live && !s.gone && number == m.session && (s.state != room.Free || m.taken() < m.max)
	if welcome && m.takesOver(browser, connection) {
		latest := m.latest(browser)
		if latest != nil {
			earliest := latest.from
			if latest.to.After(earliest) {
				earliest = latest.to
			}
			if earliest.After(at) && (earliest.Sub(at) <= time.Minute || !earliest.After(m.clock.Now())) {
				at = earliest
			}
			m.endAttendance(latest, at, room.LeftReplaced)
		}
		m.attendance = append(m.attendance, &modelAttendance{browser: browser, connection: connection, from: at})
		s.state, s.connection, s.until = room.Joined, connection, time.Time{}
		m.emptySince = time.Time{}
		if m.state == room.Open {
			m.state, m.started = room.Active, at
		}
	}
	m.expectTransitions()
	return welcome
}

// latest returns the latest attendance of a browser, or nil.
func (m *model) latest(browser int) *modelAttendance {
	for _, o := range slices.Backward(m.attendance) {
		if o.browser == browser {
			return o
		}
	}
	return nil
}

// takesOver reports whether a connection is stored as the one of its seat: it is new, or the
// latest one that returns, and the engine does not have an earlier one that is stored.
func (m *model) takesOver(browser int, connection string) bool {
	sid, latest := engineConnectionID(connection), m.latest(browser)
	for _, o := range m.attendance {
		if o.browser == browser && engineConnectionID(o.connection) == sid {
			return sid != connection && o == latest && isGone(o)
		}
	}
	s := m.seats[browser]
	return latest == nil || isGone(latest) ||
		m.engine.Connection(room.SessionID(m.id, m.session), s.identity) != engineConnectionID(latest.connection)
}

// reportLeave reports a leave.
func (m *model) reportLeave(o *modelAttendance, at time.Time, reason room.LeaveReason) {
	s := m.seats[o.browser]
	m.ParticipantLeft(room.SessionID(m.id, max(s.number, 1)), s.identity, engineConnectionID(o.connection), at, reason)
	for _, other := range m.attendance { // it may have been taken for lost, and noted again
		if other.browser == o.browser && engineConnectionID(other.connection) == engineConnectionID(o.connection) {
			m.expectLeave(other, at, reason)
		}
	}
	m.expectTransitions()
}

// rejoinSeparator marks a connection that was found after its end was recorded.
const rejoinSeparator = "/"

// engineConnectionID returns the engine's id of a connection.
func engineConnectionID(connection string) string {
	sid, _, _ := strings.Cut(connection, rejoinSeparator)
	return sid
}

func (m *model) expectLeave(o *modelAttendance, at time.Time, reason room.LeaveReason) {
	if !o.to.IsZero() {
		return
	}
	m.endAttendance(o, at, reason)
	s := m.seats[o.browser]
	latest := s.connection == o.connection
	for _, other := range m.byJoin() {
		if latest && other.browser == o.browser && other.to.IsZero() {
			s.state, s.connection = room.Joined, other.connection
		}
	}
	if latest && s.connection == o.connection {
		now := m.clock.Now()
		switch wait := now.Add(room.ReconnectTimeout); {
		case reason == room.LeftRemoved:
			s.until = time.Time{}
		case reason == room.LeftServer:
			s.until = now.Add(room.RejoinTimeout)
		case reason != room.LeftByChoice && !s.until.After(wait):
			s.until = wait
		}
		if s.state = room.Reserved; !s.isHeld(now) {
			s.state, s.until = room.Free, time.Time{}
		}
	}
	if m.count(room.Joined) == 0 && m.emptySince.IsZero() {
		m.emptySince = o.to
	}
}

// byJoin returns the attendance in the order of joining, like the service.
func (m *model) byJoin() []*modelAttendance {
	return slices.SortedStableFunc(slices.Values(m.attendance),
		func(a, b *modelAttendance) int { return a.from.Compare(b.from) })
}

func (m *model) draw(rt *rapid.T, among func(*modelAttendance) bool) *modelAttendance {
	var fit []*modelAttendance
	for _, o := range m.attendance {
		if among(o) {
			fit = append(fit, o)
		}
	}
	if len(fit) == 0 {
		rt.Skip("nobody")
	}
	return rapid.SampledFrom(fit).Draw(rt, "stay")
}

func isPresent(o *modelAttendance) bool { return o.to.IsZero() }
func isGone(o *modelAttendance) bool    { return !o.to.IsZero() }

func (m *model) browser(rt *rapid.T) (int, *modelSeat) {
	if len(m.seats) == 0 {
		rt.Skip("nobody has a seat")
	}
	n := rapid.SampledFrom(slices.Sorted(maps.Keys(m.seats))).Draw(rt, "browser")
	return n, m.seats[n]
}

func (m *model) connection() string { return fmt.Sprint("PA_", len(m.attendance)) }

// join connects with the latest access token, whose session may be over.
func (m *model) join(rt *rapid.T) {
	n, _ := m.browser(rt)
	m.connect(rt, n)
}

func (m *model) connect(rt *rapid.T, n int) {
	s := m.seats[n]
	connection := m.connection()
	m.engine.connect(s.session, s.identity, connection, m.clock.Now())
	m.reportJoin(rt, n, s.number, connection)
}

// joinElsewhere reports a join of a session that is usually not the latest.
func (m *model) joinElsewhere(rt *rapid.T) {
	n, _ := m.browser(rt)
	m.reportJoin(rt, n, rapid.IntRange(1, m.session+1).Draw(rt, "session"), m.connection())
}

// joinTwice reports a join a second time.
func (m *model) joinTwice(rt *rapid.T) {
	o := m.draw(rt, func(*modelAttendance) bool { return true })
	m.reportJoin(rt, o.browser, m.session, engineConnectionID(o.connection))
}

// reconnect makes a second connection of a participant, which ends the first. The
// engine may report either first.
func (m *model) reconnect(rt *rapid.T) {
	o := m.draw(rt, isPresent)
	s := m.seats[o.browser]
	connection := m.connection()
	m.engine.connect(s.session, s.identity, connection, m.clock.Now())
	if rapid.Bool().Draw(rt, "the old one first") {
		m.reportLeave(o, m.clock.Now(), room.LeftReplaced)
		m.reportJoin(rt, o.browser, s.number, connection)
	} else {
		m.reportJoin(rt, o.browser, s.number, connection)
		m.reportLeave(o, m.clock.Now(), room.LeftReplaced)
	}
}

func (m *model) leaveOne(rt *rapid.T) {
	o := m.draw(rt, isPresent)
	reason := rapid.SampledFrom([]room.LeaveReason{room.LeftByChoice, room.LeftLost, room.LeftReplaced, room.LeftRemoved,
		room.LeftRoomOver, room.LeftServer}).Draw(rt, "reason")
	m.disconnectSilently(o)
	m.reportLeave(o, m.clock.Now(), reason)
}

// leaveTwice reports a leave a second time.
func (m *model) leaveTwice(rt *rapid.T) {
	m.reportLeave(m.draw(rt, isGone), m.clock.Now(), room.LeftByChoice)
}

// leaveUnreported is a leave that the engine does not report.
func (m *model) leaveUnreported(rt *rapid.T) { m.disconnectSilently(m.draw(rt, isPresent)) }

// joinUnreported is a join that the engine does not report.
func (m *model) joinUnreported(rt *rapid.T) {
	_, s := m.browser(rt)
	m.unreported++
	m.engine.connect(s.session, s.identity, fmt.Sprintf("PA_%s_%d", m.id, m.unreported), m.clock.Now())
}

func (m *model) disconnectSilently(o *modelAttendance) {
	s := m.seats[o.browser]
	there, err := m.engine.Participants(context.Background(), s.session)
	if err == nil && slices.ContainsFunc(there,
		func(p room.Participant) bool { return p.SID == engineConnectionID(o.connection) }) {
		m.engine.disconnect(s.session, s.identity)
	}
}

func (m *model) wait(rt *rapid.T) {
	m.clock.advance(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 29 * time.Second, 30 * time.Second,
		31 * time.Second, time.Minute}).Draw(rt, "for"))
}

func (m *model) waitLong(rt *rapid.T) {
	skipMostly(rt)
	m.clock.advance(rapid.SampledFrom([]time.Duration{299 * time.Second, 300 * time.Second, time.Hour,
		12 * time.Hour}).Draw(rt, "for"))
}

// skipMostly skips most calls of an action that would otherwise end most rooms early.
func skipMostly(rt *rapid.T) {
	if rapid.IntRange(0, 4).Draw(rt, "not now") > 0 {
		rt.Skip("seldom")
	}
}

func (m *model) sweep(rt *rapid.T) {
	m.Sweep(context.Background())
	m.expectTransitions()
	if r := m.read(rt); r.Over() != r.DueAt.IsZero() || !r.DueAt.IsZero() && !r.DueAt.After(m.clock.Now()) {
		rt.Fatalf("sweep at %s: got state %s and DueAt %s, want a later DueAt, or none if the room is over", m.clock.Now(),
			r.State, r.DueAt)
	}
	closing, err := m.db.Sessions(context.Background(), room.SessionClosing)
	if err != nil || len(closing) > 0 {
		rt.Fatalf("sessions that wait to be closed after a sweep: got %v, error %v, want none", closing, err)
	}
	if open := m.engine.isOpen(room.SessionID(m.id, m.session)); open != m.live {
		rt.Fatalf("session %d is open: got %v, want %v", m.session, open, m.live)
	}
}

// reconcile finds unreported joins and leaves.
func (m *model) reconcile(rt *rapid.T) {
	ctx := context.Background()
	var there []room.Participant
	if m.live {
		var err error
		if there, err = m.engine.Participants(ctx, room.SessionID(m.id, m.session)); err != nil {
			rt.Fatal(err)
		}
	}
	in := func(connection string) bool {
		return slices.ContainsFunc(there, func(p room.Participant) bool { return p.SID == engineConnectionID(connection) })
	}
	known, doubted := map[string]bool{}, m.unrecorded
	for _, o := range m.attendance {
		known[engineConnectionID(o.connection)] = known[engineConnectionID(o.connection)] || isPresent(o)
	}
	m.unrecorded = map[string]bool{}
	missed := m.missing
	m.missing = map[*modelAttendance]time.Time{}
	live := m.live
	m.Reconcile(ctx)
	if !live {
		return
	}
	for _, p := range there {
		for n, s := range m.seats {
			if s.identity != p.Identity || known[p.SID] {
				continue
			}
			m.unrecorded[p.SID] = true
			if doubted[p.SID] {
				m.expectRejoin(n, p.SID)
			} else {
				m.expectJoin(n, m.session, p.SID, p.JoinedAt)
			}
		}
	}
	for _, o := range m.byJoin() {
		if !isPresent(o) || in(o.connection) {
			continue
		}
		since, again := missed[o]
		if again && m.clock.Now().Sub(since) >= room.RecheckDelay {
			m.expectLeave(o, since, room.LeftLost)
			m.expectTransitions()
			continue
		}
		if m.missing[o] = m.clock.Now(); again {
			m.missing[o] = since
		}
	}
	m.engine.drainRemoved()
}

// expectRejoin expects a second attendance row for one connection.
func (m *model) expectRejoin(browser int, sid string) {
	number := 0
	for _, o := range m.attendance {
		if engineConnectionID(o.connection) == sid {
			number++
		}
	}
	m.expectJoin(browser, m.session, fmt.Sprint(sid, rejoinSeparator, number), m.clock.Now())
}

// restart simulates a crash some seconds after the last heartbeat, and a start some
// time later.
func (m *model) restart(rt *rapid.T) {
	ctx := context.Background()
	alive := m.clock.Now().Add(-rapid.SampledFrom([]time.Duration{0, 3 * time.Second}).Draw(rt, "last alive"))
	if err := m.db.Write(ctx, func(ctx context.Context) error {
		return m.db.RecordHeartbeat(ctx, room.Node{ID: m.NodeID(), LastAlive: alive})
	}); err != nil {
		rt.Fatal(err)
	}
	m.clock.advance(rapid.SampledFrom([]time.Duration{0, 4 * time.Second, time.Hour}).Draw(rt, "down for"))
	m.fixture.restart()
	m.unrecorded, m.missing = nil, nil
	if err := m.Recover(ctx); err != nil {
		rt.Fatal(err)
	}
	if m.live {
		for _, o := range m.byJoin() {
			m.expectLeave(o, alive, room.LeftServer)
		}
		m.expectTransitions()
	}
}

// stop ends the room, or cancels it if it has not opened.
func (m *model) stop(rt *rapid.T) {
	skipMostly(rt)
	reason := rapid.SampledFrom([]room.EndReason{"api", "host"}).Draw(rt, "by")
	out, err := m.End(context.Background(), m.id, reason)
	if m.over() {
		if f := fault.From(err); f.Kind != fault.Conflict || f.Code != "room_over" {
			rt.Fatalf("end of a room that is over: got error %v, want a Conflict with code room_over", err)
		}
		return
	}
	if err != nil || out != m.count(room.Joined) {
		rt.Fatalf("got %d disconnected, want %d, %v", out, m.count(room.Joined), err)
	}
	m.expectOpen()
	if m.state == room.Scheduled {
		m.state = room.Cancelled
	} else {
		m.state, m.reason = room.Ended, reason
	}
	m.expectEnd()
}
