package db_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/store/storetest"
)

// writeObserver counts writes and records the sizes of transactions.
type writeObserver struct {
	mu             sync.Mutex
	writes, failed int
	callers        []int
}

func (o *writeObserver) ObserveWrite(took time.Duration, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writes++; err != nil || took <= 0 {
		o.failed++
	}
}

func (o *writeObserver) ObserveCommit(callers int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.callers = append(o.callers, callers)
}

func TestObserveWrites(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		g := newFixture(t, p)
		var seen writeObserver
		g.db.ObserveWrites(&seen)
		errWork := errors.New("work failed")
		callers := make([]func(), 5)
		for i := range callers {
			callers[i] = func() {
				err := g.db.Write(context.Background(), func(ctx context.Context) error {
					if i == 0 {
						return errWork
					}
					return g.db.Write(ctx, insertRoomWork(g.db, g.project, storetest.NewID())) // no write of its own
				})
				if (i == 0) != errors.Is(err, errWork) {
					t.Errorf("write %d: got error %v, want %v for write 0 and none for the others", i, err, errWork)
				}
			}
		}
		g.runInOneTransaction(t, callers...)
		seen.mu.Lock()
		defer seen.mu.Unlock()
		slices.Sort(seen.callers)
		blocking := g.db.Writers() // writes of runInOneTransaction
		want := append(slices.Repeat([]int{1}, blocking), len(callers))
		if diff := cmp.Diff(want, seen.callers); diff != "" || seen.writes != blocking+5 || seen.failed != 1 {
			t.Errorf("got %d writes, %d failed, want %d and 1; the transactions differ (-want +got):\n%s",
				seen.writes, seen.failed, blocking+5, diff)
		}
	})
}
