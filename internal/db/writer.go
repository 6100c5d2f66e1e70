package db

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"parley/internal/fault"
)

const (
	// writeTimeout is the longest time that a caller waits for a database that
	// does not respond.
	writeTimeout = fault.UnavailableAfter
	// commitHeadroom is the part of the write timeout that is reserved for the
	// work and the commit. Write returns Unavailable if the work has not started
	// by then.
	commitHeadroom = writeTimeout / 3
)

const (
	queueLength  = 1024
	maxAttempts  = 5 // runs of a caller whose work meets lock conflicts
	retryBackoff = 50 * time.Millisecond
)

var (
	errClosed         = errors.New("the database is closed")
	errNoFreeWriter   = errors.New("no writer became free in time")
	errCommitTimeout  = errors.New("the commit did not finish in time")
	errWorkPanicked   = errors.New("the work panicked")
	errNoTx           = errors.New("db: write outside a transaction: use DB.Write")
	errFailureIgnored = errors.New("db: the work ignored the error of a statement")
)

const (
	// writeSlotWait is the time after which a writer starts although the
	// transaction of another writer is still running.
	writeSlotWait = 20 * time.Millisecond

	// A transaction costs about as much for few callers as for many. If the
	// previous transaction served commitSiblings or more callers, the writer
	// waits up to commitDelay for as many before it starts the next (as
	// PostgreSQL does with commit_siblings and commit_delay).
	commitSiblings = 8
	commitDelay    = 5 * time.Millisecond
)

// conn is the connection of a writer, with its current transaction.
type conn interface {
	querier
	// exec runs a statement. It returns missing if no row is changed.
	exec(ctx context.Context, missing error, q string, args []any) error
	// insert adds a row to a table.
	insert(ctx context.Context, into *InsertStmt, row []any) error
	// forUpdate returns the clause that makes a SELECT lock its rows.
	forUpdate() string
	// forKeyShare returns the clause that makes a SELECT keep others from deleting its rows.
	forKeyShare() string
	// forUpdateSkipLocked returns the clause that makes a SELECT lock its rows
	// and skip those that another transaction has locked.
	forUpdateSkipLocked() string

	// begin opens a transaction. In a careful transaction each statement
	// reports its failure at once, in any other it may do so at flush.
	begin(ctx context.Context, careful bool) error
	// savepoint precedes the work of each caller, releaseSavepoint or
	// rollbackToSavepoint follows it. The whole transaction is lost if
	// rollbackToSavepoint fails.
	savepoint(ctx context.Context) error
	releaseSavepoint(ctx context.Context) error
	rollbackToSavepoint(ctx context.Context) error
	// flush precedes commit and fails if the transaction is lost.
	flush(ctx context.Context) error
	commit(ctx context.Context) error
	rollback(ctx context.Context) error
	close()
}

// job is the work of one caller. The writer runs it on its own goroutine,
// because waking the caller costs more than most work does. A panic or
// runtime.Goexit in the work is raised again on the caller's goroutine.
type job struct {
	ctx      context.Context
	work     func(context.Context) error
	deadline time.Time // the caller stops waiting; zero for no deadline
	attempts int
	err      error  // result that the caller gets after the next commit
	unwind   func() // panic or Goexit raised by the work, re-raised on the caller's goroutine
	state    atomic.Int32
	done     chan error // buffered, so that no writer waits for a caller that has left
}

func newJob(ctx context.Context, work func(context.Context) error, enforceTimeout bool) *job {
	j := &job{ctx: ctx, work: work, done: make(chan error, 1)}
	if enforceTimeout {
		j.deadline = time.Now().Add(writeTimeoutFrom(ctx))
	}
	return j
}

// States of a job. The caller that leaves and the writer that rejects a job close it
// when it is queued or finished. Nothing runs a closed job.
const (
	jobQueued int32 = iota
	jobRunning
	jobFinished
	jobClosed
)

// Panic is the value that Write panics with when the work panicked on the
// goroutine of a writer.
type Panic struct {
	Value any    // value of the original panic
	Stack []byte // stack of the original panic
}

// Error returns the original value and stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the original value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// queueTimeout returns how long the caller waits for a writer.
func (j *job) queueTimeout() time.Duration { return writeTimeoutFrom(j.ctx) - commitHeadroom }

// wait returns the result of the job j, or Unavailable when timer or the
// deadline of the job expires.
func (db *DB) wait(j *job, timer *time.Timer) error {
	canceled, drained := j.ctx.Done(), (<-chan struct{})(db.drained)
	for {
		select {
		case err := <-j.done:
			if j.unwind != nil {
				j.unwind()
			}
			return err
		case <-canceled:
			canceled = nil
			if j.closeFrom(jobQueued) {
				return unavailable(j.ctx.Err())
			}
		case <-timer.C:
			if rest := db.compactionWait(j.queueTimeout()); rest > 0 {
				timer.Reset(rest)
				continue
			}
			if j.closeFrom(jobQueued) {
				return unavailable(errNoFreeWriter)
			}
			if j.deadline.IsZero() {
				continue
			}
			if rest := time.Until(j.deadline); rest > 0 {
				timer.Reset(rest)
				continue
			}
			if j.closeFrom(jobFinished) {
				return inDoubt(unavailable(errCommitTimeout))
			}
			timer.Reset(retryBackoff) // the work is running, and its context has expired
		case <-drained: // the job was queued while the last writer stopped
			drained = nil
			if j.closeFrom(jobQueued) {
				return unavailable(errClosed)
			}
		}
	}
}

