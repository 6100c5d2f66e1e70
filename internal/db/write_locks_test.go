package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"parley/internal/db"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// Two transactions that deadlock are retried, and both succeed.
func TestWrite_DeadlockRetried(t *testing.T) {
	t.Parallel()
	g := newFixture(t, storetest.Database{URL: storetest.Postgres(t)})
	ctx := storetest.Patient(t.Context())
	a, b := g.insertRoom(t), g.insertRoom(t)
	runs := make([]int, 2)
	var hasFirst [2]chan struct{} // closed when a transaction has its first lock
	for i := range hasFirst {
		hasFirst[i] = make(chan struct{})
	}
	var wg sync.WaitGroup
	for i, order := range [][]*room.Room{{a, b}, {b, a}} {
		arrive := sync.OnceFunc(func() { close(hasFirst[i]) })
		wg.Go(func() {
			defer arrive() // so that the other one does not wait forever if this one fails
			err := g.db.Write(ctx, func(ctx context.Context) error {
				runs[i]++
				for _, r := range order {
					locked, err := g.db.LockRoom(ctx, r.ID)
					if err != nil {
						return err
					}
					locked.EventSequence++
					if err := g.db.UpdateRoom(ctx, locked); err != nil {
						return err
					}
					arrive()
					<-hasFirst[1-i]
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-hasFirst[i] // one writer would take two queued callers into one transaction
	}
	wg.Wait()
	if runs[0]+runs[1] < 3 {
		t.Errorf("there was no deadlock: got runs %v, want at least 3 in total", runs)
	}
	for _, r := range []*room.Room{a, b} {
		got, err := g.db.Room(ctx, r.ID)
		if err != nil || got.EventSequence != r.EventSequence+2 {
			t.Errorf("got %+v, %v, want EventSequence %d", got, err, r.EventSequence+2)
		}
	}
}

// Many callers lock rooms in any order. No change is lost, no call fails, and none
// waits until the database detects a deadlock.
func TestWrite_LocksInAnyOrder(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		g := newFixture(t, p)
		ctx := db.WithWriteTimeout(context.Background(), time.Minute) // because this is about locks, not speed
		rooms := make([]string, 8)
		for i := range rooms {
			rooms[i] = g.insertRoom(t).ID
		}
		const writers, rounds = 64, 10
		began := time.Now()
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range rounds {
					err := g.db.Write(ctx, func(ctx context.Context) error {
						r, err := g.db.LockRoom(ctx, rooms[(w*(i+1)+i)%len(rooms)])
						if err != nil {
							return err
						}
						r.EventSequence++
						return g.db.UpdateRoom(ctx, r)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		t.Logf("%d writes in %s", writers*rounds, time.Since(began))
		total := 0
		err := g.queryRow(ctx, `SELECT sum(event_sequence) FROM rooms`, &total)
		if want := len(rooms) + writers*rounds; err != nil || total != want {
			t.Errorf("sum of event_sequence: got %d, %v, want %d", total, err, want)
		}
	})
}
