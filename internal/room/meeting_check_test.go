package room_test

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

func (m *meeting) room(rt *rapid.T) *room.Room {
	r, err := m.nodes[0].Get(context.Background(), m.id)
	if err != nil {
		rt.Fatal(err)
	}
	return r
}

// check fails unless the stored rows are consistent.
func (m *meeting) check(rt *rapid.T) {
	ctx := context.Background()
	r := m.room(rt)
	rows, err := storetest.Attendance(ctx, m.db, m.id)
	if err != nil {
		rt.Fatal(err)
	}
	open := map[string]bool{} // connections without an end
	for i, a := range rows {
		switch {
		case a.LeftAt.IsZero() && r.Over():
			rt.Fatalf("attendance after the room is over: got %+v, want an end", a)
		case a.LeftAt.IsZero():
			open[a.Connection] = true
		case a.LeftAt.Before(a.JoinedAt):
			rt.Fatalf("attendance: got %+v, want LeftAt not before JoinedAt", a)
		}
		for _, b := range rows[:i] { // in order
			if a.SeatID == b.SeatID && (b.LeftAt.IsZero() || b.LeftAt.After(a.JoinedAt)) {
				rt.Fatalf("attendance of one seat: got %+v and %+v, want the first to end before the second begins", b, a)
			}
		}
	}
	m.checkSeats(rt, r, open)
	m.checkSessions(rt, r)
	m.checkEvents(rt, r, rows)
	m.checkKnocks(rt, r)
}

func (m *meeting) checkSeats(rt *rapid.T, r *room.Room, open map[string]bool) {
	seats, err := m.db.Seats(context.Background(), m.id) // taken ones
	if err != nil {
		rt.Fatal(err)
	}
	visible := 0
	for _, s := range seats {
		if !s.Hidden {
			visible++
		}
		if s.State == room.Joined && !open[s.Connection] || s.State == room.Reserved && s.HeldUntil.IsZero() {
			rt.Fatalf("seat: got %+v, want current attendance if joined, and HeldUntil if reserved", s)
		}
	}
	if visible > m.max || r.Over() && len(seats) > 0 || r.SessionLive != (len(seats) > 0) {
		rt.Fatalf("room in state %s: got %d taken seats, %d of them visible, and a live session: %v, "+
			"want at most %d visible, none taken if the room is over, and a live session exactly if a seat is taken",
			r.State, len(seats), visible, r.SessionLive, m.max)
	}
}

func (m *meeting) checkSessions(rt *rapid.T, r *room.Room) {
	ctx := context.Background()
	var want, got []int
	if r.SessionLive {
		want = append(want, r.Session)
	}
	breakouts, err := m.db.Breakouts(ctx, m.id)
	if err != nil {
		rt.Fatal(err)
	}
	for _, b := range breakouts {
		if b.ClosedAt.IsZero() {
			want = append(want, b.Session)
		}
	}
	live, err := m.db.Sessions(ctx, room.SessionLive)
	if err != nil {
		rt.Fatal(err)
	}
	for _, s := range live {
		if s.RoomID == m.id {
			got = append(got, s.N)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) > r.BreakoutRooms+1 {
		rt.Fatalf("live sessions: got %v, want %v", got, want)
	}
}

var lifePattern = regexp.MustCompile(`^room.opened( room.started)?( room.ended| room.expired)?$`)

// checkEvents fails unless the events contain exactly the joins and leaves of the
// attendance.
func (m *meeting) checkEvents(rt *rapid.T, r *room.Room, rows []room.Attendance) {
	events, err := storetest.Events(context.Background(), m.db, m.id)
	if err != nil || int64(len(events)) != r.EventSequence {
		rt.Fatalf("events: got %d, error %v, want %d", len(events), err, r.EventSequence)
	}
	type eventData struct{ identity, left string }
	people := map[string]eventData{} // by connection
	var states []string
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			rt.Fatalf("event %d: got %+v, want sequence %d", i+1, e, i+1)
		}
		switch p := e.Data.Participant; e.Type {
		case event.ParticipantJoined:
			if _, twice := people[p.Connection]; twice {
				rt.Fatalf("participant.joined events of one connection: got a second one, %+v, want one", p)
			}
			people[p.Connection] = eventData{identity: p.Identity}
		case event.ParticipantLeft:
			was, in := people[p.Connection]
			if !in || was.left != "" || was.identity != p.Identity || p.Reason == "" {
				rt.Fatalf("participant.left event: got %+v after %+v, want one leave with a reason, after a join of that identity",
					p, was)
			}
			people[p.Connection] = eventData{p.Identity, p.Reason}
		case event.ParticipantJoinFailed: // moves nothing
		default:
			states = append(states, string(e.Type))
		}
	}
	if path := strings.Join(states, " "); !lifePattern.MatchString(path) || !strings.HasSuffix(path, map[room.State]string{
		room.Open: "opened", room.Active: "started", room.Ended: "ended", room.Expired: "expired"}[r.State]) {
		rt.Fatalf("room events: got %q, want a path that matches %s and ends with the event of state %s", path, lifePattern,
			r.State)
	}
	for _, a := range rows {
		was, in := people[a.Connection]
		if in == a.Hidden || in && was.left != string(a.Reason) {
			rt.Fatalf("events of the attendance %+v: got %+v (found: %v), want none if hidden, or else the same reason", a, was,
				in)
		}
		delete(people, a.Connection)
	}
	if len(people) > 0 {
		rt.Fatalf("events without attendance: got %v, want none", people)
	}
}
