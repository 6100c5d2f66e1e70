package store

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	writeSlotWait = 20 * time.Millisecond // after which a transaction has another one beside it

	// A transaction costs about as much for few as for many. Where a crowd
	// shared the last one, the next lingers a little for as many, much as
	// PostgreSQL does with commit_delay and commit_siblings.
	commitSiblings = 8
	commitDelay    = 5 * time.Millisecond
)

// conn is a lane's connection, with the transaction that is under way on it.
type conn interface {
	querier
	// exec changes rows. To meet none is the error missing, unless that is nil.
	exec(ctx context.Context, missing error, q string, args []any) error
	// insert adds a row to a table.
	insert(ctx context.Context, into *insertStmt, row []any) error
	// locking is what a SELECT ends with to keep others from changing its rows.
	forUpdate() string
	// skipping is that for rows of which any will do: those that somebody
	// else has locked are passed over.
	forUpdateSkipLocked() string

	// begin opens a transaction. A careful one has each statement fail at
	// once, any other may find out at flush.
	begin(ctx context.Context, careful bool) error
	// A caller's work stands between savepoint and keep or undo. Where undo
	// fails, the whole transaction is lost.
	savepoint(ctx context.Context) error
	releaseSavepoint(ctx context.Context) error
	rollbackToSavepoint(ctx context.Context) error
	// flush comes before commit, and fails where the transaction is lost.
	flush(ctx context.Context) error
	commit(ctx context.Context) error
	rollback(ctx context.Context) error
	close()
}

// writer runs one transaction after another on a connection of its own.
type writer struct {
	db            *DB
	conn          conn
	lockConflict  bool // somebody else's lock was in the way of the last transaction
	lastBatchSize int  // how many had their turn together the last time
}

func newWriter(db *DB) *writer { return &writer{db: db} }

// run serves callers until the store stops.
func (l *writer) run() {
	for {
		select {
		case j := <-l.db.queue:
			l.serveBatch(j)
		case <-l.db.stop:
			select { // what was accepted is still done
			case j := <-l.db.queue:
				l.serveBatch(j)
			default:
				l.closeConn()
				l.db.writers.Done()
				return
			}
		}
	}
}

// serveBatch serves a caller and those who wait with it. More of them do so by the
// time when the other lane is done, which makes each cheaper; but nobody waits
// long for one whose transaction hangs.
func (l *writer) serveBatch(first *job) {
	wait := time.NewTimer(writeSlotWait)
	defer wait.Stop()
	select {
	case l.db.writeSlot <- struct{}{}:
		defer func() { <-l.db.writeSlot }()
	case <-wait.C:
	}
	if l.lastBatchSize >= commitSiblings {
		l.awaitSiblings()
	}
	jobs := l.collectBatch(first)
	l.lastBatchSize = len(jobs)
	l.runJobs(jobs)
}

// awaitSiblings waits until as many are there as shared the last transaction, but not
// for long: some may have gone for good.
func (l *writer) awaitSiblings() {
	select {
	case <-l.db.siblingsArrived: // too late for an earlier one
	default:
	}
	others := l.lastBatchSize - 1 // than the one the lane has taken
	l.db.awaitedSiblings.Store(int64(others))
	defer l.db.awaitedSiblings.Store(0)
	if len(l.db.queue) >= others {
		return
	}
	timer := time.NewTimer(commitDelay)
	defer timer.Stop()
	select {
	case <-l.db.siblingsArrived:
	case <-timer.C:
	}
}

// signalArrival tells a lane that lingers when all it waits for are in the queue.
func (db *DB) signalArrival() {
	if awaited := db.awaitedSiblings.Load(); awaited > 0 && int64(len(db.queue)) >= awaited {
		select {
		case db.siblingsArrived <- struct{}{}:
		default:
		}
	}
}

func (l *writer) collectBatch(first *job) []*job {
	jobs := []*job{first}
	for len(jobs) < l.db.engine.writeOptions().maxBatch {
		select {
		case j := <-l.db.queue:
			jobs = append(jobs, j)
		default:
			return jobs
		}
	}
	return jobs
}

