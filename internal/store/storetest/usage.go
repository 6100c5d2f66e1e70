package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/room"
	"parley/internal/usage"
)

// connection is one connection of somebody, in seconds of the suite's time; a left
// of 0 is still in.
type connection struct {
	roomType     room.Type
	joined, left int
}

func (s *suite) TestTotals(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	p, other := Project(t, db), Project(t, db)
	put := func(projectID string, created int, stays ...connection) {
		t.Helper()
		err := db.Write(ctx, func(ctx context.Context) error {
			for i, st := range stays {
				r := Room(projectID)
				r.Type, r.CreatedAt = st.roomType, testTime(created)
				if err := db.InsertRoom(ctx, r); err != nil {
					return err
				}
				if err := db.InsertSession(ctx, room.Session{RoomID: r.ID, N: 1, State: room.SessionLive}, testTime(created)); err != nil {
					return err
				}
				who := newSeat(r.ID, room.Joined, i)
				if err := db.InsertSeat(ctx, who); err != nil {
					return err
				}
				a := room.Attendance{ID: NewID(), RoomID: r.ID, Session: 1, SeatID: who.ID, Connection: "PA_1", JoinedAt: testTime(st.joined)}
				if st.left > 0 {
					a.LeftAt = testTime(st.left)
				}
				if _, err := db.InsertAttendance(ctx, a); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	is := func(start, end, asOf int, want usage.Totals) {
		t.Helper()
		got, err := db.Totals(ctx, p.OrganizationID, testTime(start), testTime(end), testTime(asOf))
		requireEqual(t, got, err, want)
	}
	is(0, 1000, 500, usage.Totals{})
	put(other.ID, 100, connection{room.Video, 100, 200})
	is(0, 1000, 500, usage.Totals{})
	put(p.ID, 100,
		connection{room.Video, 100, 200},
		connection{room.Video, 200, 260}, // comes in the moment the first leaves
		connection{room.Audio, 150, 250},
		connection{room.Audio, 220, 220}, // no time at all
		connection{room.Audio, 240, 0},   // still in
	)
	is(0, 1000, 300, usage.Totals{VideoMillis: 160_000, AudioMillis: 160_000, RoomsCreated: 5, Sessions: 5, Peak: 3})
	is(0, 1000, 400, usage.Totals{VideoMillis: 160_000, AudioMillis: 260_000, RoomsCreated: 5, Sessions: 5, Peak: 3})
	is(120, 1000, 180, usage.Totals{VideoMillis: 60_000, AudioMillis: 30_000, Peak: 2}) // what lies outside does not count
	is(0, 100, 100, usage.Totals{})
	is(100, 101, 101, usage.Totals{VideoMillis: 1_000, RoomsCreated: 5, Sessions: 5, Peak: 1})
	is(300, 1000, 310, usage.Totals{AudioMillis: 10_000, Peak: 1})
	put(p.ID, 2000, connection{room.Video, 2000, 2000 + 31*24*3600})
	is(2000, 2000+31*24*3600, 2000+31*24*3600, usage.Totals{VideoMillis: 31 * 24 * time.Hour.Milliseconds(),
		AudioMillis: 31 * 24 * time.Hour.Milliseconds(), RoomsCreated: 1, Sessions: 1, Peak: 2})
}
