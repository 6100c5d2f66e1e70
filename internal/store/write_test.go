package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// Callers that wait at the same time see each other's work before anybody else
// does: they are in one transaction.
func TestWrite_GroupCommit(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		g := newFixture(t, p)
		rooms := newRoomIDs(20)
		callers := make([]func(), len(rooms))
		lanes := make(chan int, len(rooms))
		for i, id := range rooms {
			callers[i] = func() {
				var seen int
				err := g.db.Write(context.Background(), func(ctx context.Context) error {
					if err := g.db.QueryRow(ctx, `SELECT count(*) FROM rooms`, &seen); err != nil {
						return err
					}
					var outside int
					if err := g.db.QueryRow(context.Background(), `SELECT count(*) FROM rooms`, &outside); err != nil || outside > 0 {
						t.Error("seen from outside:", outside, err)
					}
					return insertRoomWork(g.db, g.project, id)(ctx)
				})
				if err != nil {
					t.Error(err)
				}
				lanes <- seen
			}
		}
		g.runInOneTransaction(t, callers...)
		close(lanes)
		seen := make([]bool, len(rooms))
		for n := range lanes {
			seen[n] = true
		}
		for n, ok := range seen {
			if !ok {
				t.Errorf("nobody saw %d rooms: the callers were not in one transaction", n)
			}
		}
		g.checkRooms(t, true, rooms...)
	})
}

