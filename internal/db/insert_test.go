package db_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// The rows of callers that share a transaction are inserted by one statement for
// each table.
func TestInsert_MergesRowsOfOneTable(t *testing.T) {
	t.Parallel()
	g := newFixture(t, storetest.Database{URL: storetest.Postgres(t)})
	callers := make([]func(), 20)
	for i := range callers {
		callers[i] = func() {
			err := g.db.Write(context.Background(), func(ctx context.Context) error {
				r := storetest.Room(g.project)
				if err := g.db.InsertRoom(ctx, r); err != nil {
					return err
				}
				return g.db.AppendEvents(ctx, []event.Event{storetest.Event(r, 1), storetest.Event(r, 2)})
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	g.runInOneTransaction(t, callers...)
	for table, want := range map[string]int{"rooms": len(callers), "events": 2 * len(callers)} {
		var rows, transactions, statements int
		err := g.queryRow(context.Background(), `SELECT count(*), count(DISTINCT xmin::text),
			count(DISTINCT (xmin::text, cmin::text)) FROM `+table, &rows, &transactions, &statements)
		if err != nil || rows != want || transactions > g.db.Writers() || statements != transactions {
			t.Errorf("%s: got %d rows, %d transactions, %d statements, %v, want %d rows and one statement for each transaction",
				table, rows, transactions, statements, err, want)
		}
	}
}

// Callers that insert, update and read in any order all succeed at the first
// run.
func TestInsert_MixedWithOtherStatements(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		g := newFixture(t, p)
		ctx := context.Background()
		known := g.insertRoom(t)
		var rooms []*room.Room
		var events, eventsOfKnown []event.Event
		var callers []func()
		for i := range 24 {
			n := time.Duration(i)
			r := storetest.Room(g.project)
			r.Title, r.MaxParticipants, r.DueAt = fmt.Sprint("Room ", i), i+1, r.DueAt.Add(n*time.Second)
			if i%2 == 0 {
				r.ClientRoomID, r.OpenedAt, r.StartAt = fmt.Sprint("client ", i), time.Time{}, r.CreatedAt.Add(n*time.Minute)
			}
			own, ofKnown := storetest.Event(r, 1), storetest.Event(known, i+1)
			rooms, events, eventsOfKnown = append(rooms, r), append(events, own), append(eventsOfKnown, ofKnown)
			steps := []func(ctx context.Context) error{
				func(ctx context.Context) error { return g.db.InsertRoom(ctx, r) },
				func(ctx context.Context) error { return g.db.AppendEvents(ctx, []event.Event{own}) },
				func(ctx context.Context) error { return g.db.AppendEvents(ctx, []event.Event{ofKnown}) },
			}
			switch i % 6 {
			case 1: // insert the event of the other room first
				steps[0], steps[1], steps[2] = steps[2], steps[0], steps[1]
			case 3: // update the inserted row in between
				ended := *r
				ended.State = room.Ended
				rooms[i] = &ended
				steps = slices.Insert(steps, 1, func(ctx context.Context) error { return g.db.UpdateRoom(ctx, &ended) })
			case 5: // read the inserted row at the end
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
					t.Errorf("caller %d: got %d runs, %v, want 1 run", i, runs, err)
				}
			})
		}
		g.runInOneTransaction(t, callers...)
		for i, r := range rooms {
			got, err := g.db.Room(ctx, r.ID)
			if diff := cmp.Diff(r, got, storetest.Exact); err != nil || diff != "" {
				t.Errorf("room %d: error %v (-want +got):\n%s", i, err, diff)
			}
			gotEvents, err := storetest.Events(ctx, g.db, r.ID)
			if diff := cmp.Diff(events[i:i+1], gotEvents, storetest.Exact); err != nil || diff != "" {
				t.Errorf("events of room %d: error %v (-want +got):\n%s", i, err, diff)
			}
		}
		got, err := storetest.Events(ctx, g.db, known.ID)
		if diff := cmp.Diff(eventsOfKnown, got, storetest.Exact); err != nil || diff != "" {
			t.Errorf("events of the known room: error %v (-want +got):\n%s", err, diff)
		}
	})
}
