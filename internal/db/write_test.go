package db_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/store/storetest"
)

// Callers that wait at the same time share a transaction: each sees the changes
// of those before it, which no other connection sees yet.
func TestWrite_GroupCommit(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		g := newFixture(t, p)
		rooms := newRoomIDs(20)
		callers := make([]func(), len(rooms))
		counts := make(chan int, len(rooms))
		for i, id := range rooms {
			callers[i] = func() {
				var seen int
				err := g.db.Write(context.Background(), func(ctx context.Context) error {
					if err := g.queryRow(ctx, `SELECT count(*) FROM rooms`, &seen); err != nil {
						return err
					}
					var outside int
					if err := g.queryRow(context.Background(), `SELECT count(*) FROM rooms`, &outside); err != nil || outside > 0 {
						t.Errorf("rooms outside the transaction: got %d, %v, want 0", outside, err)
					}
					return insertRoomWork(g.db, g.project, id)(ctx)
				})
				if err != nil {
					t.Error(err)
				}
				counts <- seen
			}
		}
		g.runInOneTransaction(t, callers...)
		close(counts)
		seen := make([]bool, len(rooms))
		for n := range counts {
			seen[n] = true
		}
		for n, ok := range seen {
			if !ok {
				t.Errorf("no caller saw %d rooms, want all callers in one transaction", n)
			}
		}
		g.checkRooms(t, true, rooms...)
	})
}

