package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/room"
	"parley/internal/usage"
)

// connection is one connection of a participant. Times are in seconds for
// testTime; left is 0 for a connection that has not ended.
type connection struct {
	roomType     room.Type
	joined, left int
}

func (s *suite) testTotals(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p, other := Project(t, db), Project(t, db)
	insert := func(projectID string, created int, connections ...connection) {
		t.Helper()
		err := db.Write(ctx, func(ctx context.Context) error {
			for i, c := range connections {
				r := Room(projectID)
				r.Type, r.CreatedAt = c.roomType, testTime(created)
				if err := db.InsertRoom(ctx, r); err != nil {
					return err
				}
				session := room.Session{RoomID: r.ID, N: 1, State: room.SessionLive}
				if err := db.InsertSession(ctx, session, testTime(created)); err != nil {
					return err
				}
				seat := newSeat(r.ID, room.Joined, i)
				if err := db.InsertSeat(ctx, seat); err != nil {
					return err
				}
				a := room.Attendance{
					ID:         NewID(),
					RoomID:     r.ID,
					Session:    1,
					SeatID:     seat.ID,
					Connection: "PA_1",
					JoinedAt:   testTime(c.joined),
				}
				if c.left > 0 {
					a.LeftAt = testTime(c.left)
				}
				if _, err := db.InsertAttendance(ctx, a, a.JoinedAt); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	service := usage.NewService(db, usage.NoProvider{}, time.Now)
	checkTotals := func(start, end int, want usage.Totals) {
		t.Helper()
		for _, projectID := range []string{"", p.ID} {
			scope := usage.Scope{OrganizationID: p.OrganizationID, ProjectID: projectID}
			got, err := service.Totals(ctx, scope, testTime(start), testTime(end))
			requireEqual(t, got, err, want)
		}
	}
	checkTotals(0, 500, usage.Totals{})
	insert(other.ID, 100, connection{room.Video, 100, 200})
	checkTotals(0, 500, usage.Totals{})
	insert(p.ID, 100,
		connection{room.Video, 100, 200},
		connection{room.Video, 200, 260}, // joins at the moment when the first leaves
		connection{room.Audio, 150, 250},
		connection{room.Audio, 220, 220}, // zero duration
		connection{room.Audio, 240, 0},   // has not left
	)
	totals := usage.Totals{
		VideoMillis:  160_000,
		AudioMillis:  160_000,
		RoomsCreated: 5,
		Sessions:     5,
		Peak:         3,
	}
	checkTotals(0, 300, totals)
	totals.AudioMillis = 260_000
	checkTotals(0, 400, totals)
	// Only the part in the period counts.
	checkTotals(120, 180, usage.Totals{VideoMillis: 60_000, AudioMillis: 30_000, Peak: 2})
	checkTotals(0, 100, usage.Totals{})
	checkTotals(100, 101, usage.Totals{VideoMillis: 1_000, RoomsCreated: 5, Sessions: 5, Peak: 1})
	checkTotals(300, 310, usage.Totals{AudioMillis: 10_000, Peak: 1})
	insert(p.ID, 2000, connection{room.Video, 2000, 2000 + 31*24*3600})
	checkTotals(2000, 2000+31*24*3600, usage.Totals{
		VideoMillis:  31 * 24 * time.Hour.Milliseconds(),
		AudioMillis:  31 * 24 * time.Hour.Milliseconds(),
		RoomsCreated: 1,
		Sessions:     1,
		Peak:         2,
	})
}
