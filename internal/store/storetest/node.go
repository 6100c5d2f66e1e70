package storetest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"parley/internal/room"
)

func (s *suite) testNodes(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	nodes := func(want ...room.Node) {
		t.Helper()
		got, err := db.Nodes(ctx)
		slices.SortFunc(got, func(a, b room.Node) int { return cmp.Compare(a.ID, b.ID) })
		for i := range want {
			want[i].KnowsDrain = true // as every heartbeat of this program says
		}
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
		write(func(ctx context.Context) error { return db.RecordHeartbeat(ctx, heartbeatOf(node, at)) })
	}
	remove := func(node string, want bool) {
		t.Helper()
		write(func(ctx context.Context) error {
			got, err := db.RemoveNode(ctx, node)
			requireEqual(t, got, err, want)
			return nil
		})
	}
	nodes()
	heartbeat("a", 5)
	heartbeat("b", 6)
	heartbeat("a", 9)
	nodes(heartbeatOf("a", 9), heartbeatOf("b", 6))

	// Findings stay until a heartbeat has others.
	for _, findings := range []string{trickyTexts[0], trickyTexts[0], ""} {
		changed := heartbeatOf("a", 9)
		changed.Findings = findings
		write(func(ctx context.Context) error { return db.RecordHeartbeat(ctx, changed) })
		nodes(changed, heartbeatOf("b", 6))
	}

	// A heartbeat does not end a drain.
	drain := func(node string, d room.Drain, want bool) {
		t.Helper()
		write(func(ctx context.Context) error {
			before, found, err := db.SetDrain(ctx, node, d)
			requireEqual(t, found, err, want)
			requireEqual(t, before.Active(), nil, found && !d.Active())
			return nil
		})
	}
	draining := heartbeatOf("a", 9)
	draining.Drain = room.Drain{StartedAt: testTime(10), By: testTime(20)}
	drain("a", draining.Drain, true)
	drain("c", draining.Drain, false)
	heartbeat("a", 9)
	nodes(draining, heartbeatOf("b", 6))
	drain("a", room.Drain{}, true)
	nodes(heartbeatOf("a", 9), heartbeatOf("b", 6))

	r := Room(Project(t, db).ID)
	seat := newSeat(r.ID, room.Joined, 1)
	in := room.Attendance{
		ID:         NewID(),
		RoomID:     r.ID,
		Session:    1,
		SeatID:     seat.ID,
		Connection: "PA_1",
		Node:       "a",
		JoinedAt:   testTime(1),
	}
	write(func(ctx context.Context) error {
		if err := db.InsertRoom(ctx, r); err != nil {
			return err
		}
		if err := db.InsertSeat(ctx, seat); err != nil {
			return err
		}
		_, err := db.InsertAttendance(ctx, in, in.JoinedAt)
		return err
	})
	for node, want := range map[string][]string{"a": {r.ID}, "b": nil} {
		got, err := db.RoomsOfNode(ctx, node)
		requireEqual(t, got, err, want)
		remove(node, node == "b")
	}
	loads, err := db.NodeLoads(ctx)
	requireEqual(t, loads, err, map[string]room.NodeLoad{"a": {Sessions: 1, People: 1}})
	nodes(heartbeatOf("a", 9)) // it has current attendance, so it was not removed
	write(func(ctx context.Context) error {
		in.LeftAt, in.Reason = testTime(9), room.LeftServer
		return db.EndAttendance(ctx, in, in.LeftAt)
	})
	remove("a", true)
	remove("a", false)
	nodes()
}

// heartbeatOf is the heartbeat of a node at a time.
func heartbeatOf(node string, at int) room.Node {
	return room.Node{
		ID:            node,
		Version:       "v1.2.3",
		StartedAt:     testTime(1),
		LastAlive:     testTime(at),
		Redis:         room.RedisOK,
		RelayedPeople: at,
	}
}
