package room_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
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
		rt.Repeat(map[string]func(*rapid.T){
			"take a seat":    m.takeSeat,
			"join":           m.join,
			"join elsewhere": m.joinElsewhere,
			"join again":     m.joinAgain,
			"reconnect":      m.reconnect,
			"leave":          m.leaveOne,
			"leave again":    m.leaveAgain,
			"vanish":         m.vanish,
			"let time pass":  m.letTimePass,
			"sweep":          m.sweep,
			"compare":        m.compare,
			"restart":        m.restart,
			"":               m.check,
		})
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
	t        *testing.T
	id, link string

	state      room.State
	reason     room.EndReason
	max        int
	empty      time.Duration
	created    time.Time
	started    time.Time
	emptySince time.Time
	session    int
	live       bool
	seats      map[int]*seat // by browser
	stays      []*stay
}

type seat struct {
	identity, session string // from the latest admission
	number            int    // of that session
	state             room.SeatState
	until             time.Time
	connection        string
}

// stay is one connection from join to leave.
type stay struct {
	browser    int
	connection string
	from, to   time.Time
	reason     room.LeaveReason
}

func newModel(t *testing.T, rt *rapid.T, h *house) *model {
	q := room.Request{MaxParticipants: rapid.IntRange(1, 4).Draw(rt, "max"), EmptyTimeout: rapid.SampledFrom([]int{0, 1, 20, 299, 300, 301, 3600, 86400}).Draw(rt, "empty timeout")}
	m := &model{house: h, t: t, state: room.Open, max: q.MaxParticipants, created: h.clock.Now(), seats: map[int]*seat{}}
	m.id, m.link = h.create(t, q)
	m.empty = time.Duration(cmp.Or(q.EmptyTimeout, 300)) * time.Second
	return m
}

func (m *model) over() bool { return m.state == room.Ended || m.state == room.Expired }

func (m *model) count(states ...room.SeatState) (n int) {
	for _, s := range m.seats {
		if slices.Contains(states, s.state) {
			n++
		}
	}
	return n
}

func (m *model) taken() int { return m.count(room.Reserved, room.Joined) }

