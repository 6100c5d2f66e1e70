package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"parley/internal/fault"
)

// fakeConn is a connection that records its steps, each of which may fail or hang.
type fakeConn struct {
	conn
	steps []string // the calls, in order
	fail  func(ctx context.Context, step string) error
}

func (c *fakeConn) record(ctx context.Context, step string) error {
	c.steps = append(c.steps, step)
	return c.fail(ctx, step)
}

func (c *fakeConn) begin(ctx context.Context, careful bool) error {
	if careful {
		return c.record(ctx, "begin carefully")
	}
	return c.record(ctx, "begin")
}
func (c *fakeConn) savepoint(ctx context.Context) error        { return c.record(ctx, "savepoint") }
func (c *fakeConn) releaseSavepoint(ctx context.Context) error { return c.record(ctx, "release") }
func (c *fakeConn) rollbackToSavepoint(ctx context.Context) error {
	return c.record(ctx, "rollback-to")
}
func (c *fakeConn) flush(ctx context.Context) error    { return c.record(ctx, "flush") }
func (c *fakeConn) commit(ctx context.Context) error   { return c.record(ctx, "commit") }
func (c *fakeConn) rollback(ctx context.Context) error { return c.record(ctx, "rollback") }
func (c *fakeConn) close()                             { _ = c.record(context.Background(), "close") }

// fakeEngine has one writer, whose connections are all conn.
type fakeEngine struct {
	engine
	conn           *fakeConn
	enforceTimeout bool
}

func (e *fakeEngine) writeOptions() writeOptions {
	return writeOptions{writers: 1, maxBatch: 8, enforceTimeout: e.enforceTimeout}
}
func (e *fakeEngine) migrate(context.Context, fs.FS) error { return nil }
func (e *fakeEngine) close()                               {}
func (e *fakeEngine) connect(ctx context.Context) (conn, error) {
	return e.conn, e.conn.record(ctx, "connect")
}

var errStep = errors.New("step")

// failNth makes the n-th call of a step fail.
func failNth(n int, step string, err error) func(context.Context, string) error {
	return func(_ context.Context, s string) error {
		if s == step {
			if n--; n == 0 {
				return err
			}
		}
		return nil
	}
}

// runFakeJobs runs the work of n callers in one transaction on an open
// connection. It returns the error and the number of runs of each.
func runFakeJobs(
	c *fakeConn, enforceTimeout bool, n int, work func(caller int) error,
) (errs []error, runs []int) {
	w := newWriter(&DB{engine: &fakeEngine{conn: c, enforceTimeout: enforceTimeout}})
	w.conn = c
	errs, runs = make([]error, n), make([]int, n)
	jobs := make([]*job, n)
	var wg sync.WaitGroup
	for i := range jobs {
		j := newJob(context.Background(), func(context.Context) error { runs[i]++; return work(i) }, enforceTimeout)
		wg.Go(func() { errs[i] = w.db.wait(j, time.NewTimer(time.Hour)) })
		jobs[i] = j
	}
	w.runJobs(jobs)
	wg.Wait()
	return errs, runs
}

