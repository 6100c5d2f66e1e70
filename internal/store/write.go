package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"parley/internal/fault"
)

const (
	queueLength   = 1024
	batchLimit    = 128 // callers that share one transaction at most
	postgresLanes = 4   // batches under way at once; SQLite has one writer
	maxRuns       = 5   // how often a caller runs when others' locks get in its way
)

// job is one caller's work on its way through a lane.
type job struct {
	ctx   context.Context
	work  func(context.Context) error
	begun atomic.Bool // set by whoever comes first: the lane that runs it, or the caller who gives up
	runs  int
	err   error
	panic *panicked
	done  chan struct{}
}

var errClosed = errors.New("the store is closed")

// panicked carries a panic from the lane to the caller it belongs to.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) String() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }

// Write runs work in a transaction and returns after the commit that holds it,
// or with an error and nothing changed. Callers that wait at the same time
// share one transaction, each under its own savepoint (group commit): one that
// fails or panics harms no other, and a panic reaches its own caller. Inside
// another Write, work joins the transaction that is under way.
//
// work may run more than once, when the database undoes it over a lock; it
// must set what it returns anew each time, and do nothing but database work:
// others wait for it.
func (db *DB) Write(ctx context.Context, work func(ctx context.Context) error) error {
	if _, ok := txFrom(ctx); ok {
		return work(ctx)
	}
	j := &job{ctx: ctx, work: work, done: make(chan struct{})}
	select {
	case <-db.stop:
		return unavailable(errClosed)
	default:
	}
	select {
	case db.queue <- j:
	case <-ctx.Done():
		return unavailable(ctx.Err())
	case <-db.stop:
		return unavailable(errClosed)
	}
	waited := time.NewTimer(patience)
	defer waited.Stop()
	select {
	case <-j.done:
	case <-waited.C:
		if j.begun.CompareAndSwap(false, true) {
			return unavailable(errors.New("no writer became free in time"))
		}
		<-j.done
	}
	if j.panic != nil {
		panic(j.panic)
	}
	return j.err
}

// lane runs batches of jobs on a connection of its own.
type lane struct {
	db    *DB
	conn  *sql.Conn
	tx    *tx
	batch []*job
}

func (l *lane) run() {
	defer l.db.lanes.Done()
	defer l.drop()
	for {
		select {
		case j := <-l.db.queue:
			l.gather(j)
			l.commit()
		case <-l.db.stop:
			select { // what was accepted is still done
			case j := <-l.db.queue:
				l.gather(j)
				l.commit()
			default:
				return
			}
		}
	}
}

func (l *lane) gather(first *job) {
	l.batch = l.batch[:0]
	l.take(first)
	for len(l.batch) < batchLimit {
		select {
		case j := <-l.db.queue:
			l.take(j)
		default:
			return
		}
	}
}

// take adds a job to the batch, unless its caller has given up waiting.
func (l *lane) take(j *job) {
	if j.runs > 0 || j.begun.CompareAndSwap(false, true) {
		l.batch = append(l.batch, j)
	}
}

// commit runs the batch in one transaction and answers its callers.
func (l *lane) commit() {
	if len(l.batch) == 0 {
		return
	}
	var again []*job
	err := l.begin()
	if err == nil {
		kept := 0
		for _, j := range l.batch {
			if retry := l.runOne(j); retry {
				again = append(again, j)
				continue
			}
			l.batch[kept] = j
			kept++
		}
		l.batch = l.batch[:kept]
		err = l.exec("COMMIT")
	}
	if err != nil {
		l.drop() // the connection's state is unknown: the next batch gets a fresh one
	}
	for _, j := range l.batch {
		if err != nil && j.err == nil && j.panic == nil {
			j.err = translate(err)
		}
		close(j.done)
	}
	for _, j := range again {
		go func() { // never from the lane itself: the queue may be full
			select {
			case l.db.queue <- j:
			case <-l.db.stop:
				j.err = unavailable(errClosed)
				close(j.done)
			}
		}()
	}
}

// runOne runs one caller's work under a savepoint and reports whether it has
// to run again in a later batch.
func (l *lane) runOne(j *job) (again bool) {
	if err := j.ctx.Err(); err != nil {
		j.err = unavailable(err)
		return false
	}
	if j.err = l.exec("SAVEPOINT caller"); j.err != nil {
		j.err = translate(j.err)
		return false
	}
	j.runs++
	// A caller that gives up must not tear the shared transaction down with
	// it, so its cancellation does not reach the database.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), 5*patience)
	defer cancel()
	ctx = context.WithValue(ctx, txKey{}, l.tx)
	j.err, j.panic = call(ctx, j.work)
	if j.err == nil && j.panic == nil {
		j.err = translate(l.exec("RELEASE SAVEPOINT caller"))
		return false
	}
	if err := l.exec("ROLLBACK TO SAVEPOINT caller"); err == nil {
		_ = l.exec("RELEASE SAVEPOINT caller")
	}
	if contended(j.err) && j.runs < maxRuns {
		j.err = nil
		return true
	}
	return false
}

func call(ctx context.Context, work func(context.Context) error) (err error, p *panicked) {
	defer func() {
		if v := recover(); v != nil {
			p = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return work(ctx), nil
}

// begin opens the batch's transaction. A connection that idled may have died
// unseen; nothing has begun on it, so a fresh one gets a try.
func (l *lane) begin() error {
	fresh := l.conn == nil
	if fresh {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		conn, err := l.db.write.Conn(ctx)
		if err != nil {
			return err
		}
		l.conn = conn
		l.tx = &tx{conn: conn, stmts: map[string]*sql.Stmt{}}
	}
	begin := "BEGIN"
	if l.db.engine == onSQLite {
		begin = "BEGIN IMMEDIATE"
	}
	err := l.exec(begin)
	if err != nil && !fresh {
		l.drop()
		return l.begin()
	}
	return err
}

// exec runs one of the lane's own statements. SQLite gets all the time its
// disk needs; a PostgreSQL that does not answer holds nobody up for long.
func (l *lane) exec(q string) error {
	ctx := context.Background()
	if l.db.engine == onPostgres {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	_, err := l.tx.exec(ctx, q)
	return err
}

// drop gives the connection up, and with it whatever it had begun.
func (l *lane) drop() {
	if l.conn == nil {
		return
	}
	l.tx.close()
	_ = l.conn.Raw(func(any) error { return errBadConn })
	_ = l.conn.Close()
	l.conn, l.tx = nil, nil
}

func unavailable(cause error) error {
	return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
		Message: "the database does not answer, try again in a moment", RetryAfter: time.Second, Err: cause}
}