// runJobs runs jobs until each has its answer. Should one of them end the
// goroutine, as runtime.Goexit does, the others go on in another one.
func (l *writer) runJobs(jobs []*job) {
	careful := false
	defer func() {
		if len(jobs) > 0 {
			l.rollback()
			go l.resume(jobs)
		}
	}()
	for {
		jobs = slices.DeleteFunc(jobs, func(j *job) bool { return j.state.Load() == jobAbandoned })
		if len(jobs) == 0 {
			return
		}
		l.lockConflict = false
		began := time.Now()
		jobs, careful = l.transact(jobs, careful)
		if l.lockConflict && time.Since(began) >= lockTimeout {
			// Two that have waited for each other in vain would meet again
			// at once, if they took the same time to come back.
			time.Sleep(rand.N(retryBackoff))
		}
	}
}

// resume serves those whose lane has lost its goroutine to one of them.
func (l *writer) resume(jobs []*job) {
	jobs = slices.DeleteFunc(jobs, func(j *job) bool {
		culprit := j.state.Load() == jobRunning
		if culprit {
			j.complete(errWorkPanicked)
		}
		return culprit
	})
	l.runJobs(jobs)
	l.run()
}

// transact runs jobs in one transaction and answers them. It returns those
// that have to run again, and whether they should carefully.
func (l *writer) transact(jobs []*job, careful bool) (again []*job, next bool) {
	if err := l.begin(careful); err != nil {
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
		if lost := l.runJob(j); lost {
			l.rollback()
			if careful { // nobody else can have done it
				j.reject(unavailable(j.err))
			}
			return jobs, true
		}
		if isLockConflict(j.err) {
			l.lockConflict = true
			again = append(again, j)
		} else {
			ran = append(ran, j)
		}
	}
	if len(ran) == 0 {
		l.rollback()
		return again, false
	}
	ctx, cancel := l.context()
	defer cancel()
	if err := l.conn.flush(ctx); err != nil {
		l.db.recordWriteFailure(err)
		l.lockConflict = isLockConflict(err)
		l.rollback()
		return jobs, true
	}
	err := l.conn.commit(ctx)
	if err != nil {
		l.db.recordWriteFailure(err)
		l.closeConn() // what it has done is unknown
	}
	for _, j := range ran {
		if err != nil {
			j.err = translate(err)
		}
		j.complete(j.err)
	}
	return again, false
}

// runJob has a caller do its work, and reports whether the whole transaction was
// lost over it.
func (l *writer) runJob(j *job) (lost bool) {
	t := &tx{conn: l.conn}
	ctx, cancel := j.workContext(t)
	defer cancel()
	j.attempts++
	if j.err = l.conn.savepoint(ctx); j.err != nil {
		j.state.Store(jobFinished)
		return true
	}
	j.err = j.run(ctx)
	j.state.Store(jobFinished)
	if j.err == nil && t.failed {
		j.err = errFailureIgnored
	}
	if j.err == nil {
		j.err = l.conn.releaseSavepoint(ctx)
	}
	l.db.recordWriteFailure(j.err)
	return j.err != nil && l.conn.rollbackToSavepoint(ctx) != nil
}

// begin opens a transaction. A connection that idled may have died unseen;
// nothing has begun on it, so a fresh one gets a try.
func (l *writer) begin(careful bool) error {
	ctx, cancel := l.context()
	defer cancel()
	if l.conn != nil {
		if l.conn.begin(ctx, careful) == nil {
			return nil
		}
		l.closeConn()
	}
	c, err := l.db.engine.connect(ctx)
	if err != nil {
		return err
	}
	l.conn = c
	if err = c.begin(ctx, careful); err != nil {
		l.closeConn()
	}
	return err
}

// rollback undoes a transaction that is lost.
func (l *writer) rollback() {
	ctx, cancel := l.context()
	defer cancel()
	if l.conn.rollback(ctx) != nil {
		l.closeConn()
	}
}

// closeConn gives the connection up, and with it whatever it had begun.
func (l *writer) closeConn() {
	if l.conn != nil {
		l.conn.close()
		l.conn = nil
	}
}

// context bounds what the lane itself asks of the database.
func (l *writer) context() (context.Context, context.CancelFunc) {
	if l.db.engine.writeOptions().enforceTimeout {
		return context.WithTimeout(context.Background(), writeTimeout)
	}
	return context.Background(), func() {}
}
