package db

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"parley/internal/fault"
)

const (
	// WriteTimeout is the longest time that a caller waits for a database that
	// does not respond.
	WriteTimeout = fault.UnavailableAfter
	// commitHeadroom is the part of it that is reserved for the work and the
	// commit. A caller that gets no writer before is refused.
	commitHeadroom = WriteTimeout / 3
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
	errFailureIgnored = errors.New("db: the work ignored the error of a statement")
)

// Write runs work in a transaction and returns after its commit, or returns an
// error after its rollback. Callers that wait at the same time share one
// transaction (group commit). If the work of one caller fails or panics, only
// its own changes are rolled back, if necessary to a savepoint. Inside another
// Write, work joins the current transaction.
//
// work may run more than once, because the database may abort a transaction, so
// it must assign its results on every run. It must return the error of a
// statement that failed. It must do nothing but database work, because other
// callers wait for it. If the database disappears during the commit, the
// outcome is unknown and the error is Unavailable.
func (db *DB) Write(ctx context.Context, work func(ctx context.Context) error) error {
	if _, ok := txFrom(ctx); ok {
		return work(ctx)
	}
	j := newJob(ctx, work, db.engine.writeOptions().enforceTimeout)
	timer := time.NewTimer(writeTimeoutFrom(ctx) - commitHeadroom)
	defer timer.Stop()
	select {
	case <-db.stop:
		return unavailable(errClosed)
	default:
	}
	select {
	case db.queue <- j:
		db.signalArrival()
		return j.wait(timer, db.drained)
	case <-ctx.Done():
		return unavailable(ctx.Err())
	case <-timer.C:
		return unavailable(errNoFreeWriter)
	case <-db.stop:
		return unavailable(errClosed)
	}
}

type writeTimeoutKey struct{}

// WithWriteTimeout returns a context whose writes may take d instead of 900 ms,
// both to wait for a database that does not respond and to do their work.
func WithWriteTimeout(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, writeTimeoutKey{}, d)
}

func writeTimeoutFrom(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(writeTimeoutKey{}).(time.Duration); ok {
		return d
	}
	return WriteTimeout
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

// States of a job. A caller may abandon a job that is queued or finished.
const (
	jobQueued int32 = iota
	jobRunning
	jobFinished
	jobAbandoned
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

// wait returns the result of the job, or Unavailable when timer or the
// deadline of the job expires.
func (j *job) wait(timer *time.Timer, drained <-chan struct{}) error {
	canceled := j.ctx.Done()
	for {
		select {
		case err := <-j.done:
			if j.unwind != nil {
				j.unwind()
			}
			return err
		case <-canceled:
			canceled = nil
			if j.abandon(jobQueued) {
				return unavailable(j.ctx.Err())
			}
		case <-timer.C:
			if j.abandon(jobQueued) {
				return unavailable(errNoFreeWriter)
			}
			if j.deadline.IsZero() {
				continue
			}
			if rest := time.Until(j.deadline); rest > 0 {
				timer.Reset(rest)
				continue
			}
			if j.abandon(jobFinished) {
				return unavailable(errCommitTimeout)
			}
			timer.Reset(retryBackoff) // the work is running, and its context has expired
		case <-drained: // the job was queued while the last writer stopped
			drained = nil
			if j.abandon(jobQueued) {
				return unavailable(errClosed)
			}
		}
	}
}

// reject completes a job with an error unless its caller has left.
func (j *job) reject(err error) {
	if j.abandon(jobQueued) || j.abandon(jobFinished) {
		j.complete(err)
	}
}

func (j *job) complete(err error) { j.done <- err }

func (j *job) abandon(from int32) bool { return j.state.CompareAndSwap(from, jobAbandoned) }

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

func unavailable(cause error) error {
	return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
		Message: "the database does not answer, try again in a moment", RetryAfter: time.Second, Err: cause}
}
