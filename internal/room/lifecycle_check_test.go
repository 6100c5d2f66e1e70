package room_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

func (m *model) read(rt *rapid.T) *room.Room {
	r, err := m.Get(context.Background(), m.id)
	if err != nil {
		rt.Fatal(err)
	}
	return r
}

// check compares the stored rows with the model and with each other.
func (m *model) check(rt *rapid.T) {
	ctx := context.Background()
	r := m.read(rt)
	if r.State != m.state || r.EndReason != m.reason || !r.StartedAt.Equal(m.started) || r.SessionLive != m.live ||
		r.Session != m.session || r.OpenedAt.IsZero() == m.opened {
		rt.Fatalf("\ngot  %+v\nwant %s %q started %s session %d live %v", r, m.state, m.reason, m.started, m.session, m.live)
	}
	o, err := m.db.Occupancy(ctx, m.id)
	if err != nil || o.Taken != m.taken() || o.Joined != m.count(room.Joined) || o.Taken > m.max ||
		m.over() && o.Taken > 0 {
		rt.Fatalf("occupancy: got %+v, %v, want %d taken, %d joined of %d", o, err, m.taken(),
			m.count(room.Joined), m.max)
	}
	if m.state == room.Active && !r.EmptySince.Equal(m.emptySince) {
		rt.Fatalf("empty since: got %s, want %s", r.EmptySince, m.emptySince)
	}
	live, err := m.db.Sessions(ctx, room.SessionLive)
	if err != nil || slices.ContainsFunc(live, func(s room.Session) bool { return s.RoomID == m.id }) != m.live {
		rt.Fatalf("live sessions: got %v, error %v, want one of room %s: %v", live, err, m.id, m.live)
	}
	m.checkRecords(rt, r)
}

// checkRecords compares attendance and events with the model and with each other.
func (m *model) checkRecords(rt *rapid.T, r *room.Room) {
	ctx := context.Background()
	browsers := map[string]int{}
	for n, s := range m.seats {
		browsers[s.identity] = n
	}
	rows, err := storetest.Attendance(ctx, m.db, m.id)
	if err != nil {
		rt.Fatal(err)
	}
	var got []modelAttendance
	named, times := map[string]string{}, map[string]int{} // as the model names them
	for _, a := range rows {
		sid := engineConnectionID(a.Connection)
		if named[a.Connection] = sid; a.Connection != sid {
			named[a.Connection] = fmt.Sprint(sid, rejoinSeparator, times[sid])
		}
		times[sid]++
		got = append(got, modelAttendance{browsers[a.SeatID], named[a.Connection], a.JoinedAt, a.LeftAt, a.Reason})
	}
	events, err := storetest.Events(ctx, m.db, m.id)
	if err != nil || int64(len(events)) != r.EventSequence {
		rt.Fatalf("events: got %d, error %v, want %d", len(events), err, r.EventSequence)
	}
	var emitted []modelAttendance
	var states []event.Type
	for i, e := range events {
		if e.Sequence != int64(i+1) || e.RoomID != m.id || e.ProjectID != m.project.ID {
			rt.Fatalf("event %d: got %+v, want sequence %d, room %s, project %s", i+1, e, i+1, m.id, m.project.ID)
		}
		p := e.Data.Participant
		switch e.Type {
		case event.ParticipantJoined:
			emitted = append(emitted, modelAttendance{browser: browsers[p.Identity], connection: named[p.Connection],
				from: e.At})
		case event.ParticipantLeft:
			n := slices.IndexFunc(emitted, func(o modelAttendance) bool {
				return o.connection == named[p.Connection] &&
					o.to.IsZero()
			})
			if n < 0 {
				rt.Fatalf("participant.left event: got %+v, want a join of the same connection before it", p)
			}
			emitted[n].to, emitted[n].reason = e.At, room.LeaveReason(p.Reason)
		case event.ParticipantJoinFailed: // moves nothing
		default:
			states = append(states, e.Type)
		}
	}
	var want []modelAttendance
	for _, o := range m.attendance {
		want = append(want, *o)
		if m.over() && isPresent(o) {
			rt.Fatalf("attendance after the room is over: got %+v, want an end", *o)
		}
	}
	byConnection := func(a, b modelAttendance) int { return strings.Compare(a.connection, b.connection) }
	for _, list := range [][]modelAttendance{got, emitted, want} {
		slices.SortFunc(list, byConnection)
	}
	if diff := cmp.Diff(want, got, storetest.Exact); diff != "" {
		rt.Fatalf("attendance (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, emitted, storetest.Exact); diff != "" {
		rt.Fatalf("attendance by events (-want +got):\n%s", diff)
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
		rt.Fatalf("states: got %v, want %v", states, path)
	}
	if m.over() && events[len(events)-1].Type != path[len(path)-1] {
		rt.Fatalf("last event of a room that is over: got %s, want %s", events[len(events)-1].Type, path[len(path)-1])
	}
}
