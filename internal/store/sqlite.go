package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite" // driver "sqlite": pure Go, so that the binary needs no C library
	sqlite3 "modernc.org/sqlite/lib"
)

// liteEngine is a file in the data directory. It has one writer at a time, and
// readers that do not wait for it.
type liteEngine struct {
	write *sql.DB
	read  *sql.DB
	prepared
}

func openSQLite(path string) (*liteEngine, error) {
	// busy_timeout comes first, so that the pragmas after it already wait
	// for a lock instead of failing.
	dsn := func(extra string) string {
		q := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)", extra}}
		return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	}
	write, err := sql.Open("sqlite", dsn("synchronous(FULL)"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	if err := write.Ping(); err != nil { // creates the file before readers look for it
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
	return &liteEngine{write: write, read: read, prepared: prepared{on: read}}, nil
}

func (e *liteEngine) shape() shape {
	return shape{lanes: 1, batch: 128}
}

func (e *liteEngine) migrate(ctx context.Context) error {
	return migrate(ctx, e.write, goose.DialectSQLite3, migrations())
}

func (e *liteEngine) close() {
	_ = e.read.Close()
	_ = e.write.Close()
}

func (e *liteEngine) connect(ctx context.Context) (conn, error) {
	c, err := e.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &liteConn{conn: c, prepared: prepared{on: c}}, nil
}

// liteConn is the one writer. It spares the savepoints, which make SQLite copy
// every page that it changes: a caller that fails has mostly changed nothing.
// When one has, the whole transaction is lost, and everybody runs again,
// carefully: under a savepoint each.
type liteConn struct {
	conn *sql.Conn
	prepared
	careful bool
	touched bool // the caller has changed something, or SQLite may have rolled back by itself
}

var errTouched = errors.New("store: without a savepoint there is no undoing one caller's work")

// begin takes the writer's lock at once: a transaction that begins by reading
// may not get it later, when somebody else has written meanwhile.
func (c *liteConn) begin(ctx context.Context, careful bool) error {
	c.careful = careful
	return c.run(ctx, "BEGIN IMMEDIATE")
}

func (c *liteConn) savepoint(ctx context.Context) error {
	if c.careful {
		return c.run(ctx, "SAVEPOINT caller")
	}
	c.touched = false
	return nil
}

func (c *liteConn) keep(ctx context.Context) error {
	if c.careful {
		return c.run(ctx, "RELEASE SAVEPOINT caller")
	}
	return nil
}

func (c *liteConn) undo(ctx context.Context) error {
	switch {
	case c.careful: // fails when SQLite has rolled back by itself, as it does when the disk is full
		return c.run(ctx, "ROLLBACK TO SAVEPOINT caller", "RELEASE SAVEPOINT caller")
	case c.touched:
		return errTouched
	}
	return nil
}

func (c *liteConn) flush(context.Context) error        { return nil }
func (c *liteConn) commit(ctx context.Context) error   { return c.run(ctx, "COMMIT") }
func (c *liteConn) rollback(ctx context.Context) error { return c.run(ctx, "ROLLBACK") }

// locking adds nothing: the transaction has the only writer's lock.
func (c *liteConn) locking() string  { return "" }
func (c *liteConn) skipping() string { return "" }

func (c *liteConn) run(ctx context.Context, statements ...string) error {
	for _, q := range statements {
		if err := c.exec(ctx, nil, q, nil); err != nil {
			return err
		}
	}
	return nil
}

func (c *liteConn) exec(ctx context.Context, missing error, q string, args []any) error {
	s, err := c.stmt(ctx, q)
	if err != nil {
		return err
	}
	res, err := s.ExecContext(ctx, args...)
	if err != nil {
		c.touched = c.touched || !refused(err)
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = missing
	}
	c.touched = c.touched || n > 0
	return err
}

func (c *liteConn) insert(ctx context.Context, into *insertion, row []any) error {
	return c.exec(ctx, nil, into.plain, row)
}

func (c *liteConn) each(ctx context.Context, q string, args []any, row func(scan func(...any) error) error) error {
	c.touched = c.touched || !strings.HasPrefix(q, "SELECT")
	return c.prepared.each(ctx, q, args, row)
}

// refused reports a statement that broke a constraint, and nothing besides.
func refused(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}

func (c *liteConn) close() {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	// The connection's state is unknown, so the pool must not have it back.
	_ = c.conn.Raw(func(any) error { return errBadConn })
	_ = c.conn.Close()
}

// prepared keeps statements by their text: to parse one costs more than to run
// it.
type prepared struct {
	on interface {
		PrepareContext(ctx context.Context, q string) (*sql.Stmt, error)
	}
	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

func (p *prepared) stmt(ctx context.Context, q string) (*sql.Stmt, error) {
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
	s, err := p.on.PrepareContext(ctx, positional(q))
	if err != nil {
		return nil, err
	}
	if p.stmts == nil {
		p.stmts = map[string]*sql.Stmt{}
	}
	p.stmts[q] = s
	return s, nil
}

// each implements reader. A reader's cancellation does not reach SQLite: it
// would cost a goroutine for each statement, which is sooner done than that.
func (p *prepared) each(ctx context.Context, q string, args []any, row func(scan func(...any) error) error) error {
	ctx = context.WithoutCancel(ctx)
	s, err := p.stmt(ctx, q)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

var numbered = regexp.MustCompile(`\$\d+`)

// positional writes $1, $2 … as ? where they stand in this order, each once:
// the driver compares the names of all parameters with each other at every
// run, and has nothing to compare where there are none.
func positional(q string) string {
	n, inOrder := 0, true
	plain := numbered.ReplaceAllStringFunc(q, func(name string) string {
		n++
		inOrder = inOrder && name == "$"+strconv.Itoa(n)
		return "?"
	})
	if !inOrder {
		return q
	}
	return plain
}
