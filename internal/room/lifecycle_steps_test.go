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

func (m *model) takeSeat(rt *rapid.T) { m.take(rt) }

// enter takes a seat and joins at once, as most people do.
func (m *model) enter(rt *rapid.T) {
	if n, ok := m.take(rt); ok {
		m.connect(rt, n)
	}
}

func (m *model) take(rt *rapid.T) (browser int, ok bool) {
	n := rapid.IntRange(0, 5).Draw(rt, "browser")
	before, seats := *m, map[int]seat{}
	for i, s := range m.seats {
		seats[i] = *s
	}
	m.open()
	m.release()
	s, known := m.seats[n]
	if !known {
		s = &seat{state: room.Free}
	}
	state, reason := m.fate()
	want := ""
	switch {
	case m.state == room.Scheduled:
		want = "room_not_open"
	case m.over() || state != m.state:
		want = "room_ended"
	case s.state == room.Free && m.taken() >= m.max:
		want = "room_full"
	}
	events := m.read(rt).EventSequence
	a, err := m.TakeSeat(context.Background(), m.id, guest(n))
	if want != "" {
		if f := fault.From(err); err == nil || f.Code != want || want == "room_ended" && f.Reason != string(cmp.Or(string(reason), string(state))) {
			rt.Fatalf("got %v (%s), want %s", err, fault.From(err).Reason, want)
		}
		*m = before // a refusal changes nothing
		for i, s := range seats {
			*m.seats[i] = s
		}
		if m.read(rt).EventSequence > events {
			m.settle() // but to be noted, once in a while, for those who run the room
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
		s.until = now.Add(room.ReserveFor)
	case s.until.Sub(now) < room.RenewBefore:
		s.until = now.Add(room.ConnectWithin)
	}
	if !m.live {
		m.session++
		m.live = true
	}
	s.identity, s.session, s.number = a.Seat.ID, a.SessionID, m.session
	if a.SessionID != room.SessionID(m.id, m.session) || !m.engine.open(a.SessionID) || a.Seat.State != s.state {
		rt.Fatalf("admitted to %s as %s", a.SessionID, a.Seat.State)
	}
	m.settle()
	return n, true
}

// report has the engine tell of a join.
func (m *model) report(rt *rapid.T, browser, number int, connection string) {
	now, identity := m.clock.Now(), m.seats[browser].identity
	welcome := m.joined(browser, number, connection, now)
	m.ParticipantJoined(room.SessionID(m.id, number), identity, connection, now)
	if out := m.engine.tookOut(); welcome == slices.Contains(out, identity) || len(out) > 1 {
		rt.Fatalf("welcome %v, taken out %v", welcome, out)
	}
}

// joined works out what comes of a join.
func (m *model) joined(browser, number int, connection string, at time.Time) (welcome bool) {
	m.open()
	s := m.seats[browser]
	welcome = !m.over() && m.live && !s.gone && number == m.session && (s.state != room.Free || m.taken() < m.max)
	if welcome && !slices.ContainsFunc(m.stays, func(o *stay) bool { return o.browser == browser && o.connection == connection }) {
		m.stays = append(m.stays, &stay{browser: browser, connection: connection, from: at})
		s.state, s.connection, s.until = room.Joined, connection, time.Time{}
		m.emptySince = time.Time{}
		if m.state == room.Open {
			m.state, m.started = room.Active, at
		}
	}
	m.settle()
	return welcome
}

// depart has the engine tell of a leave.
func (m *model) depart(o *stay, at time.Time, reason room.LeaveReason) {
	s := m.seats[o.browser]
	m.ParticipantLeft(room.SessionID(m.id, max(s.number, 1)), s.identity, ofEngine(o.connection), at, reason)
	for _, other := range m.stays { // it may have been taken for lost, and noted again
		if other.browser == o.browser && ofEngine(other.connection) == ofEngine(o.connection) {
			m.departed(other, at, reason)
		}
	}
	m.settle()
}

// again is the mark of a connection that was found after its end was noted.
const again = "/"

// ofEngine is how the engine knows a connection.
func ofEngine(connection string) string {
	sid, _, _ := strings.Cut(connection, again)
	return sid
}

func (m *model) departed(o *stay, at time.Time, reason room.LeaveReason) {
	if !o.to.IsZero() {
		return
	}
	m.end(o, at, reason)
	s := m.seats[o.browser]
	latest := s.connection == o.connection
	for _, other := range m.byJoin() {
		if latest && other.browser == o.browser && other.to.IsZero() {
			s.state, s.connection = room.Joined, other.connection
		}
	}
	if latest && s.connection == o.connection {
		now := m.clock.Now()
		switch wait := now.Add(room.ReturnWithin); {
		case reason == room.LeftRemoved:
			s.until = time.Time{}
		case reason == room.LeftServer:
			s.until = now.Add(room.ReserveFor)
		case reason != room.LeftByChoice && !s.until.After(wait):
			s.until = wait
		}
		if s.state = room.Reserved; !s.holds(now) {
			s.state, s.until = room.Free, time.Time{}
		}
	}
	if m.count(room.Joined) == 0 && m.emptySince.IsZero() {
		m.emptySince = o.to
	}
}

// byJoin is the order in which the service goes through those who are in.
func (m *model) byJoin() []*stay {
	return slices.SortedStableFunc(slices.Values(m.stays), func(a, b *stay) int { return a.from.Compare(b.from) })
}

func (m *model) draw(rt *rapid.T, among func(*stay) bool) *stay {
	var fit []*stay
	for _, o := range m.stays {
		if among(o) {
			fit = append(fit, o)
		}
	}
	if len(fit) == 0 {
		rt.Skip("nobody")
	}
	return rapid.SampledFrom(fit).Draw(rt, "stay")
}

func present(o *stay) bool { return o.to.IsZero() }
func gone(o *stay) bool    { return !o.to.IsZero() }

func (m *model) browser(rt *rapid.T) (int, *seat) {
	if len(m.seats) == 0 {
		rt.Skip("nobody has a seat")
	}
	n := rapid.SampledFrom(slices.Sorted(maps.Keys(m.seats))).Draw(rt, "browser")
	return n, m.seats[n]
}

func (m *model) connection() string { return fmt.Sprint("PA_", len(m.stays)) }

// join connects with the latest pass; its session may be over by now.
func (m *model) join(rt *rapid.T) {
	n, _ := m.browser(rt)
	m.connect(rt, n)
}

func (m *model) connect(rt *rapid.T, n int) {
	s := m.seats[n]
	connection := m.connection()
	m.engine.put(s.session, s.identity, connection, m.clock.Now())
	m.report(rt, n, s.number, connection)
}

// joinElsewhere is a report from a session that is mostly not the latest.
func (m *model) joinElsewhere(rt *rapid.T) {
	n, _ := m.browser(rt)
	m.report(rt, n, rapid.IntRange(1, m.session+1).Draw(rt, "session"), m.connection())
}

// joinAgain is a report that comes twice.
func (m *model) joinAgain(rt *rapid.T) {
	o := m.draw(rt, func(*stay) bool { return true })
	m.report(rt, o.browser, m.session, ofEngine(o.connection))
}

// reconnect is a second connection of somebody who is in, which ends the first;
// the engine may tell of either first.
func (m *model) reconnect(rt *rapid.T) {
	o := m.draw(rt, present)
	s := m.seats[o.browser]
	connection := m.connection()
	m.engine.put(s.session, s.identity, connection, m.clock.Now())
	if rapid.Bool().Draw(rt, "the old one first") {
		m.depart(o, m.clock.Now(), room.LeftReplaced)
		m.report(rt, o.browser, s.number, connection)
	} else {
		m.report(rt, o.browser, s.number, connection)
		m.depart(o, m.clock.Now(), room.LeftReplaced)
	}
}

func (m *model) leaveOne(rt *rapid.T) {
	o := m.draw(rt, present)
	reason := rapid.SampledFrom([]room.LeaveReason{room.LeftByChoice, room.LeftLost, room.LeftReplaced, room.LeftRemoved, room.LeftRoomOver, room.LeftServer}).Draw(rt, "reason")
	m.forget(o)
	m.depart(o, m.clock.Now(), reason)
}

// leaveAgain tells once more of somebody who has left.
func (m *model) leaveAgain(rt *rapid.T) {
	m.depart(m.draw(rt, gone), m.clock.Now(), room.LeftByChoice)
}

// vanish is a leave that the engine never tells of.
func (m *model) vanish(rt *rapid.T) { m.forget(m.draw(rt, present)) }

// appear is a join that the engine does not tell of by itself.
func (m *model) appear(rt *rapid.T) {
	_, s := m.browser(rt)
	m.unheard++
	m.engine.put(s.session, s.identity, fmt.Sprintf("PA_%s_%d", m.id, m.unheard), m.clock.Now())
}

func (m *model) forget(o *stay) {
	s := m.seats[o.browser]
	there, err := m.engine.Participants(context.Background(), s.session)
	if err == nil && slices.ContainsFunc(there, func(p room.Present) bool { return p.SID == ofEngine(o.connection) }) {
		m.engine.drop(s.session, s.identity)
	}
}

func (m *model) wait(rt *rapid.T) {
	m.clock.pass(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 29 * time.Second, 30 * time.Second, 31 * time.Second, time.Minute}).Draw(rt, "for"))
}

