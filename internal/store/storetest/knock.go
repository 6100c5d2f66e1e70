package storetest

import (
	"context"
	"testing"

	"parley/internal/fault"
	"parley/internal/room"
)

func (s *suite) testKnocks(t *testing.T) {
	ctx := patient()
	r, elsewhere := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	knock := func(roomID string, n int) room.Knock {
		return room.Knock{
			ID:        NewID(),
			RoomID:    roomID,
			KeyHash:   trickyTexts[n],
			Name:      trickyTexts[n],
			Network:   "192.0.2.1/32",
			CreatedAt: testTime(n),
			ExpiresAt: testTime(n + 10),
		}
	}
	first, second, other := knock(r.ID, 1), knock(r.ID, 2), knock(elsewhere.ID, 1)
	s.write(t, func(ctx context.Context) error {
		for _, k := range []room.Knock{second, first, other} {
			if err := s.db.UpsertKnock(ctx, k); err != nil {
				return err
			}
		}
		return nil
	})
	knocks := func(roomID string, want ...room.Knock) {
		t.Helper()
		got, err := s.db.Knocks(ctx, roomID)
		requireEqual(t, got, err, want)
	}
	knocks(r.ID, first, second)
	twin := knock(r.ID, 2)
	requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.UpsertKnock(ctx, twin) }))

	// UpsertKnock updates a knock that exists.
	first.Name, first.Denied, first.CreatedAt, first.ExpiresAt = trickyTexts[0], true, testTime(3), testTime(70)
	s.write(t, func(ctx context.Context) error { return s.db.UpsertKnock(ctx, first) })
	knocks(r.ID, second, first)

	stale := func(at int, want ...string) {
		t.Helper()
		rooms, err := s.db.RoomsWithStaleKnocks(ctx, testTime(at))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]int{}
		for _, id := range rooms {
			found[id]++
		}
		for _, id := range want {
			if found[id] != 1 {
				t.Fatalf("RoomsWithStaleKnocks at %d: got %v, want each of %v once", at, rooms, want)
			}
		}
		if len(want) != found[r.ID]+found[elsewhere.ID] {
			t.Fatalf("RoomsWithStaleKnocks at %d: got %v, want %v", at, rooms, want)
		}
	}
	stale(10)
	stale(11, elsewhere.ID)
	stale(12, r.ID, elsewhere.ID)
	s.write(t, func(ctx context.Context) error { return s.db.DeleteKnock(ctx, second.ID) })
	knocks(r.ID, first)
	stale(12, elsewhere.ID)
	stale(70, r.ID, elsewhere.ID)
}

// CountLinksCreatedInRoom counts only the links that participants created.
func (s *suite) testLinks_CreatedInRoom(t *testing.T) {
	ctx := patient()
	r, elsewhere := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	for i, l := range []room.Link{
		{RoomID: r.ID, CreatedBy: "seat"},
		{RoomID: r.ID},
		{RoomID: r.ID, CreatedBy: "another"},
		{RoomID: elsewhere.ID, CreatedBy: "seat"},
	} {
		l.ID, l.TokenHash, l.Role, l.CreatedAt = NewID(), NewID(), room.Guest, testTime(i)
		s.write(t, func(ctx context.Context) error { return s.db.InsertLink(ctx, l) })
		got, err := s.db.LinkByHash(ctx, l.RoomID, l.TokenHash)
		requireEqual(t, got, err, l)
	}
	n, err := s.db.CountLinksCreatedInRoom(ctx, r.ID)
	requireEqual(t, n, err, 2)
	_, err = s.db.LinkByHash(ctx, r.ID, "none")
	requireFault(t, err, fault.NotFound, "link_not_found")
}