// The steps of a transaction in each case of success and failure.
func TestWriter_Transactions(t *testing.T) {
	t.Parallel()
	errWork, deadlock := errors.New("work failed"), &pgconn.PgError{Code: "40P01"}
	succeed := func(int) error { return nil }
	for name, c := range map[string]struct {
		fail  func(ctx context.Context, step string) error
		work  func(caller int) error
		errs  []error // result of each caller; errStep also matches Unavailable
		runs  []int
		steps string
	}{
		"all succeed": {
			fail: failNth(0, "", nil), work: succeed, errs: []error{nil, nil}, runs: []int{1, 1},
			steps: "begin savepoint release savepoint release flush commit",
		},
		"one caller fails": {
			fail: failNth(0, "", nil), work: func(i int) error { return []error{nil, errWork, nil}[i] },
			errs: []error{nil, errWork, nil}, runs: []int{1, 1, 1},
			steps: "begin savepoint release savepoint rollback-to savepoint release flush commit",
		},
		"an idle connection is dead": {
			fail: failNth(1, "begin", errStep), work: succeed, errs: []error{nil}, runs: []int{1},
			steps: "begin close connect begin savepoint release flush commit",
		},
		"the database cannot be reached": {
			fail: func(_ context.Context, step string) error {
				if step == "begin" || step == "connect" {
					return context.DeadlineExceeded
				}
				return nil
			}, work: succeed, errs: []error{errStep, errStep}, runs: []int{0, 0},
			steps: "begin close connect",
		},
		"a new connection fails too": {
			fail: func(_ context.Context, step string) error {
				if step == "begin" {
					return context.DeadlineExceeded
				}
				return nil
			}, work: succeed, errs: []error{errStep}, runs: []int{0},
			steps: "begin close connect begin close",
		},
		"the commit fails": {
			fail: failNth(1, "commit", context.DeadlineExceeded), work: func(i int) error { return []error{nil, errWork}[i] },
			errs: []error{errStep, errStep}, runs: []int{1, 1}, // the error of the work is uncertain too
			steps: "begin savepoint release savepoint rollback-to flush commit close",
		},
		"lost at flush": {
			fail: failNth(1, "flush", errStep), work: func(i int) error { return []error{nil, errWork}[i] },
			errs: []error{nil, errWork}, runs: []int{2, 2},
			steps: "begin savepoint release savepoint rollback-to flush rollback begin carefully savepoint " +
				"release savepoint rollback-to flush commit",
		},
		"lost, and the connection with it": {
			fail: func(_ context.Context, step string) func(context.Context, string) error {
				lost, gone := failNth(1, "rollback-to", errStep), failNth(1, "rollback", errStep)
				return func(ctx context.Context, s string) error { return errors.Join(lost(ctx, s), gone(ctx, s)) }
			}(nil, ""), work: func(i int) error { return []error{nil, errWork, nil}[i] },
			errs: []error{nil, errWork, nil}, runs: []int{2, 2, 1},
			steps: "begin savepoint release savepoint rollback-to rollback close connect begin carefully " +
				"savepoint release savepoint rollback-to savepoint release flush commit",
		},
		"lost twice by one caller": {
			fail: func(_ context.Context, step string) error {
				if step == "rollback-to" {
					return errStep
				}
				return nil
			}, work: func(i int) error { return []error{nil, errStep, nil}[i] },
			errs: []error{nil, errStep, nil}, runs: []int{3, 2, 1},
			steps: "begin savepoint release savepoint rollback-to rollback begin carefully savepoint release " +
				"savepoint rollback-to rollback " +
				"begin carefully savepoint release savepoint release flush commit",
		},
		"lost at a savepoint": {
			fail: failNth(2, "savepoint", errStep), work: succeed, errs: []error{nil, nil}, runs: []int{2, 1},
			steps: "begin savepoint release savepoint rollback begin carefully savepoint release savepoint release flush commit",
		},
		"release of a savepoint fails": {
			fail: failNth(1, "release", errStep), work: succeed, errs: []error{errStep, nil}, runs: []int{1, 1},
			steps: "begin savepoint release rollback-to savepoint release flush commit",
		},
		"a lock conflict that ends": {
			fail: failNth(0, "", nil), work: func() func(int) error {
				n := 0
				return func(i int) error {
					if n++; i == 0 && n < 4 {
						return deadlock
					}
					return nil
				}
			}(), errs: []error{nil, nil}, runs: []int{3, 1},
			steps: "begin savepoint rollback-to savepoint release flush commit begin savepoint rollback-to " +
				"rollback begin savepoint release flush commit",
		},
		"a lock conflict that does not end": {
			fail: failNth(0, "", nil), work: func(int) error { return deadlock },
			errs: []error{errStep}, runs: []int{maxAttempts},
			steps: strings.Repeat("begin savepoint rollback-to rollback ", maxAttempts) + "begin rollback",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := &fakeConn{fail: c.fail}
				errs, runs := runFakeJobs(conn, false, len(c.errs), c.work)
				for i, want := range c.errs {
					ok := errs[i] == want
					if want == errStep {
						ok = errs[i] != nil && (errors.Is(errs[i], errStep) || fault.Is(errs[i], fault.Unavailable))
					}
					if !ok {
						t.Errorf("caller %d: got %v, want %v", i, errs[i], want)
					}
					if got, want := fault.IsInDoubt(errs[i]), name == "the commit fails"; got != want {
						t.Errorf("caller %d: got %v in doubt: %t, want %t", i, errs[i], got, want)
					}
				}
				if !slices.Equal(runs, c.runs) {
					t.Errorf("runs: got %v, want %v", runs, c.runs)
				}
				if got := strings.Join(conn.steps, " "); got != c.steps {
					t.Errorf("steps: got\n%s\nwant\n%s", got, c.steps)
				}
			})
		})
	}
}