func (m *model) waitLong(rt *rapid.T) {
	seldom(rt)
	m.clock.pass(rapid.SampledFrom([]time.Duration{299 * time.Second, 300 * time.Second, time.Hour, 12 * time.Hour}).Draw(rt, "for"))
}

// seldom skips what would end most rooms before anything has happened.
func seldom(rt *rapid.T) {
	if rapid.IntRange(0, 4).Draw(rt, "not now") > 0 {
		rt.Skip("seldom")
	}
}

func (m *model) sweep(rt *rapid.T) {
	m.Sweep(context.Background())
	m.settle()
	if r := m.read(rt); r.Over() != r.DueAt.IsZero() || !r.DueAt.IsZero() && !r.DueAt.After(m.clock.Now()) {
		rt.Fatalf("%s, and due at %s, now is %s", r.State, r.DueAt, m.clock.Now())
	}
	closing, err := m.db.Sessions(context.Background(), room.SessionClosing)
	if err != nil || len(closing) > 0 {
		rt.Fatalf("after a sweep sessions wait to be closed: %v %v", closing, err)
	}
	if open := m.engine.open(room.SessionID(m.id, m.session)); open != m.live {
		rt.Fatalf("the session is open: %v, should be: %v", open, m.live)
	}
}

// compare finds who has vanished, or come, without a word.
func (m *model) compare(rt *rapid.T) {
	ctx := context.Background()
	var there []room.Present
	if m.live {
		var err error
		if there, err = m.engine.Participants(ctx, room.SessionID(m.id, m.session)); err != nil {
			rt.Fatal(err)
		}
	}
	in := func(connection string) bool {
		return slices.ContainsFunc(there, func(p room.Present) bool { return p.SID == ofEngine(connection) })
	}
	known, doubted := map[string]bool{}, m.doubted
	for _, o := range m.stays {
		known[ofEngine(o.connection)] = known[ofEngine(o.connection)] || present(o)
	}
	m.doubted = map[string]bool{}
	live := m.live
	m.Reconcile(ctx)
	if !live {
		return
	}
	for _, o := range m.byJoin() {
		if present(o) && !in(o.connection) {
			m.departed(o, m.clock.Now(), room.LeftLost)
			m.settle()
		}
	}
	for _, p := range there {
		for n, s := range m.seats {
			if s.identity != p.Identity || known[p.SID] {
				continue
			}
			m.doubted[p.SID] = true
			if doubted[p.SID] {
				m.joinedAgain(n, p.SID)
			} else {
				m.joined(n, m.session, p.SID, p.JoinedAt)
			}
		}
	}
	m.engine.tookOut()
}

