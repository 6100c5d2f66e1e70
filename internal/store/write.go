package store

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

// How long a database that does not answer may hold up one caller. Who has
// waited for two thirds of it is refused; the rest is kept for the work and
// the commit.
const (
	writeTimeout   = 900 * time.Millisecond
	commitHeadroom = writeTimeout / 3
)

const (
	queueLength  = 1024
	maxAttempts  = 5 // how often a caller runs when others get in its way
	retryBackoff = 50 * time.Millisecond
)

var (
	errClosed         = errors.New("the store is closed")
	errNoFreeWriter   = errors.New("no writer became free in time")
	errCommitTimeout  = errors.New("the commit was not confirmed in time")
	errWorkPanicked   = errors.New("the work panicked")
	errFailureIgnored = errors.New("store: a statement failed and the work went on")
)

// Write runs work in a transaction and returns after the commit that holds it,
// or with an error and nothing changed. Callers that wait at the same time
// share one transaction (group commit), and one that fails or panics harms no
// other: what it did is undone alone, by a savepoint of its own where that is
// needed. Inside another Write, work joins the transaction that is under way.
//
// work may run more than once, when the database undoes it: it must set what
// it returns anew each time. It must return the error of a statement that
// failed, and do nothing but database work: others wait for it. A database
// that goes away in the middle of a commit leaves its outcome in doubt; the
// error is Unavailable then.
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

// WithWriteTimeout has what is written with the context wait that long for a database
// that does not answer at once, and take that long for its work.
func WithWriteTimeout(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, writeTimeoutKey{}, d)
}

func writeTimeoutFrom(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(writeTimeoutKey{}).(time.Duration); ok {
		return d
	}
	return writeTimeout
}

// job is one caller's work on its way through a lane. The lane runs it on its
// own goroutine: to wake the caller for it costs more than most work does. How
// it ends, though, is the caller's own affair, a panic and runtime.Goexit
// included.
type job struct {
	ctx      context.Context
	work     func(context.Context) error
	deadline time.Time // the caller waits no longer; zero: as long as it takes
	attempts int
	err      error  // what the next commit will have it told
	unwind   func() // what the work did instead of returning, for the caller to do
	state    atomic.Int32
	done     chan error // has room, so that no lane waits for a caller who has left
}

func newJob(ctx context.Context, work func(context.Context) error, hurry bool) *job {
	j := &job{ctx: ctx, work: work, done: make(chan error, 1)}
	if hurry {
		j.deadline = time.Now().Add(writeTimeoutFrom(ctx))
	}
	return j
}

// A caller may leave while its job waits, for a turn or for the commit.
const (
	jobQueued int32 = iota
	jobRunning
	jobFinished
	jobAbandoned
)

// Panic is what Write panics with when the work did, on another goroutine.
type Panic struct {
	Value any    // what the work panicked with
	Stack []byte // that led to it
}

// Error implements error.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the error that the work panicked with, if it was one.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// wait returns the outcome of the transaction that a lane runs.
func (j *job) wait(timer *time.Timer, idle <-chan struct{}) error {
	cancelled := j.ctx.Done()
	for {
		select {
		case err := <-j.done:
			if j.unwind != nil {
				j.unwind()
			}
			return err
		case <-cancelled:
			cancelled = nil
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
			timer.Reset(retryBackoff) // the work knows that its time is over
		case <-idle: // queued while the last lane stopped
			idle = nil
			if j.abandon(jobQueued) {
				return unavailable(errClosed)
			}
		}
	}
}

// reject takes a job out, unless its caller has left.
func (j *job) reject(err error) {
	if j.abandon(jobQueued) || j.abandon(jobFinished) {
		j.complete(err)
	}
}

func (j *job) complete(err error) { j.done <- err }

func (j *job) abandon(from int32) bool { return j.state.CompareAndSwap(from, jobAbandoned) }

// markRunning takes the caller's way out, until the work is done.
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

// rejectReason says why a job gets no turn, or no other one.
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

// workContext is what the work runs in. A caller that gives up must not tear the
// shared transaction down, so its cancellation does not reach the database.
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