// Whatever becomes of one caller, those before and after it in the same
// transaction are committed, and it leaves nothing behind.
func TestWrite_FailureIsolated(t *testing.T) {
	mine := errors.New("mine")
	faults := map[string]struct {
		work func(ctx context.Context, g fixture) error
		want func(err error) bool
	}{
		"error": {
			work: func(context.Context, fixture) error { return mine },
			want: func(err error) bool { return err == mine },
		},
		"constraint": {
			work: func(ctx context.Context, g fixture) error {
				return insertRoomWork(g.db, storetest.NewID(), storetest.NewID())(ctx) // there is no such project
			},
			want: func(err error) bool { return err != nil && fault.From(err).Kind == fault.Internal },
		},
		"constraint after a read": {
			work: func(ctx context.Context, g fixture) error {
				if err := g.db.QueryRow(ctx, `SELECT 1`, new(int)); err != nil {
					return err
				}
				return insertRoomWork(g.db, storetest.NewID(), storetest.NewID())(ctx)
			},
			want: func(err error) bool { return err != nil && fault.From(err).Kind == fault.Internal },
		},
		"constraint ignored": {
			work: func(ctx context.Context, g fixture) error {
				_ = insertRoomWork(g.db, storetest.NewID(), storetest.NewID())(ctx)
				return nil
			},
			want: func(err error) bool { return err != nil },
		},
		"bad statement": {
			work: func(ctx context.Context, g fixture) error { return g.db.QueryRow(ctx, `SELECT nonsense`) },
			want: func(err error) bool { return err != nil },
		},
		"bad statement ignored": {
			work: func(ctx context.Context, g fixture) error { _ = g.db.QueryRow(ctx, `SELECT nonsense`); return nil },
			want: func(err error) bool { return err != nil },
		},
		"not found": {
			work: func(ctx context.Context, g fixture) error { return g.db.UpdateRoom(ctx, storetest.Room(g.project)) },
			want: func(err error) bool { return fault.Is(err, fault.NotFound) },
		},
		"panic": {
			work: func(context.Context, fixture) error { panic(mine) },
			want: func(err error) bool { return err == errPanicked },
		},
		"exit": {
			work: func(context.Context, fixture) error { runtime.Goexit(); return nil },
			want: func(err error) bool { return err == errExited },
		},
		"torn connection": {
			work: func(ctx context.Context, g fixture) error {
				if g.url != "" {
					_ = g.db.QueryRow(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`, new(bool))
				}
				return mine
			},
			want: func(err error) bool { return err == mine || fault.Is(err, fault.Unavailable) },
		},
	}
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		g := newFixture(t, p)
		for name, f := range faults {
			t.Run(name, func(t *testing.T) {
				good, bad := newRoomIDs(9), newRoomIDs(3)
				var callers []func()
				for i, id := range good {
					callers = append(callers, func() {
						err := g.db.Write(context.Background(), func(ctx context.Context) error {
							if i%2 == 0 { // some read, some only write
								if err := g.db.QueryRow(ctx, `SELECT 1`, new(int)); err != nil {
									return err
								}
							}
							return insertRoomWork(g.db, g.project, id)(ctx)
						})
						if err != nil {
							t.Errorf("caller %d: %v", i, err)
						}
					})
					if i%3 != 1 {
						continue
					}
					id := bad[i/3]
					callers = append(callers, func() {
						err := recoverError(func() error {
							return g.db.Write(context.Background(), func(ctx context.Context) error {
								if err := insertRoomWork(g.db, g.project, id)(ctx); err != nil {
									return err
								}
								return f.work(ctx, g)
							})
						})
						if !f.want(err) {
							t.Errorf("the bad caller got %v", err)
						}
						g.checkRooms(t, false, id)
					})
				}
				g.runInOneTransaction(t, callers...)
				g.checkRooms(t, true, good...)
			})
		}
		// The lanes live on.
		if err := g.db.Ping(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// A panic arrives where Write was called, with the stack that led to it.
func TestWrite_PanicReachesCaller(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		g := newFixture(t, p)
		cause := errors.New("cause")
		defer func() {
			p, ok := recover().(*store.Panic)
			if !ok || !errors.Is(p, cause) || p.Value != cause {
				t.Fatalf("another panic: %v", p)
			}
			if said := p.Error(); !strings.HasPrefix(said, "cause\n") || !strings.Contains(said, "panicWithCause") {
				t.Errorf("it does not say who panicked:\n%s", said)
			}
		}()
		_ = g.db.Write(context.Background(), func(context.Context) error { panicWithCause(cause); return nil })
	})
}

//go:noinline
func panicWithCause(cause error) { panic(cause) }

// Who gives up while it waits has changed nothing, and is told at once.
func TestWrite_CanceledWhileQueued(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		g := newFixture(t, p)
		id := storetest.NewID()
		release := g.blockWriters(t)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- g.db.Write(ctx, insertRoomWork(g.db, g.project, id)) }()
		g.awaitQueued(1)
		cancel()
		if err := <-done; !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		release()
		if err := g.db.Ping(context.Background()); err != nil {
			t.Fatal(err)
		}
		g.checkRooms(t, false, id)
	})
}

// Once its work has begun, a caller's cancellation reaches neither the others
// nor itself: it is told what happened.
func TestWrite_CanceledDuringWork(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		g := newFixture(t, p)
		rooms := newRoomIDs(9)
		var callers []func()
		for i, id := range rooms {
			callers = append(callers, func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				err := g.db.Write(ctx, func(ctx context.Context) error {
					if i == 4 {
						cancel()
					}
					return insertRoomWork(g.db, g.project, id)(ctx)
				})
				if err != nil {
					t.Errorf("caller %d: %v", i, err)
				}
			})
		}
		g.runInOneTransaction(t, callers...)
		g.checkRooms(t, true, rooms...)
	})
}

// An answer means that the commit is done: somebody else finds the row.
func TestWrite_ReturnsAfterCommit(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		g := newFixture(t, p)
		raw := g.raw(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for _, id := range newRoomIDs(25) {
					if err := g.db.Write(context.Background(), insertRoomWork(g.db, g.project, id)); err != nil {
						t.Error(err)
						return
					}
					if !roomExists(t, raw, id) {
						t.Errorf("room %s was acknowledged and is not there", id)
					}
				}
			})
		}
		wg.Wait()
	})
}

// Close finishes what was accepted.
func TestClose_FinishesAcceptedWrites(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		g := newFixture(t, p)
		rooms := newRoomIDs(150)
		release := g.blockWriters(t)
		var wg sync.WaitGroup
		for i, id := range rooms {
			wg.Go(func() {
				if err := g.db.Write(context.Background(), insertRoomWork(g.db, g.project, id)); err != nil {
					t.Error(err)
				}
			})
			g.awaitQueued(i + 1)
		}
		wg.Go(func() { _ = g.db.Close() })
		for !errors.Is(g.db.Write(canceledContext(), func(context.Context) error { return nil }), store.ErrClosed) {
			runtime.Gosched()
		}
		release()
		wg.Wait()
		g.checkRooms(t, true, rooms...)
	})
}

// A caller that fills the disk up is refused; SQLite undoes everybody's work
// over it, and those who find room run again.
func TestWrite_FullDisk(t *testing.T) {
	t.Parallel()
	g := newFixture(t, testDatabase{dir: t.TempDir()})
	limit := func(ctx context.Context) error {
		var pages int
		if err := g.db.QueryRow(ctx, `PRAGMA page_count`, &pages); err != nil {
			return err
		}
		return g.db.QueryRow(ctx, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+20), &pages)
	}
	good, bad := newRoomIDs(6), storetest.NewID()
	ctx := store.WithWriteTimeout(context.Background(), time.Minute) // how soon is no matter here
	var callers []func()
	for i, id := range good {
		callers = append(callers, func() {
			err := g.db.Write(ctx, func(ctx context.Context) error {
				if i == 2 { // the bad one is next, and the limit goes with the connection
					if err := limit(ctx); err != nil {
						return err
					}
				}
				return insertRoomWork(g.db, g.project, id)(ctx)
			})
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
		})
		if i == 2 {
			callers = append(callers, func() {
				err := g.db.Write(ctx, func(ctx context.Context) error {
					r := storetest.Room(g.project)
					r.ID, r.WelcomeMessage = bad, strings.Repeat("too much ", 100_000)
					return g.db.InsertRoom(ctx, r)
				})
				if !fault.Is(err, fault.Unavailable) {
					t.Errorf("the bad caller got %v", err)
				}
			})
		}
	}
	if err := g.db.RecentWriteError(); err != nil {
		t.Errorf("before: %v", err)
	}
	g.runInOneTransaction(t, callers...)
	g.checkRooms(t, true, good...)
	g.checkRooms(t, false, bad)
	if g.db.RecentWriteError() == nil || g.db.Ping(ctx) != nil {
		t.Error("a full disk is not reported, or counts as a database that is away")
	}
}

// While a transaction is under way no other process writes: what was read in
// it stays true until its commit.
func TestSQLite_OneWriter(t *testing.T) {
	t.Parallel()
	g := newFixture(t, testDatabase{dir: t.TempDir()})
	raw := g.raw(t)
	rename := func() error {
		_, err := raw.Exec(`UPDATE projects SET name = 'changed'`)
		return err
	}
	err := g.db.Write(context.Background(), func(ctx context.Context) error {
		if _, err := g.db.Project(ctx, g.project); err != nil {
			return err
		}
		if err := rename(); err == nil {
			t.Error("another process wrote in between")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := rename(); err != nil {
		t.Error(err)
	}
}
