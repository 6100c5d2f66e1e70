package db

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
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
// transaction may hang.
func (w *writer) serveBatch(first *job) {
	wait := time.NewTimer(writeSlotWait)
	defer wait.Stop()
	select {
	case w.db.writeSlot <- struct{}{}:
		defer func() { <-w.db.writeSlot }()
	case <-wait.C:
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
		jobs = slices.DeleteFunc(jobs, func(j *job) bool { return j.state.Load() == jobAbandoned })
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
	if err != nil {
		w.db.recordWriteFailure(err)
		w.closeConn() // because the outcome is unknown
	}
	for _, j := range ran {
		if err != nil {
			j.err = translate(err)
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
		return context.WithTimeout(context.Background(), WriteTimeout)
	}
	return context.Background(), func() {}
}
