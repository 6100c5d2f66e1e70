package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// A wait for somebody's lock ends long before a caller's patience does, so that
// there is time to undo a deadlock and try again.
const lockTimeout = 200 * time.Millisecond

// pgEngine is a server that several nodes may share.
type pgEngine struct {
	readPool     *pgxpool.Pool   // for reading
	writerConfig *pgx.ConnConfig // for writing
}

func openPostgres(ctx context.Context, url string) (*pgEngine, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	config.ConnConfig.ConnectTimeout = writeTimeout
	config.MaxConns = 16
	writing := config.ConnConfig.Copy()
	writing.RuntimeParams["lock_timeout"] = lockTimeout.String()
	// A node that is cut off in the middle of a transaction must not keep the
	// others from its rooms.
	writing.RuntimeParams["idle_in_transaction_session_timeout"] = "5s"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("reach PostgreSQL: %w", err)
	}
	return &pgEngine{readPool: pool, writerConfig: writing}, nil
}

// More than 64 savepoints in a transaction would make every other one's reads
// slower (PGPROC_MAX_CACHED_SUBXIDS).
func (e *pgEngine) writeOptions() writeOptions {
	return writeOptions{writers: 2, maxBatch: 64, enforceTimeout: true}
}

func (e *pgEngine) migrate(ctx context.Context) error {
	db := stdlib.OpenDBFromPool(e.readPool)
	defer func() { _ = db.Close() }()
	// Nodes that start at once take turns.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
	if err != nil {
		return err
	}
	return migrate(ctx, db, goose.DialectPostgres, migrations(), goose.WithSessionLocker(locker))
}

func (e *pgEngine) close() { e.readPool.Close() }

// query implements reader. After a restart of the server every connection of
// the pool is dead, so a read that met one starts again on fresh ones.
func (e *pgEngine) query(ctx context.Context, q string, args []any, row func(scan func(...any) error) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	began := false
	read := func() error {
		rows, err := e.readPool.Query(ctx, q, args...)
		if err != nil {
			return err
		}
		return readRows(rows, func(scan func(...any) error) error { began = true; return row(scan) })
	}
	err := read()
	if err != nil && !began && ctx.Err() == nil && isUnavailable(err) {
		e.readPool.Reset()
		err = read()
	}
	return err
}

func readRows(rows pgx.Rows, row func(scan func(...any) error) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (e *pgEngine) connect(ctx context.Context) (conn, error) {
	c, err := pgx.ConnectConfig(ctx, e.writerConfig)
	if err != nil {
		return nil, err
	}
	return &pgConn{Conn: c}, nil
}

// pgConn spares round trips, which cost more than what is done in them:
// a statement whose answer nobody reads waits in a queue and goes out with the
// next one whose answer somebody does, at the latest before the commit. So its
// caller does not hear of its failure. Such a failure undoes the whole
// transaction, and everybody runs again, carefully: each statement by itself.
// The BEGIN waits with the others, so a connection that died while it idled is
// found out in the same way. Rows for the same table become one statement.
type pgConn struct {
	*pgx.Conn
	careful            bool
	queue              []statement
	savepointIndex     int   // where the caller's savepoint stands in queue; -1 when it was sent
	releasedSavepoints int   // callers before this one whose work stays
	abortErr           error // why the transaction cannot go on
}

type statement struct {
	q       string
	args    []any
	missing error       // the failure that it is to meet no row; nil if it is none
	into    *insertStmt // where it adds a row that may go out with others; nil if it is none
}

func (c *pgConn) begin(ctx context.Context, careful bool) error {
	c.careful, c.queue, c.releasedSavepoints, c.abortErr = careful, c.queue[:0], 0, nil
	return c.exec(ctx, nil, "BEGIN ISOLATION LEVEL READ COMMITTED", nil)
}

func (c *pgConn) savepoint(ctx context.Context) error {
	c.savepointIndex = len(c.queue)
	return c.exec(ctx, nil, "SAVEPOINT caller", nil)
}

func (c *pgConn) releaseSavepoint(ctx context.Context) error {
	c.releasedSavepoints++
	if c.savepointIndex >= 0 && !c.careful {
		// Nobody has asked for anything since, so nothing was sent: should
		// one of these statements fail, all run again carefully.
		c.queue = slices.Delete(c.queue, c.savepointIndex, c.savepointIndex+1)
		return nil
	}
	return c.exec(ctx, nil, "RELEASE SAVEPOINT caller", nil)
}

func (c *pgConn) rollbackToSavepoint(ctx context.Context) error {
	if c.abortErr != nil {
		return c.abortErr
	}
	if c.savepointIndex >= 0 {
		c.queue = c.queue[:c.savepointIndex]
		return nil
	}
	c.queue = c.queue[:0]
	return c.execSimple(ctx, "ROLLBACK TO SAVEPOINT caller; RELEASE SAVEPOINT caller")
}

// flush sends what is queued, before a commit that must not happen if any of
// it fails.
func (c *pgConn) flush(ctx context.Context) error {
	if c.abortErr != nil || len(c.queue) == 0 {
		return c.abortErr
	}
	return c.sendQueue(ctx, nil)
}

func (c *pgConn) commit(ctx context.Context) error {
	tag, err := c.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" { // PostgreSQL's answer to the commit of a failed transaction
		err = errFailureIgnored
	}
	return err
}