// If one caller fails in any way, its changes are rolled back, and those of the
// other callers in the same transaction are committed.
func TestWrite_FailureIsolated(t *testing.T) {
	errWork := errors.New("work failed")
	failures := map[string]struct {
		work func(ctx context.Context, g fixture) error
		want func(err error) bool
	}{
		"error": {
			work: func(context.Context, fixture) error { return errWork },
			want: func(err error) bool { return err == errWork },
		},
		"constraint": {
			work: func(ctx context.Context, g fixture) error {
				return insertRoomWork(g.db, storetest.NewID(), storetest.NewID())(ctx) // unknown project
			},
			want: func(err error) bool { return err != nil && fault.From(err).Kind == fault.Internal },
		},
		"constraint after a read": {
			work: func(ctx context.Context, g fixture) error {
				if err := g.queryRow(ctx, `SELECT 1`, new(int)); err != nil {
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
			work: func(ctx context.Context, g fixture) error { return g.queryRow(ctx, `SELECT nonsense`) },
			want: func(err error) bool { return err != nil },
		},
		"bad statement ignored": {
			work: func(ctx context.Context, g fixture) error { _ = g.queryRow(ctx, `SELECT nonsense`); return nil },
			want: func(err error) bool { return err != nil },
		},
		"not found": {
			work: func(ctx context.Context, g fixture) error { return g.db.UpdateRoom(ctx, storetest.Room(g.project)) },
			want: func(err error) bool { return fault.Is(err, fault.NotFound) },
		},
		"panic": {
			work: func(context.Context, fixture) error { panic(errWork) },
			want: func(err error) bool { return err == errPanicked },
		},
		"exit": {
			work: func(context.Context, fixture) error { runtime.Goexit(); return nil },
			want: func(err error) bool { return err == errExited },
		},
		"lost connection": {
			work: func(ctx context.Context, g fixture) error {
				if g.URL != "" {
					_ = g.queryRow(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`, new(bool))
				}
				return errWork
			},
			want: func(err error) bool { return err == errWork || fault.Is(err, fault.Unavailable) },
		},
	}
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		g := newFixture(t, p)
		for name, f := range failures {
			t.Run(name, func(t *testing.T) {
				good, bad := newRoomIDs(9), newRoomIDs(3)
				var callers []func()
				for i, id := range good {
					callers = append(callers, func() {
						// A busy machine may need more than 900 ms to replace a lost connection.
						err := g.db.Write(db.WithWriteTimeout(context.Background(), 20*time.Second),
							func(ctx context.Context) error {
								if i%2 == 0 { // half of the callers read first
									if err := g.queryRow(ctx, `SELECT 1`, new(int)); err != nil {
										return err
									}
								}
								return insertRoomWork(g.db, g.project, id)(ctx)
							})
						if err != nil {
							t.Errorf("caller %d: got error %v, want none", i, err)
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
							t.Errorf("the failing caller got %v, want the failure of case %s", err, name)
						}
						g.checkRooms(t, false, id)
					})
				}
				g.runInOneTransaction(t, callers...)
				g.checkRooms(t, true, good...)
			})
		}
		// The writers still run.
		if err := g.db.Ping(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// A panic is raised again on the goroutine that called Write, with its stack.
func TestWrite_PanicReachesCaller(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		g := newFixture(t, p)
		cause := errors.New("cause")
		defer func() {
			p, ok := recover().(*db.Panic)
			if !ok || !errors.Is(p, cause) || p.Value != cause {
				t.Fatalf("got panic %v, want one with value %v", p, cause)
			}
			if text := p.Error(); !strings.HasPrefix(text, "cause\n") || !strings.Contains(text, "panicWithCause") {
				t.Errorf("got panic text\n%s\nwant the cause and a stack with panicWithCause", text)
			}
		}()
		_ = g.db.Write(context.Background(), func(context.Context) error { panicWithCause(cause); return nil })
	})
}

//go:noinline
func panicWithCause(cause error) { panic(cause) }

// A caller that cancels while it is queued returns at once and changes nothing.
func TestWrite_CanceledWhileQueued(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		g := newFixture(t, p)
		id := storetest.NewID()
		release := g.blockWriters(t)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- g.db.Write(ctx, insertRoomWork(g.db, g.project, id)) }()
		g.awaitQueued(1)
		cancel()
		if err := <-done; !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want Unavailable caused by context.Canceled", err)
		}
		release()
		if err := g.db.Ping(context.Background()); err != nil {
			t.Fatal(err)
		}
		g.checkRooms(t, false, id)
	})
}

// A cancellation during the work affects neither this caller nor the others.
func TestWrite_CanceledDuringWork(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
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
					t.Errorf("caller %d: got error %v, want none", i, err)
				}
			})
		}
		g.runInOneTransaction(t, callers...)
		g.checkRooms(t, true, rooms...)
	})
}

// Write returns after the commit, so another connection finds the row.
func TestWrite_ReturnsAfterCommit(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		g := newFixture(t, p)
		raw := g.Raw(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for _, id := range newRoomIDs(25) {
					if err := g.db.Write(context.Background(), insertRoomWork(g.db, g.project, id)); err != nil {
						t.Error(err)
						return
					}
					if !roomExists(t, raw, id) {
						t.Errorf("committed room %s: got no row, want one", id)
					}
				}
			})
		}
		wg.Wait()
	})
}

// Changes has grown when Write returns.
func TestChanges(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		g := newFixture(t, p)
		for _, id := range newRoomIDs(100) {
			before, _ := g.db.Changes()
			err := g.db.Write(context.Background(), insertRoomWork(g.db, g.project, id))
			after, complete := g.db.Changes()
			if err != nil || after <= before || complete != (g.URL == "") {
				t.Fatalf("got %d after %d, complete %t, error %v, want more, and complete on SQLite only",
					after, before, complete, err)
			}
		}
	})
}

// Close finishes the accepted writes.
func TestClose_FinishesAcceptedWrites(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
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
		for !errors.Is(g.db.Write(canceledContext(), func(context.Context) error { return nil }), db.ErrClosed) {
			runtime.Gosched()
		}
		release()
		wg.Wait()
		g.checkRooms(t, true, rooms...)
	})
}

// A caller that fills the disk fails. SQLite then rolls back the whole
// transaction, and the other callers run again and succeed.
func TestWrite_FullDisk(t *testing.T) {
	t.Parallel()
	g := newFixture(t, storetest.Database{Dir: t.TempDir()})
	limit := func(ctx context.Context) error {
		var pages int
		if err := g.queryRow(ctx, `PRAGMA page_count`, &pages); err != nil {
			return err
		}
		return g.queryRow(ctx, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+20), &pages)
	}
	good, bad := newRoomIDs(6), storetest.NewID()
	ctx := db.WithWriteTimeout(context.Background(), time.Minute) // this test is not about time
	var callers []func()
	for i, id := range good {
		callers = append(callers, func() {
			err := g.db.Write(ctx, func(ctx context.Context) error {
				if i == 2 { // the failing caller is next; the limit ends with the connection
					if err := limit(ctx); err != nil {
						return err
					}
				}
				return insertRoomWork(g.db, g.project, id)(ctx)
			})
			if err != nil {
				t.Errorf("caller %d: got error %v, want none", i, err)
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
					t.Errorf("the caller that fills the disk: got %v, want Unavailable", err)
				}
			})
		}
	}
	if err := g.db.RecentWriteError(); err != nil {
		t.Errorf("RecentWriteError before a failure: got %v, want nil", err)
	}
	g.runInOneTransaction(t, callers...)
	g.checkRooms(t, true, good...)
	g.checkRooms(t, false, bad)
	if err := g.db.RecentWriteError(); err == nil {
		t.Error("RecentWriteError after a full disk: got nil, want an error")
	}
	if err := g.db.Ping(ctx); err != nil {
		t.Errorf("Ping after a full disk: got %v, want nil", err)
	}
}

// No other process can write during a transaction, so that its reads remain
// valid until the commit.
func TestSQLite_OneWriter(t *testing.T) {
	t.Parallel()
	g := newFixture(t, storetest.Database{Dir: t.TempDir()})
	raw := g.Raw(t)
	rename := func() error {
		_, err := raw.Exec(`UPDATE projects SET name = 'changed'`)
		return err
	}
	err := g.db.Write(context.Background(), func(ctx context.Context) error {
		if _, err := g.db.Project(ctx, g.project); err != nil {
			return err
		}
		if err := rename(); err == nil {
			t.Error("write by another process during a transaction: got no error, want one")
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
