// Package store remembers: SQL and migrations, one set of queries for SQLite
// and PostgreSQL. It implements the interfaces that the domain packages
// declare, and decides nothing. It must not import api, media or app.
package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	_ "modernc.org/sqlite"             // driver "sqlite": pure Go, so that the binary needs no C library

	"parley/internal/seal"
)

// DB is the database. All methods are safe for concurrent use. Methods that
// write must run inside Write, which hands the transaction on in the context;
// methods that only read run inside it too when the context carries one.
type DB struct {
	engine engine
	box    *seal.Box // set by Unlock
	read   *sql.DB
	write  *sql.DB // SQLite: one connection; PostgreSQL: the same pool as read
	queue  chan *job
	lanes  sync.WaitGroup
	stop   chan struct{}
	once   sync.Once

	mu    sync.RWMutex
	stmts map[string]*sql.Stmt // prepared on read, by text
}

type engine int

const (
	onSQLite engine = iota
	onPostgres
)

// How long a database that does not answer may hold up one caller.
const patience = 900 * time.Millisecond

// Open opens the database and brings its tables up to date. url is empty for
// SQLite in dataDir, or postgres://…. It refuses a database that a newer
// version of Parley has written. Secrets are out of reach until Unlock.
func Open(ctx context.Context, url, dataDir string) (*DB, error) {
	db := &DB{queue: make(chan *job, queueLength), stop: make(chan struct{}), stmts: map[string]*sql.Stmt{}}
	lanes := 1
	var err error
	if url == "" {
		db.engine = onSQLite
		err = db.openSQLite(filepath.Join(dataDir, "parley.db"))
	} else {
		db.engine = onPostgres
		lanes = postgresLanes
		err = db.openPostgres(ctx, url)
	}
	if err != nil {
		return nil, err
	}
	if err := db.migrate(ctx); err != nil {
		db.closePools()
		return nil, err
	}
	for range lanes {
		l := &lane{db: db}
		db.lanes.Add(1)
		go l.run()
	}
	return db, nil
}

func (db *DB) openSQLite(path string) error {
	// busy_timeout comes first, so that the pragmas after it already wait
	// for a lock instead of failing.
	dsn := func(extra ...string) string {
		q := url.Values{}
		for _, p := range append([]string{"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)"}, extra...) {
			q.Add("_pragma", p)
		}
		q.Set("_txlock", "immediate")
		return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	}
	var err error
	if db.write, err = sql.Open("sqlite", dsn("synchronous(FULL)")); err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	db.write.SetMaxOpenConns(1)
	if err := db.write.Ping(); err != nil { // creates the file before readers look for it
		_ = db.write.Close()
		return fmt.Errorf("open %s: %w", path, err)
	}
	if db.read, err = sql.Open("sqlite", dsn("query_only(1)")); err != nil {
		_ = db.write.Close()
		return fmt.Errorf("open %s: %w", path, err)
	}
	readers := max(4, runtime.GOMAXPROCS(0))
	db.read.SetMaxOpenConns(readers)
	db.read.SetMaxIdleConns(readers)
	return nil
}

func (db *DB) openPostgres(ctx context.Context, raw string) error {
	if !strings.Contains(raw, "connect_timeout=") {
		sep := "?"
		if strings.Contains(raw, "?") {
			sep = "&"
		}
		raw += sep + "connect_timeout=1"
	}
	pool, err := sql.Open("pgx", raw)
	if err != nil {
		return fmt.Errorf("open PostgreSQL: %w", redact(err, raw))
	}
	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	db.read, db.write = pool, pool
	if err := pool.PingContext(ctx); err != nil {
		_ = pool.Close()
		return fmt.Errorf("reach PostgreSQL: %w", redact(err, raw))
	}
	return nil
}

// redact keeps the password of a connection string out of a driver's message.
func redact(err error, raw string) error {
	u, perr := url.Parse(raw)
	if perr != nil || u.User == nil {
		return err
	}
	if pw, ok := u.User.Password(); ok && pw != "" && strings.Contains(err.Error(), pw) {
		return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), pw, "***"))
	}
	return err
}

// Ping reports whether the database can be read and written to right now.
func (db *DB) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return db.Write(ctx, func(ctx context.Context) error {
		_, err := db.exec(ctx, `UPDATE facts SET value = value WHERE name = 'ping'`)
		return err
	})
}

// Close waits for the writes that were accepted and closes the database.
func (db *DB) Close() error {
	db.once.Do(func() {
		close(db.stop)
		db.lanes.Wait()
		db.closePools()
	})
	return nil
}

func (db *DB) closePools() {
	_ = db.read.Close()
	if db.write != db.read {
		_ = db.write.Close()
	}
}