// A job that is late or whose caller has canceled does not run.
func TestWriter_SkipsLateAndCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		work := func(context.Context) error {
			t.Error("work of a late or canceled job: got it executed, want it skipped")
			return nil
		}
		ctx, cancel := context.WithCancel(context.Background())
		late := newJob(context.Background(), work, true)
		time.Sleep(writeTimeout - commitHeadroom + time.Millisecond)
		canceled := newJob(ctx, work, false)
		cancel()
		c := &fakeConn{fail: failNth(0, "", nil)}
		w := newWriter(&DB{engine: &fakeEngine{conn: c, enforceTimeout: true}})
		w.conn = c
		w.runJobs([]*job{late, canceled})
		for _, j := range []*job{late, canceled} {
			if err := <-j.done; !fault.Is(err, fault.Unavailable) {
				t.Errorf("got %v, want Unavailable", err)
			}
		}
		if got := strings.Join(c.steps, " "); got != "begin rollback" {
			t.Errorf("steps: got %s, want begin rollback", got)
		}
	})
}

// withFakeEngine runs a test in a synctest bubble, where time is exact, on a
// database whose steps may fail or hang.
func withFakeEngine(
	t *testing.T, enforceTimeout bool,
	fail func(ctx context.Context, step string) error, test func(t *testing.T, db *DB),
) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDB(&fakeEngine{conn: &fakeConn{fail: fail}, enforceTimeout: enforceTimeout})
		test(t, db)
		_ = db.Close()
	})
}

// hangAt makes a step hang until its context is done.
func hangAt(step string) func(context.Context, string) error {
	return func(ctx context.Context, s string) error {
		if s == step {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
}

// assertUnavailableAfter fails unless a write returns Unavailable after exactly
// that time.
func assertUnavailableAfter(t *testing.T, want time.Duration, db *DB, work func(context.Context) error) {
	t.Helper()
	began := time.Now()
	err := db.Write(context.Background(), work)
	if took := time.Since(began); !fault.Is(err, fault.Unavailable) || took != want {
		t.Errorf("got %v after %s, want Unavailable after %s", err, took, want)
	}
}

// twoWriters is an engine with two writers, each with its own connection.
type twoWriters struct{ fakeEngine }

func (e *twoWriters) writeOptions() writeOptions { return writeOptions{writers: 2, maxBatch: 8} }
func (e *twoWriters) connect(context.Context) (conn, error) {
	return &fakeConn{fail: failNth(0, "", nil)}, nil
}

// Callers that arrive during a transaction share the next one, which waits for
// the first, but at most for writeSlotWait.
func TestWriter_ConcurrentTransactions(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]time.Duration{"short": writeSlotWait / 2, "long": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := newDB(&twoWriters{})
				var wg sync.WaitGroup
				wg.Go(func() {
					_ = db.Write(context.Background(), func(context.Context) error { time.Sleep(hangs); return nil })
				})
				synctest.Wait()
				began := time.Now()
				var shared []conn
				for range 5 {
					wg.Go(func() {
						err := db.Write(context.Background(), func(ctx context.Context) error {
							own, _ := txFrom(ctx)
							shared = append(shared, own.conn)
							return nil
						})
						if took, want := time.Since(began), min(hangs, writeSlotWait); err != nil || took != want {
							t.Errorf("got %v after %s, want success after %s", err, took, want)
						}
					})
					synctest.Wait()
				}
				wg.Wait()
				// The first writer may have received the last caller.
				if len(shared) != 5 || slices.ContainsFunc(shared[:4], func(c conn) bool { return c != shared[0] }) {
					t.Errorf("connections of the callers: got %v, want the same for the first four", shared)
				}
				_ = db.Close()
			})
		})
	}
}

// After a transaction with many callers a writer waits for as many, at most for
// commitDelay, and does not wait after a transaction with few.
func TestWriter_WaitsForCommitSiblings(t *testing.T) {
	begins := 0
	count := func(_ context.Context, step string) error {
		if step == "begin" {
			begins++
		}
		return nil
	}
	withFakeEngine(t, false, count, func(t *testing.T, db *DB) {
		var wg sync.WaitGroup
		write := func(after, want time.Duration, work func(context.Context) error) {
			wg.Go(func() {
				time.Sleep(after)
				began := time.Now()
				if err := db.Write(context.Background(), work); err != nil || time.Since(began) != want {
					t.Errorf("got %v after %s, want success after %s", err, time.Since(began), want)
				}
			})
			synctest.Wait()
		}
		write(0, time.Millisecond, func(context.Context) error { time.Sleep(time.Millisecond); return nil })
		for range commitSiblings {
			write(0, time.Millisecond, noWork)
		}
		wg.Wait()
		begins = 0
		for i := range commitSiblings {
			after := min(time.Duration(i)*time.Millisecond/4, time.Millisecond)
			write(after, time.Millisecond-after, noWork)
		}
		wg.Wait()
		if begins != 1 {
			t.Errorf("as many callers as before: got %d transactions, want 1", begins)
		}
		begins = 0
		write(0, commitDelay, noWork)
		write(time.Millisecond, commitDelay-time.Millisecond, noWork)
		wg.Wait()
		if begins != 1 {
			t.Errorf("fewer callers than before: got %d transactions, want 1", begins)
		}
		write(0, 0, noWork)
		wg.Wait()
	})
}

