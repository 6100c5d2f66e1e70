package db

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// lockTimeout is the longest wait for the lock of another transaction. It is much
// shorter than writeTimeout, so that a deadlock can be rolled back and retried.
const lockTimeout = 200 * time.Millisecond

// pgEngine is a PostgreSQL server, which several nodes may share.
type pgEngine struct {
	readPool     *pgxpool.Pool
	writerConfig *pgx.ConnConfig
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
	// A node that loses its network during a transaction must not lock its
	// rooms for the other nodes.
	writing.RuntimeParams["idle_in_transaction_session_timeout"] = "5s"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, reachError(err)
	}
	return &pgEngine{readPool: pool, writerConfig: writing}, nil
}

func (e *pgEngine) writeOptions() writeOptions {
	// More than 64 savepoints in a transaction would slow down the reads of
	// every other one (PGPROC_MAX_CACHED_SUBXIDS).
	return writeOptions{writers: 2, maxBatch: 64, enforceTimeout: true}
}

func (e *pgEngine) migrate(ctx context.Context, migrations fs.FS) error {
	db := stdlib.OpenDBFromPool(e.readPool)
	defer func() { _ = db.Close() }()
	// Nodes that start at the same time migrate one after another.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
	if err != nil {
		return err
	}
	return migrate(ctx, db, goose.DialectPostgres, migrations, goose.WithSessionLocker(locker))
}

func (e *pgEngine) close() { e.readPool.Close() }

// query runs outside a transaction. After a restart of the server every
// connection of the pool is dead, so a query that fails on one is retried once
// on new connections.
func (e *pgEngine) query(ctx context.Context, q string, args []any, row func(Row) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	began := false
	read := func() error {
		rows, err := e.readPool.Query(ctx, q, args...)
		if err != nil {
			return err
		}
		return readRows(rows, func(r Row) error { began = true; return row(r) })
	}
	err := read()
	if err != nil && !began && ctx.Err() == nil && isUnavailable(err) {
		e.readPool.Reset()
		err = read()
	}
	return err
}