// reject completes a job with an error unless its caller has left.
func (j *job) reject(err error) {
	if j.closeFrom(jobQueued) || j.closeFrom(jobFinished) {
		j.complete(err)
	}
}

func (j *job) complete(err error) { j.done <- err }

// closeFrom closes a job that is in the state from, and reports whether it did.
func (j *job) closeFrom(from int32) bool { return j.state.CompareAndSwap(from, jobClosed) }

// markRunning prevents the caller from leaving until the work is done. It
// returns false if the caller has left.
func (j *job) markRunning() bool {
	return j.state.CompareAndSwap(jobQueued, jobRunning) || j.state.CompareAndSwap(jobFinished, jobRunning)
}

func (j *job) run(ctx context.Context) (err error) {
	err, j.unwind = errWorkPanicked, nil
	returned := false
	defer func() {
		if returned {
			return
		}
		j.unwind = runtime.Goexit
		if v := recover(); v != nil {
			p := &Panic{Value: v, Stack: debug.Stack()}
			j.unwind = func() { panic(p) }
		}
	}()
	err = j.work(ctx)
	returned = true
	return err
}

// rejectReason returns the error of a job that must not run, or not run again.
func (j *job) rejectReason() error {
	switch {
	case j.ctx.Err() != nil:
		return unavailable(j.ctx.Err())
	case !j.deadline.IsZero() && time.Until(j.deadline) < commitHeadroom:
		return unavailable(errNoFreeWriter)
	case j.attempts == maxAttempts:
		return unavailable(j.err)
	}
	return nil
}

// workContext returns the context for the work. It ignores the cancellation of
// the caller, because the caller shares the transaction with others.
func (j *job) workContext(t *tx) (context.Context, context.CancelFunc) {
	ctx := context.WithValue(context.WithoutCancel(j.ctx), txKey{}, t)
	if j.deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, j.deadline)
}

// writer runs one transaction after another on its own connection.
type writer struct {
	db            *DB
	conn          conn
	lockConflict  bool // the last transaction met the lock of another one
	lastBatchSize int  // callers that shared the last transaction
}

func newWriter(db *DB) *writer { return &writer{db: db} }

// run serves callers until the database is closed.
func (w *writer) run() {
	for {
		select {
		case j := <-w.db.queue:
			w.serveBatch(j)
		case <-w.db.stop:
			select { // accepted jobs still run
			case j := <-w.db.queue:
				w.serveBatch(j)
			default:
				w.closeConn()
				w.db.writers.Done()
				return
			}
		}
	}
}

// serveBatch runs the first job and those that are queued by then in one
// transaction. It waits for the other writer first, because more jobs in one
// transaction make each cheaper, but only for writeSlotWait, because the other
// transaction may hang. The only writer of an engine waits for a compaction, and for
// all of it.
func (w *writer) serveBatch(first *job) {
	var timeout <-chan time.Time
	if w.db.engine.writeOptions().writers > 1 {
		wait := time.NewTimer(writeSlotWait)
		defer wait.Stop()
		timeout = wait.C
	}
	select {
	case w.db.writeSlot <- struct{}{}:
		defer func() { <-w.db.writeSlot }()
	case <-timeout:
	}
	if w.lastBatchSize >= commitSiblings {
		w.awaitSiblings()
	}
	jobs := w.collectBatch(first)
	w.lastBatchSize = len(jobs)
	w.runJobs(jobs)
}

// awaitSiblings waits until as many jobs are queued as shared the last
// transaction, at most for commitDelay.
func (w *writer) awaitSiblings() {
	select {
	case <-w.db.siblingsArrived: // left from an earlier wait
	default:
	}
	others := w.lastBatchSize - 1 // the writer has already received one
	w.db.awaitedSiblings.Store(int64(others))
	defer w.db.awaitedSiblings.Store(0)
	if len(w.db.queue) >= others {
		return
	}
	timer := time.NewTimer(commitDelay)
	defer timer.Stop()
	select {
	case <-w.db.siblingsArrived:
	case <-timer.C:
	}
}

// signalArrival wakes the writer in awaitSiblings when enough jobs are queued.
func (db *DB) signalArrival() {
	if awaited := db.awaitedSiblings.Load(); awaited > 0 && int64(len(db.queue)) >= awaited {
		select {
		case db.siblingsArrived <- struct{}{}:
		default:
		}
	}
}

