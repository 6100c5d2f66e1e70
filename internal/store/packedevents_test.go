package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// Rooms whose events cannot be packed do not keep the others waiting, however many they are.
func TestPackEvents_DamagedRooms(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := storetest.SQLite(t)
	p := storetest.Project(t, db)
	const damaged = 200
	end := time.Now().Add(-48 * time.Hour)
	storetest.Fill(t, db, p.ID, damaged, end.Add(-time.Hour), end, 1)
	err := db.Write(ctx, func(ctx context.Context) error { return db.Exec(ctx, `UPDATE events SET data = '{'`) })
	if err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, db, p.ID, 1, end.Add(24*time.Hour), end.Add(25*time.Hour), 2)
	storetest.Pack(t, db, time.Now())
	var rooms int
	err = db.QueryRow(ctx, nil, `SELECT count(*) FROM packed_events`, nil, &rooms)
	if err != nil || rooms != 1 {
		t.Errorf("got packed events of %d rooms, %v, want 1", rooms, err)
	}
}

// The data of an event stays as it is, because a later program may have added fields. An event with broken data
// prevents neither the packing of other rooms nor that of the events before it.
func TestPackEvents_KeepsData(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := storetest.SQLite(t)
	p := storetest.Project(t, db)
	const added, broken = `{"t":"video","added_later":{"some":["value"]}}`, `{"t":`
	newRoom := func(data string) *room.Room {
		t.Helper()
		r := storetest.Room(p.ID)
		var events []event.Event
		for n := range 3 {
			events = append(events, storetest.Event(r, n+1))
		}
		events[2].Type = event.RoomEnded
		err := db.Write(ctx, func(ctx context.Context) error {
			return errors.Join(db.InsertRoom(ctx, r), db.AppendEvents(ctx, events),
				db.Exec(ctx, `UPDATE events SET data = $2 WHERE room_id = $1 AND sequence = 2`, r.ID, data))
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, second := newRoom(broken), newRoom(added)
	storetest.Pack(t, db, time.Now())
	if data, err := store.PackedData(ctx, db, first.ID); err != nil || len(data) != 1 {
		t.Errorf("room with broken data: got %q, %v, want the event before it", data, err)
	}
	if data, err := store.PackedData(ctx, db, second.ID); err != nil || len(data) != 3 || data[1] != added {
		t.Fatalf("room with an unknown field: got %q, %v, want 3 events with it", data, err)
	}
	events, err := db.RoomEvents(ctx, second.ID, 2, 1)
	if err == nil {
		events[0].Data.EndReason = "changed"
		err = db.Write(ctx, func(ctx context.Context) error { return db.UpdateEvents(ctx, events) })
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := store.PackedData(ctx, db, second.ID)
	if err != nil || len(data) != 3 || data[1] != added || data[2] == data[0] {
		t.Errorf("after a change of another event: got %q, %v, want the unknown field", data, err)
	}
}
