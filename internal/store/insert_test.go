package store_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

func newRoomEvent(r *room.Room, sequence int) event.Event {
	return event.Event{ID: storetest.NewID(), Type: event.RoomOpened, ProjectID: r.ProjectID, RoomID: r.ID, Sequence: int64(sequence),
		At: r.CreatedAt, Data: event.Data{RoomID: r.ID, RoomType: string(r.Type), EndReason: fmt.Sprint("sequence ", sequence)}}
}

// Rows of callers that share a transaction become one statement for each table.
func TestInsert_MergesRowsOfOneTable(t *testing.T) {
	t.Parallel()
	g := newFixture(t, testDatabase{url: storetest.Postgres(t)})
	callers := make([]func(), 20)
	for i := range callers {
		callers[i] = func() {
			err := g.db.Write(context.Background(), func(ctx context.Context) error {
				r := storetest.Room(g.project)
				if err := g.db.InsertRoom(ctx, r); err != nil {
					return err
				}
				return g.db.AppendEvents(ctx, []event.Event{newRoomEvent(r, 1), newRoomEvent(r, 2)})
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	g.runInOneTransaction(t, callers...)
	for table, want := range map[string]int{"rooms": len(callers), "events": 2 * len(callers)} {
		var rows, transactions, statements int
		err := g.db.QueryRow(context.Background(), `SELECT count(*), count(DISTINCT xmin::text), count(DISTINCT (xmin::text, cmin::text)) FROM `+table,
			&rows, &transactions, &statements)
		if err != nil || rows != want || transactions > g.db.Writers() || statements != transactions {
			t.Errorf("%s: %d rows of %d transactions and %d statements, %v", table, rows, transactions, statements, err)
		}
	}
}

// In whatever order callers add rows, change and read: all of it is done, as
// it was meant, and the first time.
func TestInsert_MixedWithOtherStatements(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		g := newFixture(t, p)
		ctx := context.Background()
		known := storetest.Room(g.project)
		if err := g.db.Write(ctx, func(ctx context.Context) error { return g.db.InsertRoom(ctx, known) }); err != nil {
			t.Fatal(err)
		}
		var rooms []*room.Room
		var told, toldOfKnown []event.Event
		var callers []func()
		for i := range 24 {
			n := time.Duration(i)
			r := storetest.Room(g.project)
			r.Title, r.MaxParticipants, r.DueAt = fmt.Sprint("Room ", i), i+1, r.DueAt.Add(n*time.Second)
			if i%2 == 0 {
				r.ClientRoomID, r.OpenedAt, r.StartAt = fmt.Sprint("client ", i), time.Time{}, r.CreatedAt.Add(n*time.Minute)
			}
			own, ofKnown := newRoomEvent(r, 1), newRoomEvent(known, i+1)
			rooms, told, toldOfKnown = append(rooms, r), append(told, own), append(toldOfKnown, ofKnown)
			steps := []func(ctx context.Context) error{
				func(ctx context.Context) error { return g.db.InsertRoom(ctx, r) },
				func(ctx context.Context) error { return g.db.AppendEvents(ctx, []event.Event{own}) },
				func(ctx context.Context) error { return g.db.AppendEvents(ctx, []event.Event{ofKnown}) },
			}
			switch i % 6 {
			case 1: // the event of the other room first
				steps[0], steps[1], steps[2] = steps[2], steps[0], steps[1]
			case 3: // something in between that needs the row
				ended := *r
				ended.State = room.Ended
				rooms[i] = &ended
				steps = slices.Insert(steps, 1, func(ctx context.Context) error { return g.db.UpdateRoom(ctx, &ended) })
			case 5: // which is read
				steps = append(steps, func(ctx context.Context) error { _, err := g.db.LockRoom(ctx, r.ID); return err })
			}
			callers = append(callers, func() {
				runs := 0
				err := g.db.Write(ctx, func(ctx context.Context) error {
					runs++
					for _, step := range steps {
						if err := step(ctx); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil || runs != 1 {
					t.Errorf("caller %d: %d runs, %v", i, runs, err)
				}
			})
		}
		g.runInOneTransaction(t, callers...)
		for i, r := range rooms {
			if got, err := g.db.Room(ctx, r.ID); err != nil || !reflect.DeepEqual(got, r) {
				t.Errorf("room %d: %+v, %v, want %+v", i, got, err, r)
			}
			if got, err := g.db.Events(ctx, r.ID, 0); err != nil || !reflect.DeepEqual(got, told[i:i+1]) {
				t.Errorf("events of room %d: %+v, %v", i, got, err)
			}
		}
		if got, err := g.db.Events(ctx, known.ID, 0); err != nil || !reflect.DeepEqual(got, toldOfKnown) {
			t.Errorf("events of the known room: %+v, %v", got, err)
		}
	})
}
