package store

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	alongside = 20 * time.Millisecond // after which a transaction has another one beside it

	// A transaction costs about as much for few as for many. Where a crowd
	// shared the last one, the next lingers a little for as many, much as
	// PostgreSQL does with commit_delay and commit_siblings.
	crowd  = 8
	linger = 5 * time.Millisecond
)

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
		l.db.noteFailure(err)
		l.contended = contended(err)
		l.abandon()
		return jobs, true
	}
	err := l.conn.commit(ctx)
	if err != nil {
		l.db.noteFailure(err)
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
	l.db.noteFailure(j.err)
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
