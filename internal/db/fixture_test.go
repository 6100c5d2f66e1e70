package db_test

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync"
	"testing"

	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// fixture is a database with a project, for tests of group commit.
type fixture struct {
	storetest.Database
	db      *store.DB
	project string
}

func newFixture(t *testing.T, p storetest.Database) fixture {
	t.Helper()
	db := p.Open(t)
	return fixture{Database: p, db: db, project: storetest.Project(t, db).ID}
}

// runInOneTransaction makes callers share a transaction, in their order, by
// blocking the writers until all callers are queued.
func (f fixture) runInOneTransaction(t *testing.T, callers ...func()) {
	t.Helper()
	release := f.blockWriters(t)
	var wg sync.WaitGroup
	for i, c := range callers {
		wg.Go(c)
		f.awaitQueued(i + 1)
	}
	release()
	wg.Wait()
}

// blockWriters blocks every writer until release is called. The first writer
// that is released takes all queued callers before release continues with the
// next.
func (f fixture) blockWriters(t *testing.T) (release func()) {
	t.Helper()
	var busy, done sync.WaitGroup
	holds := make([]chan struct{}, f.db.Writers())
	for i := range holds {
		hold := make(chan struct{})
		holds[i] = hold
		busy.Add(1)
		var once sync.Once
		done.Go(func() {
			err := f.db.Write(context.Background(), func(context.Context) error {
				once.Do(busy.Done)
				<-hold
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		busy.Wait() // because one writer would take two queued callers
	}
	return func() {
		for _, hold := range holds {
			close(hold)
			for f.db.Queued() > 0 {
				runtime.Gosched()
			}
		}
		done.Wait()
	}
}

func (f fixture) awaitQueued(n int) {
	for f.db.Queued() < n {
		runtime.Gosched()
	}
}

// queryRow scans the row of a query into dest.
func (f fixture) queryRow(ctx context.Context, q string, dest ...any) error {
	return f.db.QueryRow(ctx, errNoRow, q, nil, dest...)
}

func (f fixture) checkRooms(t *testing.T, want bool, ids ...string) {
	t.Helper()
	raw := f.Raw(t)
	for i, id := range ids {
		if roomExists(t, raw, id) != want {
			t.Errorf("room %d exists: got %t, want %t", i, !want, want)
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
	errNoRow    = errors.New("no row")
)

// recoverError runs f on its own goroutine and returns its error, errPanicked or
// errExited.
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

// insertRoom inserts a room in a transaction of its own and returns it.
func (f fixture) insertRoom(t *testing.T) *room.Room {
	t.Helper()
	r := storetest.Room(f.project)
	err := f.db.Write(t.Context(), func(ctx context.Context) error { return f.db.InsertRoom(ctx, r) })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// insertRoomWork returns work for Write that inserts a room.
func insertRoomWork(db *store.DB, projectID, id string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		r := storetest.Room(projectID)
		r.ID = id
		return db.InsertRoom(ctx, r)
	}
}

// roomExists reports whether there is a room with that id.
func roomExists(t testing.TB, db *sql.DB, id string) bool {
	t.Helper()
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM rooms WHERE id = $1`, id).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n == 1
}
