package storetest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"parley/internal/room"
)

func (s *suite) TestNodes(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	nodes := func(want ...room.Node) {
		t.Helper()
		got, err := db.Nodes(ctx)
		slices.SortFunc(got, func(a, b room.Node) int { return cmp.Compare(a.ID, b.ID) })
		requireEqual(t, got, err, want)
	}
	write := func(work func(ctx context.Context) error) {
		t.Helper()
		if err := db.Write(ctx, work); err != nil {
			t.Fatal(err)
		}
	}
	heartbeat := func(node string, at int) {
		t.Helper()
		write(func(ctx context.Context) error { return db.RecordHeartbeat(ctx, node, testTime(at)) })
	}
	nodes()
	heartbeat("a", 5)
	heartbeat("b", 6)
	heartbeat("a", 9)
	nodes(room.Node{ID: "a", LastAlive: testTime(9)}, room.Node{ID: "b", LastAlive: testTime(6)})

	r := Room(Project(t, db).ID)
	seat := newSeat(r.ID, room.Joined, 1)
	in := room.Attendance{
		ID: NewID(), RoomID: r.ID, Session: 1, SeatID: seat.ID, Connection: "PA_1", Node: "a", JoinedAt: testTime(1),
	}
	write(func(ctx context.Context) error {
		if err := db.InsertRoom(ctx, r); err != nil {
			return err
		}
		if err := db.InsertSeat(ctx, seat); err != nil {
			return err
		}
		_, err := db.InsertAttendance(ctx, in)
		return err
	})
	for node, want := range map[string][]string{"a": {r.ID}, "b": nil} {
		got, err := db.RoomsOfNode(ctx, node)
		requireEqual(t, got, err, want)
		write(func(ctx context.Context) error { return db.RemoveNode(ctx, node) })
	}
	nodes(room.Node{ID: "a", LastAlive: testTime(9)}) // it has current attendance, so it was not removed
	write(func(ctx context.Context) error {
		return db.EndAttendance(ctx, in.ID, testTime(9), room.LeftServer)
	})
	write(func(ctx context.Context) error { return db.RemoveNode(ctx, "a") })
	nodes()
}
