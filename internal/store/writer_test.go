package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"parley/internal/fault"
)

// fakeConn is a connection on which each step may fail, or take its time.
type fakeConn struct {
	conn
	steps []string // what was done, in order
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
func (c *fakeConn) savepoint(ctx context.Context) error           { return c.record(ctx, "savepoint") }
func (c *fakeConn) releaseSavepoint(ctx context.Context) error    { return c.record(ctx, "keep") }
func (c *fakeConn) rollbackToSavepoint(ctx context.Context) error { return c.record(ctx, "undo") }
func (c *fakeConn) flush(ctx context.Context) error               { return c.record(ctx, "flush") }
func (c *fakeConn) commit(ctx context.Context) error              { return c.record(ctx, "commit") }
func (c *fakeConn) rollback(ctx context.Context) error            { return c.record(ctx, "rollback") }
func (c *fakeConn) close()                                        { _ = c.record(context.Background(), "close") }

// fakeEngine has one lane and one connection after another.
type fakeEngine struct {
	engine
	conn           *fakeConn
	enforceTimeout bool
}

func (e *fakeEngine) writeOptions() writeOptions {
	return writeOptions{writers: 1, maxBatch: 8, enforceTimeout: e.enforceTimeout}
}
func (e *fakeEngine) migrate(context.Context) error { return nil }
func (e *fakeEngine) close()                        {}
func (e *fakeEngine) connect(ctx context.Context) (conn, error) {
	return e.conn, e.conn.record(ctx, "connect")
}

var errStep = errors.New("step")

// failNth has the n-th time that a step is done fail.
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

// runFakeJobs has callers share a transaction on an open connection. It returns what
// each was told and how often it ran.
func runFakeJobs(c *fakeConn, hurry bool, n int, work func(caller int) error) (errs []error, runs []int) {
	l := newWriter(&DB{engine: &fakeEngine{conn: c, enforceTimeout: hurry}})
	l.conn = c
	errs, runs = make([]error, n), make([]int, n)
	jobs := make([]*job, n)
	var wg sync.WaitGroup
	for i := range jobs {
		j := newJob(context.Background(), func(context.Context) error { runs[i]++; return work(i) }, hurry)
		wg.Go(func() { errs[i] = j.wait(time.NewTimer(time.Hour), nil) })
		jobs[i] = j
	}
	l.runJobs(jobs)
	wg.Wait()
	return errs, runs
}

// Each way in which a transaction can go, step by step.
func TestWriter_Transactions(t *testing.T) {
	t.Parallel()
	mine, deadlock := errors.New("mine"), &pgconn.PgError{Code: "40P01"}
	fine := func(int) error { return nil }
	for name, c := range map[string]struct {
		fail  func(ctx context.Context, step string) error
		work  func(caller int) error
		errs  []error // what each caller is told; errStep is the cause of a refusal
		runs  []int
		steps string
	}{
		"all is well": {
			fail: failNth(0, "", nil), work: fine, errs: []error{nil, nil}, runs: []int{1, 1},
			steps: "begin savepoint keep savepoint keep flush commit",
		},
		"one caller fails": {
			fail: failNth(0, "", nil), work: func(i int) error { return []error{nil, mine, nil}[i] },
			errs: []error{nil, mine, nil}, runs: []int{1, 1, 1},
			steps: "begin savepoint keep savepoint undo savepoint keep flush commit",
		},
		"the connection died while it idled": {
			fail: failNth(1, "begin", errStep), work: fine, errs: []error{nil}, runs: []int{1},
			steps: "begin close connect begin savepoint keep flush commit",
		},
		"nobody can connect": {
			fail: func(_ context.Context, step string) error {
				if step == "begin" || step == "connect" {
					return context.DeadlineExceeded
				}
				return nil
			}, work: fine, errs: []error{errStep, errStep}, runs: []int{0, 0},
			steps: "begin close connect",
		},
		"a fresh connection fails too": {
			fail: func(_ context.Context, step string) error {
				if step == "begin" {
					return context.DeadlineExceeded
				}
				return nil
			}, work: fine, errs: []error{errStep}, runs: []int{0},
			steps: "begin close connect begin close",
		},
		"the commit fails": {
			fail: failNth(1, "commit", context.DeadlineExceeded), work: func(i int) error { return []error{nil, mine}[i] },
			errs: []error{errStep, errStep}, runs: []int{1, 1}, // what mine was said of may not have happened
			steps: "begin savepoint keep savepoint undo flush commit close",
		},
		"lost at the flush": {
			fail: failNth(1, "flush", errStep), work: func(i int) error { return []error{nil, mine}[i] },
			errs: []error{nil, mine}, runs: []int{2, 2},
			steps: "begin savepoint keep savepoint undo flush rollback begin carefully savepoint keep savepoint undo flush commit",
		},
		"lost, and the connection with it": {
			fail: func(_ context.Context, step string) func(context.Context, string) error {
				lost, gone := failNth(1, "undo", errStep), failNth(1, "rollback", errStep)
				return func(ctx context.Context, s string) error { return errors.Join(lost(ctx, s), gone(ctx, s)) }
			}(nil, ""), work: func(i int) error { return []error{nil, mine, nil}[i] },
			errs: []error{nil, mine, nil}, runs: []int{2, 2, 1},
			steps: "begin savepoint keep savepoint undo rollback close connect begin carefully savepoint keep savepoint undo savepoint keep flush commit",
		},
		"lost again, by one caller": {
			fail: func(_ context.Context, step string) error {
				if step == "undo" {
					return errStep
				}
				return nil
			}, work: func(i int) error { return []error{nil, errStep, nil}[i] },
			errs: []error{nil, errStep, nil}, runs: []int{3, 2, 1},
			steps: "begin savepoint keep savepoint undo rollback begin carefully savepoint keep savepoint undo rollback " +
				"begin carefully savepoint keep savepoint keep flush commit",
		},
		"lost before a turn": {
			fail: failNth(2, "savepoint", errStep), work: fine, errs: []error{nil, nil}, runs: []int{2, 1},
			steps: "begin savepoint keep savepoint rollback begin carefully savepoint keep savepoint keep flush commit",
		},
		"work that does not stay": {
			fail: failNth(1, "keep", errStep), work: fine, errs: []error{errStep, nil}, runs: []int{1, 1},
			steps: "begin savepoint keep undo savepoint keep flush commit",
		},
		"a lock in the way for a while": {
			fail: failNth(0, "", nil), work: func() func(int) error {
				n := 0
				return func(i int) error {
					if n++; i == 0 && n < 4 {
						return deadlock
					}
					return nil
				}
			}(), errs: []error{nil, nil}, runs: []int{3, 1},
			steps: "begin savepoint undo savepoint keep flush commit begin savepoint undo rollback begin savepoint keep flush commit",
		},
		"a lock in the way for ever": {
			fail: failNth(0, "", nil), work: func(int) error { return deadlock }, errs: []error{errStep}, runs: []int{maxAttempts},
			steps: strings.Repeat("begin savepoint undo rollback ", maxAttempts) + "begin rollback",
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
						t.Errorf("caller %d was told %v, want %v", i, errs[i], want)
					}
				}
				if !slices.Equal(runs, c.runs) {
					t.Errorf("runs %v, want %v", runs, c.runs)
				}
				if got := strings.Join(conn.steps, " "); got != c.steps {
					t.Errorf("steps\n%s\nwant\n%s", got, c.steps)
				}
			})
		})
	}
}