// release gives up the seats that were held for long enough.
func (m *model) release() {
	for _, s := range m.seats {
		if s.state == room.Reserved && !m.clock.Now().Before(s.until) {
			s.state = room.Free
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
	case m.state == room.Open && now.Sub(m.created) >= max(m.empty, room.QuickWait):
		return room.Expired, ""
	case m.state == room.Active && now.Sub(m.emptySince) >= m.empty:
		return room.Ended, room.EndedEmpty
	}
	return m.state, m.reason
}

// settle is what follows every change of a room.
func (m *model) settle() {
	if m.over() {
		return
	}
	m.release()
	m.state, m.reason = m.fate()
	if m.over() {
		for _, s := range m.stays {
			m.end(s, m.clock.Now(), room.LeftRoomOver)
		}
		for _, s := range m.seats {
			s.state = room.Free
		}
	}
	if m.taken() == 0 {
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

func (m *model) takeSeat(rt *rapid.T) {
	n := rapid.IntRange(0, 5).Draw(rt, "browser")
	before := map[int]seat{}
	for i, s := range m.seats {
		before[i] = *s
	}
	m.release()
	s, known := m.seats[n]
	if !known {
		s = &seat{state: room.Free}
	}
	state, reason := m.fate()
	want := ""
	switch {
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
		for i, s := range before { // a refusal changes nothing
			*m.seats[i] = s
		}
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	m.seats[n] = s
	if s.state != room.Joined {
		s.state, s.until = room.Reserved, m.clock.Now().Add(room.ReserveFor)
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
}

// report has the engine tell of a join, and works out what comes of it.
func (m *model) report(rt *rapid.T, browser, number int, connection string) {
	s := m.seats[browser]
	now := m.clock.Now()
	known := slices.ContainsFunc(m.stays, func(o *stay) bool { return o.browser == browser && o.connection == connection })
	welcome := !m.over() && m.live && number == m.session && (s.state != room.Free || m.taken() < m.max)
	m.ParticipantJoined(room.SessionID(m.id, number), s.identity, connection, now)
	if out := m.engine.tookOut(); welcome == slices.Contains(out, s.identity) || len(out) > 1 {
		rt.Fatalf("welcome %v, taken out %v", welcome, out)
	}
	if welcome && !known {
		m.stays = append(m.stays, &stay{browser: browser, connection: connection, from: now})
		s.state, s.connection = room.Joined, connection
		m.emptySince = time.Time{}
		if m.state == room.Open {
			m.state, m.started = room.Active, now
		}
	}
	m.settle()
}

// depart has the engine tell of a leave.
func (m *model) depart(o *stay, at time.Time, reason room.LeaveReason) {
	s := m.seats[o.browser]
	m.ParticipantLeft(room.SessionID(m.id, max(s.number, 1)), s.identity, o.connection, at, reason)
	m.departed(o, at, reason)
	m.settle()
}

func (m *model) departed(o *stay, at time.Time, reason room.LeaveReason) {
	if !o.to.IsZero() {
		return
	}
	m.end(o, at, reason)
	if s := m.seats[o.browser]; s.connection == o.connection {
		switch reason {
		case room.LeftByChoice, room.LeftRemoved, room.LeftRoomOver:
			s.state = room.Free
		case room.LeftServer:
			s.state, s.until = room.Reserved, m.clock.Now().Add(room.ReserveFor)
		default:
			s.state, s.until = room.Reserved, m.clock.Now().Add(room.ReturnWithin)
		}
	}
	if m.count(room.Joined) == 0 && m.emptySince.IsZero() {
		m.emptySince = o.to
	}
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
	n, s := m.browser(rt)
	connection := m.connection()
	m.engine.put(s.session, s.identity, connection, m.clock.Now())
	m.report(rt, n, s.number, connection)
}

// joinElsewhere is a report from a session that is not the latest.
func (m *model) joinElsewhere(rt *rapid.T) {
	n, _ := m.browser(rt)
	m.report(rt, n, m.session+rapid.SampledFrom([]int{-1, 1, 7}).Draw(rt, "session")+1, m.connection())
}

// joinAgain is a report that comes twice.
func (m *model) joinAgain(rt *rapid.T) {
	o := m.draw(rt, func(*stay) bool { return true })
	m.report(rt, o.browser, m.session, o.connection)
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

func (m *model) forget(o *stay) {
	s := m.seats[o.browser]
	if s.connection == o.connection {
		m.engine.drop(s.session, s.identity)
	}
}

func (m *model) letTimePass(rt *rapid.T) {
	m.clock.pass(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 29 * time.Second, 30 * time.Second, 31 * time.Second,
		time.Minute, 299 * time.Second, 300 * time.Second, time.Hour, 23 * time.Hour}).Draw(rt, "how long"))
}

func (m *model) sweep(rt *rapid.T) {
	m.Sweep(context.Background())
	m.settle()
	if r := m.read(rt); r.Over() != r.DueAt.IsZero() || !r.DueAt.IsZero() && !r.DueAt.After(m.clock.Now()) {
		rt.Fatalf("%s, and due at %s, now is %s", r.State, r.DueAt, m.clock.Now())
	}
	if open := m.engine.open(room.SessionID(m.id, m.session)); open != m.live {
		rt.Fatalf("the session is open: %v, should be: %v", open, m.live)
	}
}

// compare finds who has vanished, or come, without a word.
func (m *model) compare(rt *rapid.T) {
	m.Reconcile(context.Background())
	if m.live {
		there, err := m.engine.Participants(context.Background(), room.SessionID(m.id, m.session))
		if err != nil {
			rt.Fatal(err)
		}
		for _, o := range m.stays {
			if present(o) && !slices.ContainsFunc(there, func(p room.Present) bool { return p.SID == o.connection }) {
				m.departed(o, m.clock.Now(), room.LeftLost)
				m.settle()
			}
		}
	}
}

// restart is a crash, some seconds after the service was last known to run,
// and a start some time later.
func (m *model) restart(rt *rapid.T) {
	ctx := context.Background()
	alive := m.clock.Now().Add(-rapid.SampledFrom([]time.Duration{0, 3 * time.Second}).Draw(rt, "last alive"))
	if err := m.db.Write(ctx, func(ctx context.Context) error { return m.db.SetLastAlive(ctx, alive) }); err != nil {
		rt.Fatal(err)
	}
	m.clock.pass(rapid.SampledFrom([]time.Duration{0, 4 * time.Second, time.Hour}).Draw(rt, "down for"))
	m.house.restart()
	if err := m.Recover(ctx); err != nil {
		rt.Fatal(err)
	}
	if m.live {
		for _, o := range m.stays {
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

// check holds everything that is written down against the model, and against
// itself.
func (m *model) check(rt *rapid.T) {
	ctx := context.Background()
	r := m.read(rt)
	if r.State != m.state || r.EndReason != m.reason || !r.StartedAt.Equal(m.started) || r.SessionLive != m.live || r.Session != m.session {
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
	for _, a := range rows {
		got = append(got, stay{browsers[a.SeatID], a.Connection, a.JoinedAt, a.LeftAt, a.Reason})
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
			told = append(told, stay{browser: browsers[p.Identity], connection: p.Connection, from: e.At})
		case event.ParticipantLeft:
			n := slices.IndexFunc(told, func(o stay) bool { return o.connection == p.Connection && o.to.IsZero() })
			if n < 0 {
				rt.Fatalf("a leave without a join: %+v", p)
			}
			told[n].to, told[n].reason = e.At, room.LeaveReason(p.Reason)
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
	path := []event.Type{event.RoomOpened}
	if !m.started.IsZero() {
		path = append(path, event.RoomStarted)
	}
	switch m.state {
	case room.Ended:
		path = append(path, event.RoomEnded)
	case room.Expired:
		path = append(path, event.RoomExpired)
	}
	if !slices.Equal(states, path) {
		rt.Fatalf("the room went through %v, want %v", states, path)
	}
	if m.over() && events[len(events)-1].Type != path[len(path)-1] {
		rt.Fatal("something happened after the end")
	}
}
