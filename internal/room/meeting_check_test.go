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
			rt.Fatalf("the room is over, and somebody is in: %+v", a)
		case a.LeftAt.IsZero():
			open[a.Connection] = true
		case a.LeftAt.Before(a.JoinedAt):
			rt.Fatalf("gone before they came: %+v", a)
		}
		for _, b := range rows[:i] { // in order
			if engineConnectionID(a.Connection) == engineConnectionID(b.Connection) &&
				(b.LeftAt.IsZero() || b.LeftAt.After(a.JoinedAt)) {
				rt.Fatalf("one connection twice at once: %+v and %+v", b, a)
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
			rt.Fatalf("nobody is in, and nobody is waited for: %+v", s)
		}
	}
	if visible > m.max || r.Over() && len(seats) > 0 || r.SessionLive != (len(seats) > 0) {
		rt.Fatalf("%d seats of %d are taken, %d in all, in a room that is %s, its session live: %v", visible, m.max,
			len(seats), r.State, r.SessionLive)
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
		rt.Fatalf("sessions %v are live, want %v", got, want)
	}
}

var lifePattern = regexp.MustCompile(`^room.opened( room.started)?( room.ended| room.expired)?$`)

// checkEvents fails unless the events contain exactly the joins and leaves of the
// attendance.
func (m *meeting) checkEvents(rt *rapid.T, r *room.Room, rows []room.Attendance) {
	events, err := storetest.Events(context.Background(), m.db, m.id)
	if err != nil || int64(len(events)) != r.EventSequence {
		rt.Fatalf("%d events, the last is number %d, %v", len(events), r.EventSequence, err)
	}
	type eventData struct{ identity, left string }
	people := map[string]eventData{} // by connection
	var states []string
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			rt.Fatalf("event %d is %+v", i+1, e)
		}
		switch p := e.Data.Participant; e.Type {
		case event.ParticipantJoined:
			if _, twice := people[p.Connection]; twice {
				rt.Fatalf("joined twice: %+v", p)
			}
			people[p.Connection] = eventData{identity: p.Identity}
		case event.ParticipantLeft:
			was, in := people[p.Connection]
			if !in || was.left != "" || was.identity != p.Identity || p.Reason == "" {
				rt.Fatalf("left %+v after %+v", p, was)
			}
			people[p.Connection] = eventData{p.Identity, p.Reason}
		case event.ParticipantJoinFailed: // moves nothing
		default:
			states = append(states, string(e.Type))
		}
	}
	if path := strings.Join(states, " "); !lifePattern.MatchString(path) || !strings.HasSuffix(path, map[room.State]string{
		room.Open: "opened", room.Active: "started", room.Ended: "ended", room.Expired: "expired"}[r.State]) {
		rt.Fatalf("the room went through %s and is %s", path, r.State)
	}
	for _, a := range rows {
		was, in := people[a.Connection]
		if in == a.Hidden || in && was.left != string(a.Reason) {
			rt.Fatalf("%+v has the event data %+v", a, was)
		}
		delete(people, a.Connection)
	}
	if len(people) > 0 {
		rt.Fatalf("nobody knows of %v", people)
	}
}