// A caller who was late, or has cancelled, is refused before its turn, however
// slow it is to notice.
func TestWriter_SkipsLateAndCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		work := func(context.Context) error { t.Error("it ran"); return nil }
		gone, cancel := context.WithCancel(context.Background())
		late := newJob(context.Background(), work, true)
		time.Sleep(writeTimeout - commitHeadroom + time.Millisecond)
		cancelled := newJob(gone, work, false)
		cancel()
		c := &fakeConn{fail: failNth(0, "", nil)}
		l := newWriter(&DB{engine: &fakeEngine{conn: c, enforceTimeout: true}})
		l.conn = c
		l.runJobs([]*job{late, cancelled})
		for _, j := range []*job{late, cancelled} {
			if err := <-j.done; !fault.Is(err, fault.Unavailable) {
				t.Error(err)
			}
		}
		if got := strings.Join(c.steps, " "); got != "begin rollback" {
			t.Errorf("steps %s", got)
		}
	})
}

// withFakeEngine runs a test in a bubble, where time is exact, on a store whose steps
// may fail or hang.
func withFakeEngine(t *testing.T, hurry bool, fail func(ctx context.Context, step string) error, test func(t *testing.T, db *DB)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDB(&fakeEngine{conn: &fakeConn{fail: fail}, enforceTimeout: hurry})
		test(t, db)
		_ = db.Close()
	})
}