func readRows(rows pgx.Rows, row func(Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
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

// pgConn saves round trips, which cost more than most statements. A statement
// that returns no rows waits in a queue. The queue is sent with the next
// query, at the latest before the commit, so the caller of a queued statement
// does not learn of its failure. Such a failure rolls back the whole
// transaction, and all jobs run again in a careful transaction, which sends each
// statement at once. BEGIN is queued too, so that an idle connection that died
// is detected in the same way. Inserts into the same table are merged.
type pgConn struct {
	*pgx.Conn
	careful            bool
	queue              []statement
	savepointIndex     int   // index of the caller's savepoint in queue; -1 if it was sent
	releasedSavepoints int   // callers of this transaction whose work succeeded
	abortErr           error // the error that lost the transaction; nil if none
}

type statement struct {
	q       string
	args    []any
	missing error       // the error if no row is changed; nil if that is no error
	into    *InsertStmt // set for an insert that may be merged with others
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
		// The statements of this caller are still queued. If one of them fails,
		// all jobs run again carefully, so no savepoint is needed.
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

// flush sends the queue and returns the error that lost the transaction.
func (c *pgConn) flush(ctx context.Context) error {
	if c.abortErr != nil || len(c.queue) == 0 {
		return c.abortErr
	}
	return c.sendQueue(ctx, nil)
}

func (c *pgConn) commit(ctx context.Context) error {
	tag, err := c.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" { // PostgreSQL responds ROLLBACK to the COMMIT of a failed transaction
		err = errFailureIgnored
	}
	return err
}

func (c *pgConn) rollback(ctx context.Context) error { return c.execSimple(ctx, "ROLLBACK") }

func (c *pgConn) forUpdate() string { return " FOR NO KEY UPDATE" + c.noWait() }

func (c *pgConn) forKeyShare() string { return " FOR KEY SHARE" + c.noWait() }

// noWait returns the end of a clause that waits for a lock only while no other caller of the
// transaction holds locks, so that writers and nodes cannot deadlock. Otherwise a locked row is a
// lock conflict.
func (c *pgConn) noWait() string {
	if c.releasedSavepoints == 0 {
		return ""
	}
	return " NOWAIT"
}

func (c *pgConn) forUpdateSkipLocked() string { return " FOR NO KEY UPDATE SKIP LOCKED" }

func (c *pgConn) exec(ctx context.Context, missing error, q string, args []any) error {
	return c.enqueue(ctx, statement{q: q, args: args, missing: missing})
}

func (c *pgConn) insert(ctx context.Context, into *InsertStmt, row []any) error {
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

// query sends the queue together with the query.
func (c *pgConn) query(ctx context.Context, q string, args []any, row func(Row) error) error {
	if c.abortErr != nil {
		return c.abortErr
	}
	c.queue = append(c.queue, statement{q: q, args: args})
	return c.sendQueue(ctx, row)
}

// sendQueue sends the queue and reads the results. It calls row, unless that is
// nil, for each row of the last one. It returns the first error. A failure of a
// statement before the last loses the transaction, because its caller has
// already continued.
func (c *pgConn) sendQueue(ctx context.Context, row func(Row) error) (err error) {
	statements := mergeInserts(c.queue)
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(s.q, s.args...)
	}
	results := c.SendBatch(ctx, &batch)
	last := len(statements) - 1
	for i, s := range statements {
		if i == last && row != nil {
			rows, _ := results.Query() // rows.Err returns the error
			err = readRows(rows, row)
		} else {
			err = s.readResult(results)
		}
		if err != nil && i < last {
			c.abortErr = err
		}
		if err != nil {
			break
		}
	}
	if cerr := results.Close(); err == nil {
		err = cerr
	}
	c.queue, c.savepointIndex = c.queue[:0], -1
	return err
}

func (s statement) readResult(results pgx.BatchResults) error {
	tag, err := results.Exec()
	if err == nil && s.missing != nil && tag.RowsAffected() == 0 {
		return s.missing
	}
	return err
}

// execSimple runs statements in one round trip without preparing them, because
// a failed transaction cannot prepare a statement.
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

// mergeInserts merges inserts into the same table into one statement, because a
// statement costs more than a row. It reorders only inserts that have no other
// statement between them. The order makes no difference to their callers,
// because these inserts succeed or fail together.
func mergeInserts(queue []statement) []statement {
	merged := make([]statement, 0, len(queue))
	for len(queue) > 0 {
		inserts := countLeading(queue, func(s statement) bool { return s.into != nil })
		if inserts == 0 {
			merged, queue = append(merged, queue[0]), queue[1:]
			continue
		}
		rows := queue[:inserts]
		queue = queue[inserts:]
		slices.SortStableFunc(rows, func(a, b statement) int { return a.into.order - b.into.order })
		for len(rows) > 0 {
			same := countLeading(rows, func(s statement) bool { return s.into == rows[0].into })
			merged, rows = append(merged, bulkInsert(rows[:same])), rows[same:]
		}
	}
	return merged
}

// countLeading returns the number of statements before the first that does not
// match.
func countLeading(queue []statement, match func(statement) bool) int {
	for i, s := range queue {
		if !match(s) {
			return i
		}
	}
	return len(queue)
}

// bulkInsert returns the statement that inserts all rows, which belong to the
// same table.
func bulkInsert(rows []statement) statement {
	first := rows[0]
	if len(rows) == 1 {
		return first
	}
	columns := make([]any, len(first.args))
	for i := range columns {
		column := make(pgtype.FlatArray[any], len(rows))
		for j, row := range rows {
			column[j] = row.args[i]
		}
		columns[i] = column
	}
	return statement{q: first.into.postgresRows, args: columns}
}
