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
	patience = 900 * time.Millisecond
	reserve  = patience / 3
)

const (
	queueLength = 1024
	maxRuns     = 5 // how often a caller runs when others get in its way
	stepBack    = 50 * time.Millisecond
)

var (
	errClosed    = errors.New("the store is closed")
	errBusy      = errors.New("no writer became free in time")
	errSilent    = errors.New("the commit was not confirmed in time")
	errUnwound   = errors.New("the work panicked")
	errCarriedOn = errors.New("store: a statement failed and the work went on")
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
	j := newJob(ctx, work, db.engine.shape().hurry)
	timer := time.NewTimer(patienceOf(ctx) - reserve)
	defer timer.Stop()
	select {
	case <-db.stop:
		return unavailable(errClosed)
	default:
	}
	select {
	case db.queue <- j:
		db.arrived()
		return j.wait(timer, db.idle)
	case <-ctx.Done():
		return unavailable(ctx.Err())
	case <-timer.C:
		return unavailable(errBusy)
	case <-db.stop:
		return unavailable(errClosed)
	}
}

type patienceKey struct{}

// Unhurried has what is written with the context wait that long for a database
// that does not answer at once, and take that long for its work.
func Unhurried(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

func patienceOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(patienceKey{}).(time.Duration); ok {
		return d
	}
	return patience
}

// job is one caller's work on its way through a lane. The lane runs it on its
// own goroutine: to wake the caller for it costs more than most work does. How
// it ends, though, is the caller's own affair, a panic and runtime.Goexit
// included.
type job struct {
	ctx   context.Context
	work  func(context.Context) error
	until time.Time // the caller waits no longer; zero: as long as it takes
	runs  int
	err   error  // what the next commit will have it told
	fate  func() // what the work did instead of returning, for the caller to do
	state atomic.Int32
	done  chan error // has room, so that no lane waits for a caller who has left
}

func newJob(ctx context.Context, work func(context.Context) error, hurry bool) *job {
	j := &job{ctx: ctx, work: work, done: make(chan error, 1)}
	if hurry {
		j.until = time.Now().Add(patienceOf(ctx))
	}
	return j
}

// A caller may leave while its job waits, for a turn or for the commit.
const (
	jobWaits int32 = iota
	jobRuns
	jobRan
	jobLeft
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
			if j.fate != nil {
				j.fate()
			}
			return err
		case <-cancelled:
			cancelled = nil
			if j.leave(jobWaits) {
				return unavailable(j.ctx.Err())
			}
		case <-timer.C:
			if j.leave(jobWaits) {
				return unavailable(errBusy)
			}
			if j.until.IsZero() {
				continue
			}
			if rest := time.Until(j.until); rest > 0 {
				timer.Reset(rest)
				continue
			}
			if j.leave(jobRan) {
				return unavailable(errSilent)
			}
			timer.Reset(stepBack) // the work knows that its time is over
		case <-idle: // queued while the last lane stopped
			idle = nil
			if j.leave(jobWaits) {
				return unavailable(errClosed)
			}
		}
	}
}

// refuse takes a job out, unless its caller has left.
func (j *job) refuse(err error) {
	if j.leave(jobWaits) || j.leave(jobRan) {
		j.answer(err)
	}
}

func (j *job) answer(err error) { j.done <- err }

func (j *job) leave(from int32) bool { return j.state.CompareAndSwap(from, jobLeft) }

// start takes the caller's way out, until the work is done.
func (j *job) start() bool {
	return j.state.CompareAndSwap(jobWaits, jobRuns) || j.state.CompareAndSwap(jobRan, jobRuns)
}

func (j *job) run(ctx context.Context) (err error) {
	err, j.fate = errUnwound, nil
	returned := false
	defer func() {
		if returned {
			return
		}
		j.fate = runtime.Goexit
		if v := recover(); v != nil {
			p := &Panic{Value: v, Stack: debug.Stack()}
			j.fate = func() { panic(p) }
		}
	}()
	err = j.work(ctx)
	returned = true
	return err
}

// refusal says why a job gets no turn, or no other one.
func (j *job) refusal() error {
	switch {
	case j.ctx.Err() != nil:
		return unavailable(j.ctx.Err())
	case !j.until.IsZero() && time.Until(j.until) < reserve:
		return unavailable(errBusy)
	case j.runs == maxRuns:
		return unavailable(j.err)
	}
	return nil
}

// context is what the work runs in. A caller that gives up must not tear the
// shared transaction down, so its cancellation does not reach the database.
func (j *job) context(t *tx) (context.Context, context.CancelFunc) {
	ctx := context.WithValue(context.WithoutCancel(j.ctx), txKey{}, t)
	if j.until.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, j.until)
}

func unavailable(cause error) error {
	return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
		Message: "the database does not answer, try again in a moment", RetryAfter: time.Second, Err: cause}
}