// hangAt does a step until its caller has no more patience.
func hangAt(step string) func(context.Context, string) error {
	return func(ctx context.Context, s string) error {
		if s == step {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
}

// assertRefusedAfter fails unless a write is refused as Unavailable, after that time.
func assertRefusedAfter(t *testing.T, want time.Duration, db *DB, work func(context.Context) error) {
	t.Helper()
	began := time.Now()
	err := db.Write(context.Background(), work)
	if took := time.Since(began); !fault.Is(err, fault.Unavailable) || took != want {
		t.Errorf("%v after %s, want a refusal after %s", err, took, want)
	}
}

// twoWriters has a connection for each of them.
type twoWriters struct{ fakeEngine }

func (e *twoWriters) writeOptions() writeOptions { return writeOptions{writers: 2, maxBatch: 8} }
func (e *twoWriters) connect(context.Context) (conn, error) {
	return &fakeConn{fail: failNth(0, "", nil)}, nil
}

// Who comes while a transaction is under way shares the next one, which waits
// for the first, but not for long.
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
						if took := time.Since(began); err != nil || took != min(hangs, writeSlotWait) {
							t.Errorf("%v after %s", err, took)
						}
					})
					synctest.Wait()
				}
				wg.Wait()
				// The lane that is done may have taken the last one for its next.
				if len(shared) != 5 || slices.ContainsFunc(shared[:4], func(c conn) bool { return c != shared[0] }) {
					t.Errorf("they ran on %v", shared)
				}
				_ = db.Close()
			})
		})
	}
}

// Behind a crowd a transaction waits until as many are there, for a moment at
// most, and no longer when it has found few.
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
					t.Errorf("%v after %s, want %s", err, time.Since(began), want)
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
			t.Errorf("%d transactions for as many as before", begins)
		}
		begins = 0
		write(0, commitDelay, noWork)
		write(time.Millisecond, commitDelay-time.Millisecond, noWork)
		wg.Wait()
		if begins != 1 {
			t.Errorf("%d transactions", begins)
		}
		write(0, 0, noWork)
		wg.Wait()
	})
}

func noWork(context.Context) error { return nil }

func TestWrite_BusyRefusedInTime(t *testing.T) {
	for _, hurry := range []bool{true, false} {
		t.Run(fmt.Sprint(hurry), func(t *testing.T) {
			withFakeEngine(t, hurry, failNth(0, "", nil), func(t *testing.T, db *DB) {
				hold := make(chan struct{})
				go func() { _ = db.Write(context.Background(), func(context.Context) error { <-hold; return nil }) }()
				synctest.Wait()
				var ran bool
				assertRefusedAfter(t, 600*time.Millisecond, db, func(context.Context) error { ran = true; return nil })
				for range queueLength { // more than the lanes ever took
					go func() { _ = db.Write(context.Background(), noWork) }()
				}
				synctest.Wait()
				assertRefusedAfter(t, 600*time.Millisecond, db, func(context.Context) error { ran = true; return nil })
				close(hold)
				synctest.Wait()
				if ran {
					t.Error("work ran whose caller had left")
				}
				if err := db.Write(context.Background(), noWork); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A database that has gone holds nobody up for a second, wherever it went.
func TestWrite_UnavailableRefusedInTime(t *testing.T) {
	for step, want := range map[string]time.Duration{
		"connect": 600 * time.Millisecond, // nothing has begun: no need to wait longer
		"begin":   600 * time.Millisecond,
		"commit":  900 * time.Millisecond,
		"flush":   900 * time.Millisecond,
	} {
		t.Run(step, func(t *testing.T) {
			withFakeEngine(t, true, hangAt(step), func(t *testing.T, db *DB) {
				for range 3 {
					assertRefusedAfter(t, want, db, noWork)
				}
			})
		})
	}
}

// The work itself is told when its caller's patience ends.
func TestWrite_WorkHasDeadline(t *testing.T) {
	withFakeEngine(t, true, failNth(0, "", nil), func(t *testing.T, db *DB) {
		assertRefusedAfter(t, 900*time.Millisecond, db, func(ctx context.Context) error {
			<-ctx.Done()
			return translate(ctx.Err())
		})
	})
}

// A disk that is slow is waited for: there is nobody else to ask.
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
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// Who starts or repairs waits for a database that is busy with somebody else,
// and a request is told to come again.
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
		assertRefusedAfter(t, 600*time.Millisecond, db, noWork)
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

// Who was queued in the moment when the last lane stopped is told so.
func TestWrite_QueuedDuringClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &DB{engine: &fakeEngine{}, queue: make(chan *job, 1), stop: make(chan struct{}), drained: make(chan struct{})}
		go func() {
			synctest.Wait()
			close(db.drained)
		}()
		assertRefusedAfter(t, 0, db, noWork)
	})
}
