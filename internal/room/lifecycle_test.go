package room_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
)

// Whatever people do, and however late, often or never the engine tells of it,
// a room lives as its model says, and what is written down adds up.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(t, rt, h)
		for range 3 {
			rt.Repeat(map[string]func(*rapid.T){
				"enter":          m.enter,
				"take a seat":    m.takeSeat,
				"join":           m.join,
				"join elsewhere": m.joinElsewhere,
				"join again":     m.joinAgain,
				"reconnect":      m.reconnect,
				"leave":          m.leaveOne,
				"leave again":    m.leaveAgain,
				"vanish":         m.vanish,
				"wait":           m.wait,
				"wait long":      m.waitLong,
				"sweep":          m.sweep,
				"appear":         m.appear,
				"compare":        m.compare,
				"restart":        m.restart,
				"end":            m.stop,
				"":               m.check,
			})
		}
		for !m.over() {
			h.clock.pass(25 * time.Hour)
			m.sweep(rt)
			m.check(rt)
		}
	})
}

// model is what a room should be. Its methods do something to the real room
// and work out what should have come of it.
type model struct {
	*house
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
	seats      map[int]*seat // by browser
	stays      []*stay
	doubted    map[string]bool // found by the last comparison, and not in the rows
	unheard    int
}

type seat struct {
	identity, session string // from the latest admission
	number            int    // of that session
	state             room.SeatState
	until             time.Time
	connection        string
}

// holds is whether somebody is waited for.
func (s *seat) holds(now time.Time) bool { return s.until.After(now) }

// stay is one connection from join to leave.
type stay struct {
	browser    int
	connection string
	from, to   time.Time
	reason     room.LeaveReason
}

func newModel(t *testing.T, rt *rapid.T, h *house) *model {
	q := room.Request{MaxParticipants: rapid.IntRange(1, 4).Draw(rt, "max"), EmptyTimeout: rapid.SampledFrom([]int{0, 1, 20, 299, 300, 301, 3600, 86400}).Draw(rt, "empty timeout")}
	m := &model{house: h, state: room.Open, opened: true, max: q.MaxParticipants, created: h.clock.Now(), seats: map[int]*seat{}}
	if ahead := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Minute, 2 * time.Hour}).Draw(rt, "starts in"); ahead > 0 {
		m.start, m.state, m.opened = m.created.Add(ahead), room.Scheduled, false
		q.StartAt = m.start
	}
	m.id, _ = h.create(t, q)
	m.empty = time.Duration(cmp.Or(q.EmptyTimeout, 300)) * time.Second
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

// release gives up the seats that were held for long enough, unless somebody
// is in after all.
func (m *model) release() {
	for n, s := range m.seats {
		if s.until.IsZero() || s.holds(m.clock.Now()) {
			continue
		}
		s.state, s.until = room.Free, time.Time{}
		for _, o := range m.byJoin() {
			if o.browser == n && present(o) {
				s.state, s.connection = room.Joined, o.connection
			}
		}
	}
}

// fate is what time demands of the room, given who holds a seat.
func (m *model) fate() (room.State, room.EndReason) {
	now := m.clock.Now()
	switch {
	case m.over():
	case m.state == room.Active && now.Sub(m.started) >= 24*time.Hour:
		return room.Ended, room.EndedDuration
	case m.taken() > 0:
	case m.state == room.Open && m.start.IsZero() && now.Sub(m.created) >= max(m.empty, room.QuickWait):
		return room.Expired, ""
	case m.state == room.Open && !m.start.IsZero() && now.Sub(m.start) >= 24*time.Hour:
		return room.Expired, ""
	case m.state == room.Active && now.Sub(m.emptySince) >= m.empty:
		return room.Ended, room.EndedEmpty
	}
	return m.state, m.reason
}

// open is what comes before every change of a room.
func (m *model) open() {
	if m.state == room.Scheduled && !m.clock.Now().Before(m.start) {
		m.state, m.opened = room.Open, true
	}
}

// settle is what follows every change of a room.
func (m *model) settle() {
	if m.over() {
		return
	}
	m.open()
	m.release()
	m.state, m.reason = m.fate()
	m.afterwards()
}

// afterwards is what an end means for those who are in.
func (m *model) afterwards() {
	if m.over() {
		for _, s := range m.stays {
			m.end(s, m.clock.Now(), room.LeftRoomOver)
		}
		for _, s := range m.seats {
			s.state, s.until = room.Free, time.Time{}
		}
	}
	if m.taken() == 0 {
		for _, s := range m.stays {
			m.end(s, m.clock.Now(), room.LeftLost)
		}
		m.live = false
	}
}

