package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/pressly/goose/v3"
	"modernc.org/libc"
	"modernc.org/sqlite" // driver "sqlite": pure Go, so that the binary needs no C library
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteEngine is a SQLite file in the data directory. It has one writer, and
// readers that do not wait for it.
type sqliteEngine struct {
	path      string
	writePool *sql.DB
	readPool  *sql.DB
	stmtCache
}

// lookasideSlots times lookasideSize is the number of bytes that each connection has for small pieces of memory of
// its statements (https://sqlite.org/malloc.html#lookaside). With 40 slots, SQLite's default, the statements that are
// kept prepared take all of them. Each run of a statement then asks the allocator of the translated C library, which
// may fetch a page from the system and return it each time: a tenth of the time of a room creation.
const lookasideSlots, lookasideSize = 200, 1200

// SQLite can be configured only before the first connection of the process.
func init() {
	thread := libc.NewTLS()
	defer thread.Close()
	const slot = 8 // bytes of an argument, see libc.VaList
	arguments := libc.Xmalloc(thread, 2*slot)
	defer libc.Xfree(thread, arguments)
	code := sqlite3.Xsqlite3_config(thread, sqlite3.SQLITE_CONFIG_LOOKASIDE,
		libc.VaList(arguments, int32(lookasideSize), int32(lookasideSlots)))
	if code != sqlite3.SQLITE_OK {
		panic(fmt.Sprintf("configure the memory of SQLite: code %d", code))
	}
}