func noWork(context.Context) error { return nil }

func TestWrite_BusyRefusedInTime(t *testing.T) {
	for _, enforceTimeout := range []bool{true, false} {
		t.Run(fmt.Sprintf("enforceTimeout=%t", enforceTimeout), func(t *testing.T) {
			withFakeEngine(t, enforceTimeout, failNth(0, "", nil), func(t *testing.T, db *DB) {
				hold := make(chan struct{})
				go func() { _ = db.Write(context.Background(), func(context.Context) error { <-hold; return nil }) }()
				synctest.Wait()
				var ran bool
				assertUnavailableAfter(t, 600*time.Millisecond, db, func(context.Context) error { ran = true; return nil })
				for range queueLength { // fill the queue
					go func() { _ = db.Write(context.Background(), noWork) }()
				}
				synctest.Wait()
				assertUnavailableAfter(t, 600*time.Millisecond, db, func(context.Context) error { ran = true; return nil })
				close(hold)
				synctest.Wait()
				if ran {
					t.Error("work of a caller that has left: got it executed, want it skipped")
				}
				if err := db.Write(context.Background(), noWork); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A call fails within 900 ms at whichever step the database stops responding.
func TestWrite_UnavailableRefusedInTime(t *testing.T) {
	for step, want := range map[string]time.Duration{
		"connect": 600 * time.Millisecond, // the caller is still queued
		"begin":   600 * time.Millisecond,
		"commit":  900 * time.Millisecond,
		"flush":   900 * time.Millisecond,
	} {
		t.Run(step, func(t *testing.T) {
			withFakeEngine(t, true, hangAt(step), func(t *testing.T, db *DB) {
				for range 3 {
					assertUnavailableAfter(t, want, db, noWork)
				}
			})
		})
	}
}

// The context of the work expires when its caller stops waiting.
func TestWrite_WorkHasDeadline(t *testing.T) {
	withFakeEngine(t, true, failNth(0, "", nil), func(t *testing.T, db *DB) {
		assertUnavailableAfter(t, 900*time.Millisecond, db, func(ctx context.Context) error {
			<-ctx.Done()
			return translate(ctx.Err())
		})
	})
}

// Without enforceTimeout a write waits for a slow disk.
func TestWrite_SlowDiskNotTimedOut(t *testing.T) {
	slow := func(_ context.Context, step string) error {
		if step == "commit" {
			time.Sleep(time.Minute)
		}
		return nil
	}
	withFakeEngine(t, false, slow, func(t *testing.T, db *DB) {
		began := time.Now()
		if err := db.Write(context.Background(), noWork); err != nil || time.Since(began) != time.Minute {
			t.Errorf("got %v after %s, want success after 1m", err, time.Since(began))
		}
	})
}

// A write with a longer timeout waits for a database that another process blocks,
// while a normal write fails.
func TestWithWriteTimeout_BusyDatabase(t *testing.T) {
	busy := func(_ context.Context, step string) error {
		if step == "begin" {
			time.Sleep(5 * time.Second)
		}
		return nil
	}
	withFakeEngine(t, false, busy, func(t *testing.T, db *DB) {
		if err := db.Write(WithWriteTimeout(context.Background(), 10*time.Second), noWork); err != nil {
			t.Error(err)
		}
		assertUnavailableAfter(t, 600*time.Millisecond, db, noWork)
	})
}

// Reseal may take longer than a request.
func TestWithWriteTimeout_LongWork(t *testing.T) {
	withFakeEngine(t, true, failNth(0, "", nil), func(t *testing.T, db *DB) {
		err := db.Write(WithWriteTimeout(context.Background(), time.Hour), func(ctx context.Context) error {
			time.Sleep(time.Minute)
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A job that is queued while the last writer stops fails.
func TestWrite_QueuedDuringClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &DB{engine: &fakeEngine{}, queue: make(chan *job, 1), stop: make(chan struct{}), drained: make(chan struct{})}
		go func() {
			synctest.Wait()
			close(db.drained)
		}()
		assertUnavailableAfter(t, 0, db, noWork)
	})
}