func (m *model) end(s *stay, at time.Time, reason room.LeaveReason) {
	if s.to.IsZero() {
		s.to, s.reason = at, reason
		if at.Before(s.from) {
			s.to = s.from
		}
	}
}

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
	a, err := m.TakeSeat(context.Background(), m.id, guest(n))
	if want != "" {
		if f := fault.From(err); err == nil || f.Code != want || want == "room_ended" && f.Reason != string(cmp.Or(string(reason), string(state))) {
			rt.Fatalf("got %v (%s), want %s", err, fault.From(err).Reason, want)
		}
		*m = before // a refusal changes nothing
		for i, s := range seats {
			*m.seats[i] = s
		}
		return n, false
	}
	if err != nil {
		rt.Fatal(err)
	}
	m.seats[n] = s
	if s.state != room.Joined {
		s.state = room.Reserved
	}
	s.until = m.clock.Now().Add(room.ReserveFor)
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
	welcome = !m.over() && m.live && number == m.session && (s.state != room.Free || m.taken() < m.max)
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
	if s := m.seats[o.browser]; s.connection == o.connection {
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

func (m *model) read(rt *rapid.T) *room.Room {
	r, err := m.Get(context.Background(), m.id)
	if err != nil {
		rt.Fatal(err)
	}
	return r
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

// check holds everything that is written down against the model, and against
// itself.
func (m *model) check(rt *rapid.T) {
	ctx := context.Background()
	r := m.read(rt)
	if r.State != m.state || r.EndReason != m.reason || !r.StartedAt.Equal(m.started) || r.SessionLive != m.live || r.Session != m.session || r.OpenedAt.IsZero() == m.opened {
		rt.Fatalf("\ngot  %+v\nwant %s %q started %s session %d live %v", r, m.state, m.reason, m.started, m.session, m.live)
	}
	o, err := m.db.Occupancy(ctx, m.id)
	if err != nil || o.Taken != m.taken() || o.Joined != m.count(room.Joined) || o.Taken > m.max || m.over() && o.Taken > 0 {
		rt.Fatalf("%+v %v, want %d taken, %d joined of %d", o, err, m.taken(), m.count(room.Joined), m.max)
	}
	if m.state == room.Active && !r.EmptySince.Equal(m.emptySince) {
		rt.Fatalf("empty since %s, want %s", r.EmptySince, m.emptySince)
	}
	live, err := m.db.Sessions(ctx, room.SessionLive)
	if err != nil || slices.ContainsFunc(live, func(s room.Session) bool { return s.RoomID == m.id }) != m.live {
		rt.Fatalf("live sessions %v %v", live, err)
	}
	m.checkRecords(rt, r)
}

// checkRecords holds attendance and events against the stays, and each other.
func (m *model) checkRecords(rt *rapid.T, r *room.Room) {
	ctx := context.Background()
	browsers := map[string]int{}
	for n, s := range m.seats {
		browsers[s.identity] = n
	}
	rows, err := m.db.Attendance(ctx, m.id)
	if err != nil {
		rt.Fatal(err)
	}
	var got []stay
	named, times := map[string]string{}, map[string]int{} // as the model names them
	for _, a := range rows {
		sid := ofEngine(a.Connection)
		if named[a.Connection] = sid; a.Connection != sid {
			named[a.Connection] = fmt.Sprint(sid, again, times[sid])
		}
		times[sid]++
		got = append(got, stay{browsers[a.SeatID], named[a.Connection], a.JoinedAt, a.LeftAt, a.Reason})
	}
	events, err := m.db.Events(ctx, m.id, 0)
	if err != nil || int64(len(events)) != r.EventSequence {
		rt.Fatalf("%d events, the last is number %d, %v", len(events), r.EventSequence, err)
	}
	var told []stay
	var states []event.Type
	for i, e := range events {
		if e.Sequence != int64(i+1) || e.RoomID != m.id || e.ProjectID != m.project.ID {
			rt.Fatalf("event %d is %+v", i+1, e)
		}
		p := e.Data.Participant
		switch e.Type {
		case event.ParticipantJoined:
			told = append(told, stay{browser: browsers[p.Identity], connection: named[p.Connection], from: e.At})
		case event.ParticipantLeft:
			n := slices.IndexFunc(told, func(o stay) bool { return o.connection == named[p.Connection] && o.to.IsZero() })
			if n < 0 {
				rt.Fatalf("a leave without a join: %+v", p)
			}
			told[n].to, told[n].reason = e.At, room.LeaveReason(p.Reason)
		case event.ParticipantJoinFailed: // moves nothing
		default:
			states = append(states, e.Type)
		}
	}
	var want []stay
	for _, o := range m.stays {
		want = append(want, *o)
		if m.over() && present(o) {
			rt.Fatalf("%+v is still in a room that is over", *o)
		}
	}
	byConnection := func(a, b stay) int { return cmp.Compare(a.connection, b.connection) }
	for _, list := range [][]stay{got, told, want} {
		slices.SortFunc(list, byConnection)
	}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(told, want) {
		rt.Fatalf("\nattendance %+v\nevents     %+v\nwant       %+v", got, told, want)
	}
	var path []event.Type
	if !m.start.IsZero() {
		path = append(path, event.RoomScheduled)
	}
	if m.opened {
		path = append(path, event.RoomOpened)
	}
	if !m.started.IsZero() {
		path = append(path, event.RoomStarted)
	}
	switch m.state {
	case room.Ended:
		path = append(path, event.RoomEnded)
	case room.Expired:
		path = append(path, event.RoomExpired)
	case room.Cancelled:
		path = append(path, event.RoomCancelled)
	}
	if !slices.Equal(states, path) {
		rt.Fatalf("the room went through %v, want %v", states, path)
	}
	if m.over() && events[len(events)-1].Type != path[len(path)-1] {
		rt.Fatal("something happened after the end")
	}
}
