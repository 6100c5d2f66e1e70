package store

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
	alongside   = 20 * time.Millisecond // after which a transaction has another one beside it

	// A transaction costs about as much for few as for many. Where a crowd
	// shared the last one, the next lingers a little for as many, much as
	// PostgreSQL does with commit_delay and commit_siblings.
	crowd  = 8
	linger = 5 * time.Millisecond
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

// conn is a lane's connection, with the transaction that is under way on it.
type conn interface {
	reader
	// exec changes rows. To meet none is the error missing, unless that is nil.
	exec(ctx context.Context, missing error, q string, args []any) error
	// insert adds a row to a table.
	insert(ctx context.Context, into *insertion, row []any) error
	// locking is what a SELECT ends with to keep others from changing its rows.
	locking() string
	// skipping is that for rows of which any will do: those that somebody
	// else has locked are passed over.
	skipping() string

	// begin opens a transaction. A careful one has each statement fail at
	// once, any other may find out at flush.
	begin(ctx context.Context, careful bool) error
	// A caller's work stands between savepoint and keep or undo. Where undo
	// fails, the whole transaction is lost.
	savepoint(ctx context.Context) error
	keep(ctx context.Context) error
	undo(ctx context.Context) error
	// flush comes before commit, and fails where the transaction is lost.
	flush(ctx context.Context) error
	commit(ctx context.Context) error
	rollback(ctx context.Context) error
	close()
}

// lane runs one transaction after another on a connection of its own.
type lane struct {
	db        *DB
	conn      conn
	contended bool // somebody else's lock was in the way of the last transaction
	shared    int  // how many had their turn together the last time
}

func newLane(db *DB) *lane { return &lane{db: db} }

// run serves callers until the store stops.
func (l *lane) run() {
	for {
		select {
		case j := <-l.db.queue:
			l.round(j)
		case <-l.db.stop:
			select { // what was accepted is still done
			case j := <-l.db.queue:
				l.round(j)
			default:
				l.drop()
				l.db.lanes.Done()
				return
			}
		}
	}
}

// round serves a caller and those who wait with it. More of them do so by the
// time when the other lane is done, which makes each cheaper; but nobody waits
// long for one whose transaction hangs.
func (l *lane) round(first *job) {
	wait := time.NewTimer(alongside)
	defer wait.Stop()
	select {
	case l.db.gate <- struct{}{}:
		defer func() { <-l.db.gate }()
	case <-wait.C:
	}
	if l.shared >= crowd {
		l.await()
	}
	jobs := l.gather(first)
	l.shared = len(jobs)
	l.serve(jobs)
}

// await waits until as many are there as shared the last transaction, but not
// for long: some may have gone for good.
func (l *lane) await() {
	select {
	case <-l.db.gathered: // too late for an earlier one
	default:
	}
	others := l.shared - 1 // than the one the lane has taken
	l.db.awaited.Store(int64(others))
	defer l.db.awaited.Store(0)
	if len(l.db.queue) >= others {
		return
	}
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-l.db.gathered:
	case <-timer.C:
	}
}

// arrived tells a lane that lingers when all it waits for are in the queue.
func (db *DB) arrived() {
	if awaited := db.awaited.Load(); awaited > 0 && int64(len(db.queue)) >= awaited {
		select {
		case db.gathered <- struct{}{}:
		default:
		}
	}
}

func (l *lane) gather(first *job) []*job {
	jobs := []*job{first}
	for len(jobs) < l.db.engine.shape().batch {
		select {
		case j := <-l.db.queue:
			jobs = append(jobs, j)
		default:
			return jobs
		}
	}
	return jobs
}

// serve runs jobs until each has its answer. Should one of them end the
// goroutine, as runtime.Goexit does, the others go on in another one.
func (l *lane) serve(jobs []*job) {
	careful := false
	defer func() {
		if len(jobs) > 0 {
			l.abandon()
			go l.resume(jobs)
		}
	}()
	for {
		jobs = slices.DeleteFunc(jobs, func(j *job) bool { return j.state.Load() == jobLeft })
		if len(jobs) == 0 {
			return
		}
		l.contended = false
		began := time.Now()
		jobs, careful = l.transact(jobs, careful)
		if l.contended && time.Since(began) >= lockWait {
			// Two that have waited for each other in vain would meet again
			// at once, if they took the same time to come back.
			time.Sleep(rand.N(stepBack))
		}
	}
}