// collectBatch returns first and the jobs that are queued, at most maxBatch.
func (w *writer) collectBatch(first *job) []*job {
	jobs := []*job{first}
	for len(jobs) < w.db.engine.writeOptions().maxBatch {
		select {
		case j := <-w.db.queue:
			jobs = append(jobs, j)
		default:
			return jobs
		}
	}
	return jobs
}

// runJobs runs jobs until each is completed. If a job ends the goroutine with
// runtime.Goexit, the others continue on another one.
func (w *writer) runJobs(jobs []*job) {
	careful := false
	defer func() {
		if len(jobs) > 0 {
			w.rollback()
			go w.resume(jobs)
		}
	}()
	for {
		jobs = slices.DeleteFunc(jobs, func(j *job) bool { return j.state.Load() == jobClosed })
		if len(jobs) == 0 {
			return
		}
		w.lockConflict = false
		began := time.Now()
		jobs, careful = w.transact(jobs, careful)
		if w.lockConflict && time.Since(began) >= lockTimeout {
			// Two transactions that have just deadlocked would do so again if
			// they retried after the same time.
			time.Sleep(rand.N(retryBackoff))
		}
	}
}

// resume continues as the writer after a job has ended its goroutine: it fails
// that job, runs the others and serves the queue.
func (w *writer) resume(jobs []*job) {
	jobs = slices.DeleteFunc(jobs, func(j *job) bool {
		culprit := j.state.Load() == jobRunning
		if culprit {
			j.complete(errWorkPanicked)
		}
		return culprit
	})
	w.runJobs(jobs)
	w.run()
}

// transact runs jobs in one transaction and completes them. It returns the jobs
// that must run again, and whether their transaction must be careful.
func (w *writer) transact(jobs []*job, careful bool) (retry []*job, retryCareful bool) {
	if err := w.begin(careful); err != nil {
		for _, j := range jobs {
			j.complete(translate(err))
		}
		return nil, false
	}
	var ran []*job
	for _, j := range jobs {
		if err := j.rejectReason(); err != nil {
			j.reject(err)
			continue
		}
		if !j.markRunning() {
			continue
		}
		if lost := w.runJob(j); lost {
			w.rollback()
			if careful { // no other job can be the cause
				j.reject(unavailable(j.err))
			}
			return jobs, true
		}
		if isLockConflict(j.err) {
			w.lockConflict = true
			retry = append(retry, j)
		} else {
			ran = append(ran, j)
		}
	}
	if len(ran) == 0 {
		w.rollback()
		return retry, false
	}
	ctx, cancel := w.context()
	defer cancel()
	if err := w.conn.flush(ctx); err != nil {
		w.db.recordWriteFailure(err)
		w.lockConflict = isLockConflict(err)
		w.rollback()
		return jobs, true
	}
	err := w.conn.commit(ctx)
	w.db.changes.Add(1) // also if the outcome is unknown
	if err != nil {
		w.db.recordWriteFailure(err)
		w.closeConn() // because the outcome is unknown
	} else if o := w.db.observer.Load(); o != nil {
		(*o).ObserveCommit(len(ran))
	}
	for _, j := range ran {
		if err != nil {
			j.err = inDoubt(translate(err))
		}
		j.complete(j.err)
	}
	return retry, false
}

// runJob runs the work of one caller and reports whether it lost the whole
// transaction.
func (w *writer) runJob(j *job) (lost bool) {
	t := &tx{conn: w.conn}
	ctx, cancel := j.workContext(t)
	defer cancel()
	j.attempts++
	if j.err = w.conn.savepoint(ctx); j.err != nil {
		j.state.Store(jobFinished)
		return true
	}
	j.err = j.run(ctx)
	j.state.Store(jobFinished)
	if j.err == nil && t.failed {
		j.err = errFailureIgnored
	}
	if j.err == nil {
		j.err = w.conn.releaseSavepoint(ctx)
	}
	w.db.recordWriteFailure(j.err)
	return j.err != nil && w.conn.rollbackToSavepoint(ctx) != nil
}

// begin opens a transaction. An idle connection may be dead, so it retries once
// on a new one.
func (w *writer) begin(careful bool) error {
	ctx, cancel := w.context()
	defer cancel()
	if w.conn != nil {
		if w.conn.begin(ctx, careful) == nil {
			return nil
		}
		w.closeConn()
	}
	c, err := w.db.engine.connect(ctx)
	if err != nil {
		return err
	}
	w.conn = c
	if err = c.begin(ctx, careful); err != nil {
		w.closeConn()
	}
	return err
}

// rollback rolls a lost transaction back.
func (w *writer) rollback() {
	ctx, cancel := w.context()
	defer cancel()
	if w.conn.rollback(ctx) != nil {
		w.closeConn()
	}
}

// closeConn closes the connection and thereby aborts its transaction.
func (w *writer) closeConn() {
	if w.conn != nil {
		w.conn.close()
		w.conn = nil
	}
}

// context returns the context for the statements of the writer itself.
func (w *writer) context() (context.Context, context.CancelFunc) {
	if w.db.engine.writeOptions().enforceTimeout {
		return context.WithTimeout(context.Background(), writeTimeout)
	}
	return context.Background(), func() {}
}