func openSQLite(path string) (*sqliteEngine, error) {
	// busy_timeout is first, so that the pragmas after it wait for a lock
	// instead of failing.
	dsn := func(extra string) string {
		return sqliteURL(path, url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)", extra}})
	}
	write, err := sql.Open("sqlite", dsn("synchronous(FULL)"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	if err := write.Ping(); err != nil { // creates the file before the readers open it
		_ = write.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	read, err := sql.Open("sqlite", dsn("query_only(1)"))
	if err != nil {
		_ = write.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	readers := max(4, runtime.GOMAXPROCS(0))
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	return &sqliteEngine{path: path, writePool: write, readPool: read, stmtCache: stmtCache{preparer: read}}, nil
}

// sqliteURL returns the data source name for a file.
func sqliteURL(path string, options url.Values) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + options.Encode()
}

func (e *sqliteEngine) writeOptions() writeOptions {
	return writeOptions{writers: 1, maxBatch: 128, onlyWriter: true}
}

func (e *sqliteEngine) migrate(ctx context.Context, migrations fs.FS) error {
	return migrate(ctx, e.writePool, goose.DialectSQLite3, migrations)
}

// checkpointAttempts is how many times compact tries to empty the write-ahead log, with pauses of retryBackoff. A
// reader prevents it for as long as its query takes, in the server at most a second.
const checkpointAttempts = 100

var errLogInUse = errors.New("another program reads the database all the time, so the write-ahead log may contain " +
	"deleted data: stop that program, such as Litestream or sqlite3")

// checkSpaceToCompact asks for two copies of the database, because VACUUM writes one to a
// temporary file and then one to the write-ahead log.
func (e *sqliteEngine) checkSpaceToCompact(ctx context.Context) error {
	return checkSpace(ctx, e.readPool, filepath.Dir(e.path), 2)
}

// compact uses a connection of its own, because the writer keeps the only one of
// writePool.
func (e *sqliteEngine) compact(ctx context.Context, finish string) error {
	pool, err := sql.Open("sqlite", sqliteURL(e.path, url.Values{"_pragma": {"busy_timeout(5000)", "synchronous(FULL)"}}))
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	pool.SetMaxOpenConns(1)
	if _, err := pool.ExecContext(ctx, "VACUUM"); err != nil {
		return err
	}
	if err := emptyLog(ctx, pool); err != nil {
		return err
	}
	for _, q := range []string{"PRAGMA busy_timeout = 5000", finish} {
		if _, err := pool.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// emptyLog empties the write-ahead log. The pool has one connection.
func emptyLog(ctx context.Context, pool *sql.DB) error {
	// SQLite would wait for a reader in each attempt, while all writers wait.
	if _, err := pool.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	for range checkpointAttempts {
		var busy, frames, moved int
		err := pool.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
		if err != nil {
			return fmt.Errorf("empty the write-ahead log: %w", err)
		}
		if busy == 0 {
			return nil
		}
		if err := sleep(ctx, retryBackoff); err != nil {
			return err
		}
	}
	return errLogInUse
}

func (e *sqliteEngine) close() {
	_ = e.readPool.Close()
	_ = e.writePool.Close()
}

func (e *sqliteEngine) connect(ctx context.Context) (conn, error) {
	c, err := e.writePool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &sqliteConn{conn: c, stmtCache: stmtCache{preparer: c}}, nil
}

// sqliteConn is the connection of the only writer. It avoids savepoints, because
// with one SQLite copies every page that it changes, and because most callers
// that fail have changed nothing. If a caller fails after a change, the whole
// transaction is lost, and all jobs run again in a careful transaction, each
// with its own savepoint.
type sqliteConn struct {
	conn *sql.Conn
	stmtCache
	careful  bool
	modified bool // the caller may have changed rows, or SQLite may have rolled back by itself
}

var errNoSavepoint = errors.New("db: the work of one caller cannot be rolled back without a savepoint")

// begin acquires the write lock at once, because a transaction that starts with
// a read cannot get it after another process has written.
func (c *sqliteConn) begin(ctx context.Context, careful bool) error {
	c.careful = careful
	return c.execAll(ctx, "BEGIN IMMEDIATE")
}

func (c *sqliteConn) savepoint(ctx context.Context) error {
	if c.careful {
		return c.execAll(ctx, "SAVEPOINT caller")
	}
	c.modified = false
	return nil
}

func (c *sqliteConn) releaseSavepoint(ctx context.Context) error {
	if c.careful {
		return c.execAll(ctx, "RELEASE SAVEPOINT caller")
	}
	return nil
}

func (c *sqliteConn) rollbackToSavepoint(ctx context.Context) error {
	switch {
	case c.careful: // fails if SQLite has rolled back by itself, as it does when the disk is full
		return c.execAll(ctx, "ROLLBACK TO SAVEPOINT caller", "RELEASE SAVEPOINT caller")
	case c.modified:
		return errNoSavepoint
	}
	return nil
}

func (c *sqliteConn) flush(context.Context) error        { return nil }
func (c *sqliteConn) commit(ctx context.Context) error   { return c.execAll(ctx, "COMMIT") }
func (c *sqliteConn) rollback(ctx context.Context) error { return c.execAll(ctx, "ROLLBACK") }

// forUpdate is empty because the transaction holds the write lock.
func (c *sqliteConn) forUpdate() string           { return "" }
func (c *sqliteConn) forKeyShare() string         { return "" }
func (c *sqliteConn) forUpdateSkipLocked() string { return "" }

func (c *sqliteConn) execAll(ctx context.Context, statements ...string) error {
	for _, q := range statements {
		if err := c.exec(ctx, nil, q, nil); err != nil {
			return err
		}
	}
	return nil
}

func (c *sqliteConn) exec(ctx context.Context, missing error, q string, args []any) error {
	s, err := c.prepare(ctx, q)
	if err != nil {
		return err
	}
	res, err := s.ExecContext(ctx, args...)
	if err != nil {
		c.modified = c.modified || !isConstraintViolation(err)
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = missing
	}
	c.modified = c.modified || n > 0
	return err
}

func (c *sqliteConn) insert(ctx context.Context, into *InsertStmt, row []any) error {
	return c.exec(ctx, nil, into.sqliteRow, row)
}

func (c *sqliteConn) query(ctx context.Context, q string, args []any, row func(Row) error) error {
	c.modified = c.modified || !strings.HasPrefix(q, "SELECT")
	return c.stmtCache.query(ctx, q, args, row)
}

// isConstraintViolation reports whether err is the violation of a constraint,
// after which the statement has changed nothing.
func isConstraintViolation(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}

func (c *sqliteConn) close() {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	// The state of the connection is unknown, so the pool must not reuse it.
	_ = c.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = c.conn.Close()
}

// stmtCache caches prepared statements by their text, because parsing a
// statement costs more than running it.
type stmtCache struct {
	preparer interface {
		PrepareContext(ctx context.Context, q string) (*sql.Stmt, error)
	}
	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

// prepare returns the statement for q, from the cache if possible.
func (p *stmtCache) prepare(ctx context.Context, q string) (*sql.Stmt, error) {
	p.mu.RLock()
	s, ok := p.stmts[q]
	p.mu.RUnlock()
	if ok {
		return s, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.stmts[q]; ok {
		return s, nil
	}
	s, err := p.preparer.PrepareContext(ctx, positionalParams(q))
	if err != nil {
		return nil, err
	}
	if p.stmts == nil {
		p.stmts = map[string]*sql.Stmt{}
	}
	p.stmts[q] = s
	return s, nil
}

// query ignores the cancellation of ctx, because the driver would start a
// goroutine for each statement, which takes longer than the statement.
func (p *stmtCache) query(ctx context.Context, q string, args []any, row func(Row) error) error {
	ctx = context.WithoutCancel(ctx)
	s, err := p.prepare(ctx, q)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

var numberedParam = regexp.MustCompile(`\$\d+`)

// positionalParams replaces $1, $2 … with ? if they occur in this order, each
// once, because the driver compares the names of all parameters with each other
// at every run.
func positionalParams(q string) string {
	n, inOrder := 0, true
	plain := numberedParam.ReplaceAllStringFunc(q, func(name string) string {
		n++
		inOrder = inOrder && name == "$"+strconv.Itoa(n)
		return "?"
	})
	if !inOrder {
		return q
	}
	return plain
}