func (c *pgConn) rollback(ctx context.Context) error { return c.execSimple(ctx, "ROLLBACK") }

// forUpdate waits for the lock only where nobody can be waiting for this
// transaction meanwhile, so that lanes and nodes cannot come to wait for each
// other. Elsewhere a row that is locked counts as contended.
func (c *pgConn) forUpdate() string {
	if c.releasedSavepoints == 0 {
		return " FOR NO KEY UPDATE"
	}
	return " FOR NO KEY UPDATE NOWAIT"
}

func (c *pgConn) forUpdateSkipLocked() string { return " FOR NO KEY UPDATE SKIP LOCKED" }

func (c *pgConn) exec(ctx context.Context, missing error, q string, args []any) error {
	return c.enqueue(ctx, statement{q: q, args: args, missing: missing})
}

func (c *pgConn) insert(ctx context.Context, into *insertStmt, row []any) error {
	return c.enqueue(ctx, statement{q: into.postgresRow, args: row, into: into})
}

func (c *pgConn) enqueue(ctx context.Context, s statement) error {
	if c.abortErr != nil {
		return c.abortErr
	}
	c.queue = append(c.queue, s)
	if !c.careful {
		return nil
	}
	return c.sendQueue(ctx, nil)
}

// query implements reader.
func (c *pgConn) query(ctx context.Context, q string, args []any, row func(scan func(...any) error) error) error {
	if c.abortErr != nil {
		return c.abortErr
	}
	c.queue = append(c.queue, statement{q: q, args: args})
	return c.sendQueue(ctx, row)
}

// sendQueue sends what is queued and reads the answers, the last one with row
// unless that is nil. A failure of the last statement is returned; one of
// those before it, which nobody is there to hear of, loses the transaction.
func (c *pgConn) sendQueue(ctx context.Context, row func(scan func(...any) error) error) (err error) {
	statements := mergeInserts(c.queue)
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(s.q, s.args...)
	}
	answers := c.SendBatch(ctx, &batch)
	last := len(statements) - 1
	for i, s := range statements {
		if i == last && row != nil {
			rows, _ := answers.Query() // rows carry its error
			err = readRows(rows, row)
		} else {
			err = s.readResult(answers)
		}
		if err != nil && i < last {
			c.abortErr = err
		}
		if err != nil {
			break
		}
	}
	if cerr := answers.Close(); err == nil {
		err = cerr
	}
	c.queue, c.savepointIndex = c.queue[:0], -1
	return err
}

func (s statement) readResult(answers pgx.BatchResults) error {
	tag, err := answers.Exec()
	if err == nil && s.missing != nil && tag.RowsAffected() == 0 {
		return s.missing
	}
	return err
}

// execSimple runs statements of ours in one round trip and unprepared: in a
// transaction that has failed nothing can be prepared.
func (c *pgConn) execSimple(ctx context.Context, q string) error {
	err := c.PgConn().Exec(ctx, q).Close()
	if err != nil {
		c.abortErr = err
	}
	return err
}

func (c *pgConn) close() {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	_ = c.Close(ctx)
}
