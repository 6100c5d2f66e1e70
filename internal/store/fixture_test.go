package store_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"parley/internal/store"
	"parley/internal/store/storetest"
)

// fixture is a database with a project, for tests of who shares a transaction.
type fixture struct {
	testDatabase
	db      *store.DB
	project string
}

func newFixture(t *testing.T, p testDatabase) fixture {
	t.Helper()
	db := p.open(t)
	return fixture{testDatabase: p, db: db, project: storetest.Project(t, db).ID}
}

// runInOneTransaction has callers share a transaction, in their order: the lanes are kept
// busy until all of them wait.
func (g fixture) runInOneTransaction(t *testing.T, callers ...func()) {
	t.Helper()
	release := g.blockWriters(t)
	var wg sync.WaitGroup
	for i, c := range callers {
		wg.Go(c)
		g.awaitQueued(i + 1)
	}
	release()
	wg.Wait()
}

// blockWriters keeps every lane busy until it is told to release them. One takes all
// who wait by then before another is free to take any.
func (g fixture) blockWriters(t *testing.T) (release func()) {
	t.Helper()
	var busy, done sync.WaitGroup
	holds := make([]chan struct{}, g.db.Writers())
	for i := range holds {
		hold := make(chan struct{})
		holds[i] = hold
		busy.Add(1)
		var once sync.Once
		done.Go(func() {
			err := g.db.Write(context.Background(), func(context.Context) error {
				once.Do(busy.Done)
				<-hold
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		busy.Wait() // one after the other, or a lane would take two of them
	}
	return func() {
		for _, hold := range holds {
			close(hold)
			for g.db.Queued() > 0 {
				runtime.Gosched()
			}
		}
		done.Wait()
	}
}

func (g fixture) awaitQueued(n int) {
	for g.db.Queued() < n {
		runtime.Gosched()
	}
}

func (g fixture) checkRooms(t *testing.T, want bool, ids ...string) {
	t.Helper()
	raw := g.raw(t)
	for i, id := range ids {
		if roomExists(t, raw, id) != want {
			t.Errorf("room %d is there: %v", i, !want)
		}
	}
}

func newRoomIDs(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = storetest.NewID()
	}
	return list
}

var (
	errPanicked = errors.New("panicked")
	errExited   = errors.New("exited")
)

// recoverError runs f on a goroutine of its own and says how it ended.
func recoverError(f func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = errExited
		defer func() {
			if recover() != nil {
				err = errPanicked
			}
		}()
		err = f()
	}()
	<-done
	return err
}

func canceledContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