// joinedAgain is the ledger's second row for one connection.
func (m *model) joinedAgain(browser int, sid string) {
	number := 0
	for _, o := range m.stays {
		if ofEngine(o.connection) == sid {
			number++
		}
	}
	m.joined(browser, m.session, fmt.Sprint(sid, again, number), m.clock.Now())
}

// restart is a crash, some seconds after the service was last known to run,
// and a start some time later.
func (m *model) restart(rt *rapid.T) {
	ctx := context.Background()
	alive := m.clock.Now().Add(-rapid.SampledFrom([]time.Duration{0, 3 * time.Second}).Draw(rt, "last alive"))
	if err := m.db.Write(ctx, func(ctx context.Context) error { return m.db.Beat(ctx, m.Node(), alive) }); err != nil {
		rt.Fatal(err)
	}
	m.clock.pass(rapid.SampledFrom([]time.Duration{0, 4 * time.Second, time.Hour}).Draw(rt, "down for"))
	m.house.restart()
	m.doubted = nil
	if err := m.Recover(ctx); err != nil {
		rt.Fatal(err)
	}
	if m.live {
		for _, o := range m.byJoin() {
			m.departed(o, alive, room.LeftServer)
		}
		m.settle()
	}
}

// stop ends the room by hand; one that has not opened is cancelled.
func (m *model) stop(rt *rapid.T) {
	seldom(rt)
	reason := rapid.SampledFrom([]room.EndReason{"api", "host"}).Draw(rt, "by")
	out, err := m.End(context.Background(), m.id, reason)
	if m.over() {
		if f := fault.From(err); f.Kind != fault.Conflict || f.Code != "room_over" {
			rt.Fatalf("an end after the end: %v", err)
		}
		return
	}
	if err != nil || out != m.count(room.Joined) {
		rt.Fatalf("%d sent out of %d, %v", out, m.count(room.Joined), err)
	}
	m.open()
	if m.state == room.Scheduled {
		m.state = room.Cancelled
	} else {
		m.state, m.reason = room.Ended, reason
	}
	m.afterwards()
}