// resume serves those whose lane has lost its goroutine to one of them.
func (l *lane) resume(jobs []*job) {
	jobs = slices.DeleteFunc(jobs, func(j *job) bool {
		culprit := j.state.Load() == jobRuns
		if culprit {
			j.answer(errUnwound)
		}
		return culprit
	})
	l.serve(jobs)
	l.run()
}

// transact runs jobs in one transaction and answers them. It returns those
// that have to run again, and whether they should carefully.
func (l *lane) transact(jobs []*job, careful bool) (again []*job, next bool) {
	if err := l.begin(careful); err != nil {
		for _, j := range jobs {
			j.answer(translate(err))
		}
		return nil, false
	}
	var ran []*job
	for _, j := range jobs {
		if err := j.refusal(); err != nil {
			j.refuse(err)
			continue
		}
		if !j.start() {
			continue
		}
		if lost := l.turn(j); lost {
			l.abandon()
			if careful { // nobody else can have done it
				j.refuse(unavailable(j.err))
			}
			return jobs, true
		}
		if contended(j.err) {
			l.contended = true
			again = append(again, j)
		} else {
			ran = append(ran, j)
		}
	}
	if len(ran) == 0 {
		l.abandon()
		return again, false
	}
	ctx, cancel := l.context()
	defer cancel()
	if err := l.conn.flush(ctx); err != nil {
		l.contended = contended(err)
		l.abandon()
		return jobs, true
	}
	err := l.conn.commit(ctx)
	if err != nil {
		l.drop() // what it has done is unknown
	}
	for _, j := range ran {
		if err != nil {
			j.err = translate(err)
		}
		j.answer(j.err)
	}
	return again, false
}

// turn has a caller do its work, and reports whether the whole transaction was
// lost over it.
func (l *lane) turn(j *job) (lost bool) {
	t := &tx{conn: l.conn}
	ctx, cancel := j.context(t)
	defer cancel()
	j.runs++
	if j.err = l.conn.savepoint(ctx); j.err != nil {
		j.state.Store(jobRan)
		return true
	}
	j.err = j.run(ctx)
	j.state.Store(jobRan)
	if j.err == nil && t.failed {
		j.err = errCarriedOn
	}
	if j.err == nil {
		j.err = l.conn.keep(ctx)
	}
	return j.err != nil && l.conn.undo(ctx) != nil
}

// begin opens a transaction. A connection that idled may have died unseen;
// nothing has begun on it, so a fresh one gets a try.
func (l *lane) begin(careful bool) error {
	ctx, cancel := l.context()
	defer cancel()
	if l.conn != nil {
		if l.conn.begin(ctx, careful) == nil {
			return nil
		}
		l.drop()
	}
	c, err := l.db.engine.connect(ctx)
	if err != nil {
		return err
	}
	l.conn = c
	if err = c.begin(ctx, careful); err != nil {
		l.drop()
	}
	return err
}

// abandon undoes a transaction that is lost.
func (l *lane) abandon() {
	ctx, cancel := l.context()
	defer cancel()
	if l.conn.rollback(ctx) != nil {
		l.drop()
	}
}

// drop gives the connection up, and with it whatever it had begun.
func (l *lane) drop() {
	if l.conn != nil {
		l.conn.close()
		l.conn = nil
	}
}

// context bounds what the lane itself asks of the database.
func (l *lane) context() (context.Context, context.CancelFunc) {
	if l.db.engine.shape().hurry {
		return context.WithTimeout(context.Background(), patience)
	}
	return context.Background(), func() {}
}

func unavailable(cause error) error {
	return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
		Message: "the database does not answer, try again in a moment", RetryAfter: time.Second, Err: cause}
}
