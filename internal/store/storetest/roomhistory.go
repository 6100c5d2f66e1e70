package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/room"
)

func (s *suite) testAttendanceRecords(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p, other := Project(t, db), Project(t, db)
	put := func(r *room.Room) *room.Room {
		t.Helper()
		if err := db.Write(ctx, func(ctx context.Context) error { return insertFullRoom(ctx, db, r) }); err != nil {
			t.Fatal(err)
		}
		return r
	}
	running := func(projectID string, state room.State) *room.Room {
		r := Room(projectID)
		r.State = state
		return put(r)
	}
	open, active, theirs := running(p.ID, room.Open), running(p.ID, room.Active), running(other.ID, room.Active)
	attend := func(r *room.Room, n, joined, left int, hidden bool) room.AttendanceRecord {
		t.Helper()
		seat := newSeat(r.ID, room.Joined, n)
		seat.UserID, seat.Breakout, seat.Hidden = trickyTexts[n%len(trickyTexts)], n, hidden
		out := room.AttendanceRecord{
			Attendance: room.Attendance{
				ID:             NewID(),
				RoomID:         r.ID,
				Session:        1,
				SeatID:         seat.ID,
				Connection:     "PA_1",
				Hidden:         hidden,
				Node:           "node",
				JoinedAt:       testTime(joined),
				ConnectionType: room.ConnectionTCP,
			},
			Name:     seat.Name,
			UserID:   seat.UserID,
			Role:     seat.Role,
			Breakout: n,
		}
		if left > 0 {
			out.LeftAt, out.Reason = testTime(left), room.LeftByChoice
		}
		err := db.Write(ctx, func(ctx context.Context) error {
			if err := db.InsertSeat(ctx, seat); err != nil {
				return err
			}
			_, err := db.InsertAttendance(ctx, out.Attendance, out.JoinedAt)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	gone := attend(active, 0, 10, 20, false)
	second := attend(active, 1, 40, 0, false)
	first := attend(active, 2, 30, 0, false)
	hidden := attend(active, 3, 35, 0, true)
	alone := attend(open, 4, 50, 0, false)
	foreign := attend(theirs, 5, 5, 0, false)

	all, err := db.AttendanceRecords(ctx, active.ID)
	requireEqual(t, all, err, []room.AttendanceRecord{gone, first, hidden, second})
	found, err := db.AttendanceOfConnections(ctx, open.ID, []string{"PA_0", "PA_1"})
	requireEqual(t, found, err, []room.Attendance{alone.Attendance})
	found, err = db.AttendanceOfConnections(ctx, open.ID, []string{"PA_0"})
	requireEqual(t, found, err, nil)
	found, err = db.AttendanceOfConnections(ctx, open.ID, nil)
	requireEqual(t, found, err, nil)
	now, err := db.CurrentAttendanceRecords(ctx, p.ID, active.ID)
	requireEqual(t, now, err, []room.AttendanceRecord{first, second})
	now, err = db.CurrentAttendanceRecords(ctx, p.ID, "")
	requireEqual(t, now, err, []room.AttendanceRecord{first, second, alone})
	now, err = db.CurrentAttendanceRecords(ctx, other.ID, "")
	requireEqual(t, now, err, []room.AttendanceRecord{foreign})
	now, err = db.CurrentAttendanceRecords(ctx, other.ID, active.ID)
	requireEqual(t, now, err, nil)

	over := func(title string, ended int, state room.State) *room.Room {
		r := Room(p.ID)
		r.State, r.Title, r.EndedAt, r.DueAt = state, title, testTime(ended), time.Time{}
		r.WebhookURL, r.Session = trickyTexts[2], 2
		return put(r)
	}
	two, one := over(trickyTexts[0], 200, room.Ended), over(trickyTexts[1], 100, room.Cancelled)
	attend(two, 6, 60, 70, false)
	attend(two, 7, 60, 70, false)
	attend(two, 8, 60, 70, true)
	put(Room(p.ID))
	rooms, err := db.RunningRooms(ctx, p.ID)
	if len(rooms) != 3 || rooms[0].ID != open.ID || rooms[1].ID != active.ID || err != nil {
		t.Fatalf("got %d running rooms, %v, want the open one first, 3 in total", len(rooms), err)
	}
	requireEqual(t, *rooms[1], nil, *active)

	past := func(r *room.Room, joined int) room.PastRoom {
		return room.PastRoom{
			ID:               r.ID,
			Session:          2,
			Title:            r.Title,
			WebhookURL:       r.WebhookURL,
			CreatedAt:        r.CreatedAt,
			EndedAt:          r.EndedAt,
			ParticipantCount: joined,
		}
	}
	for _, tc := range []struct {
		q     room.PastQuery
		total int
		want  []room.PastRoom
	}{
		{room.PastQuery{Limit: 9}, 2, []room.PastRoom{past(two, 2), past(one, 0)}},
		{room.PastQuery{Limit: 9, Ascending: true}, 2, []room.PastRoom{past(one, 0), past(two, 2)}},
		{room.PastQuery{Limit: 1, Offset: 1}, 2, []room.PastRoom{past(one, 0)}},
		{room.PastQuery{Limit: 9, Offset: 2}, 2, nil},
		{room.PastQuery{Limit: 9, IDs: []string{two.ID, active.ID, NewID()}}, 1, []room.PastRoom{past(two, 2)}},
		{room.PastQuery{Limit: 9, IDs: []string{}}, 0, nil},
	} {
		got, total, err := db.PastRooms(ctx, p.ID, tc.q)
		requireEqual(t, got, err, tc.want)
		requireEqual(t, total, nil, tc.total)
	}
	got, total, err := db.PastRooms(ctx, other.ID, room.PastQuery{Limit: 9, IDs: []string{two.ID}})
	requireEqual(t, got, err, nil)
	requireEqual(t, total, nil, 0)
}

func (s *suite) testLive(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p, other := Project(t, db), Project(t, db)
	session := func(projectID string, breakout int, state room.SessionState, connections ...room.Attendance) {
		t.Helper()
		r := Room(projectID)
		if err := db.Write(ctx, func(ctx context.Context) error {
			if err := db.InsertRoom(ctx, r); err != nil {
				return err
			}
			if err := db.InsertSession(ctx, room.Session{RoomID: r.ID, N: 1, Breakout: breakout, State: state},
				testTime(1)); err != nil {
				return err
			}
			if state != room.SessionLive {
				return db.CloseSessions(ctx, r.ID, false, testTime(2))
			}
			for i, a := range connections {
				seat := newSeat(r.ID, room.Joined, i)
				a.ID, a.RoomID, a.Session, a.SeatID, a.Connection, a.JoinedAt = NewID(), r.ID, 1, seat.ID, "PA", testTime(1)
				if err := db.InsertSeat(ctx, seat); err != nil {
					return err
				}
				if _, err := db.InsertAttendance(ctx, a, a.JoinedAt); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	udp := room.Attendance{ConnectionType: room.ConnectionUDP}
	session(p.ID, 0, room.SessionLive, udp, udp, room.Attendance{Hidden: true},
		room.Attendance{ConnectionType: room.ConnectionTURN, LeftAt: testTime(2), Reason: room.LeftLost})
	session(p.ID, 0, room.SessionClosing)
	session(p.ID, 1, room.SessionLive, room.Attendance{})
	session(other.ID, 0, room.SessionLive, udp)
	for projectID, want := range map[string]room.Live{
		"":       {Rooms: 2, People: map[room.ConnectionType]int{room.ConnectionUDP: 3, "": 1}},
		p.ID:     {Rooms: 1, People: map[room.ConnectionType]int{room.ConnectionUDP: 2, "": 1}},
		other.ID: {Rooms: 1, People: map[room.ConnectionType]int{room.ConnectionUDP: 1}},
		NewID():  {People: map[room.ConnectionType]int{}},
	} {
		got, err := db.Live(ctx, projectID)
		requireEqual(t, got, err, want)
	}
}
