// Package db is the database engine: it opens SQLite or PostgreSQL, migrates the
// schema, shares transactions between concurrent callers and runs statements. It
// knows no table of Parley; package store contains the queries.
package db

import (
	"context"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// DB is an open database. All methods are safe for concurrent use. Methods that
// write must run inside Write, which passes the transaction in the context.
// Methods that only read use the transaction of the context if it has one.
type DB struct {
	engine    engine
	queue     chan *job
	writeSlot chan struct{} // semaphore of one transaction
	stop      chan struct{} // closed when no more writes are accepted
	drained   chan struct{} // closed when the accepted writes are done
	writers   sync.WaitGroup
	closeOnce sync.Once

	awaitedSiblings atomic.Int64  // jobs in the queue that a writer waits for; 0 if no writer waits
	siblingsArrived chan struct{} // signals that writer that they arrived

	compactions compactionState

	changes atomic.Uint64 // see Changes

	lastWriteFailure atomic.Pointer[writeFailure] // for RecentWriteError; nil if no write failed

	observer atomic.Pointer[WriteObserver] // set by ObserveWrites; nil if nothing is observed

	trace func(q string, args []any) // set by Trace; nil if nothing is traced
}

// engine is one kind of database: SQLite or PostgreSQL.
type engine interface {
	querier
	// connect opens a connection for a writer.
	connect(ctx context.Context) (conn, error)
	migrate(ctx context.Context, migrations fs.FS) error
	writeOptions() writeOptions
	// snapshot and readSnapshot implement DB.Snapshot and DB.ReadSnapshot.
	snapshot(ctx context.Context, file string, inspect func(*Reader) error) error
	readSnapshot(ctx context.Context, read func(*Reader) error) error
	close()
}

// querier runs a query and calls row for each row of the result.
type querier interface {
	query(ctx context.Context, q string, args []any, row func(Row) error) error
}

// writeOptions controls how an engine is written to.
type writeOptions struct {
	writers  int // concurrent transactions
	maxBatch int // maximum number of callers that share one
	// enforceTimeout ends a transaction after its write timeout, because a
	// database server may be gone. SQLite runs inside this process, so its
	// disk gets all the time it needs.
	enforceTimeout bool
	onlyWriter     bool // no other process writes to the database, except for tokens; see Changes
}

// OpenSQLite opens the SQLite database in a file, which it creates if necessary,
// and migrates it to the newest schema. migrations is a directory of SQL files
// in the format of goose. If the engines need different files for a version,
// the names end in .sqlite.sql and .postgres.sql. A schema that is newer than
// migrations is left as it is. OpenSQLite fails if a newer migration has contracted it
// (see Contractions).
func OpenSQLite(ctx context.Context, file string, migrations fs.FS) (*DB, error) {
	e, err := openSQLite(file)
	if err != nil {
		return nil, err
	}
	return migrateAndStart(ctx, e, migrations)
}

// OpenPostgres is OpenSQLite for the PostgreSQL database at url. The error does
// not contain the password of url.
func OpenPostgres(ctx context.Context, url string, migrations fs.FS) (*DB, error) {
	e, err := openPostgres(ctx, url)
	if err != nil {
		return nil, err
	}
	return migrateAndStart(ctx, e, migrations)
}

// QuerySQLite runs a query on the database in an existing file without migrating it.
func QuerySQLite(ctx context.Context, file, q string, row func(Row) error) error {
	e, err := openSQLite(file)
	if err != nil {
		return err
	}
	defer e.close()
	return e.query(ctx, q, nil, row)
}

// QueryPostgres is QuerySQLite for the PostgreSQL database at url.
func QueryPostgres(ctx context.Context, url, q string, row func(Row) error) error {
	e, err := openPostgres(ctx, url)
	if err != nil {
		return err
	}
	defer e.close()
	return e.query(ctx, q, nil, row)
}

// migrateAndStart migrates an engine and starts its writers. It closes the engine if
// that fails.
func migrateAndStart(ctx context.Context, e engine, migrations fs.FS) (*DB, error) {
	if err := e.migrate(ctx, migrations); err != nil {
		e.close()
		return nil, err
	}
	return newDB(e), nil
}

// newDB starts the writers of an engine that is open and migrated.
func newDB(e engine) *DB {
	db := &DB{
		engine:          e,
		queue:           make(chan *job, queueLength),
		writeSlot:       make(chan struct{}, 1),
		stop:            make(chan struct{}),
		drained:         make(chan struct{}),
		siblingsArrived: make(chan struct{}, 1),
		compactions:     compactionState{copying: make(chan struct{}, 1)},
	}
	for range e.writeOptions().writers {
		db.writers.Add(1)
		go newWriter(db).run()
	}
	go func() {
		db.writers.Wait()
		close(db.drained)
	}()
	return db
}

// Ping runs a write transaction that changes no row, and returns an error if that
// fails. It may not detect a full disk; RecentWriteError does. It returns nil while writes
// wait for a compaction.
func (db *DB) Ping(ctx context.Context) error {
	compacting := func() bool { return db.compactionWait(writeTimeout) > 0 }
	if compacting() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err := db.Write(ctx, func(ctx context.Context) error {
		return db.Exec(ctx, `UPDATE goose_db_version SET version_id = version_id WHERE version_id = -1`)
	})
	if compacting() { // it has started meanwhile
		return nil
	}
	return err
}

// Changes returns a number that grows with each commit, before its callers continue. complete tells whether it
// contains all commits to the database. With SQLite, only those of a command that creates a token are missing.
func (db *DB) Changes() (n uint64, complete bool) {
	return db.changes.Load(), db.engine.writeOptions().onlyWriter
}

// Close interrupts a compaction, finishes the accepted writes and closes the database. It
// returns nil, also when it is called again.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		db.compactions.mu.Lock() // so that none starts after the wait below
		close(db.stop)
		db.compactions.mu.Unlock()
		db.compactions.running.Wait()
		<-db.drained
		db.engine.close()
	})
	return nil
}

// Trace makes the methods that run statements call trace with each statement and its
// arguments. Insert calls it once for each form of the statement. Tests use it to
// explain the statements; it must be called before the database is used.
func (db *DB) Trace(trace func(q string, args []any)) { db.trace = trace }

// WriteObserver measures writes. Its methods must not block, and may be called by many
// goroutines at once.
type WriteObserver interface {
	// ObserveWrite receives the time that a call of Write took and its result.
	ObserveWrite(took time.Duration, err error)
	// ObserveCommit receives the number of callers that shared a committed transaction.
	ObserveCommit(callers int)
}

// ObserveWrites notifies o of all later writes.
func (db *DB) ObserveWrites(o WriteObserver) { db.observer.Store(&o) }

// Write runs work in a transaction and returns after its commit, or returns an
// error after its rollback. Callers that wait at the same time share one
// transaction (group commit). If the work of one caller fails or panics, only
// its own changes are rolled back, if necessary to a savepoint. Inside another
// Write, work joins the current transaction.
//
// work may run more than once, because the database may abort a transaction, so
// it must assign its results on every run. It must return the error of a
// statement that failed. It must do nothing but database work, because other
// callers wait for it. If the database disappears during the commit, the
// outcome is unknown and the error is Unavailable. Write waits longer than usual while the
// database is compacted; see Compact.
func (db *DB) Write(ctx context.Context, work func(ctx context.Context) error) error {
	if _, ok := txFrom(ctx); ok {
		return work(ctx)
	}
	observer := db.observer.Load()
	if observer == nil {
		return db.write(ctx, work)
	}
	began := time.Now()
	err := db.write(ctx, work)
	(*observer).ObserveWrite(time.Since(began), err)
	return err
}

func (db *DB) write(ctx context.Context, work func(ctx context.Context) error) error {
	j := newJob(ctx, work, db.engine.writeOptions().enforceTimeout)
	timer := time.NewTimer(j.queueTimeout())
	defer timer.Stop()
	select {
	case <-db.stop:
		return unavailable(errClosed)
	default:
	}
	for {
		select {
		case db.queue <- j:
			db.signalArrival()
			return db.wait(j, timer)
		case <-ctx.Done():
			return unavailable(ctx.Err())
		case <-timer.C:
			rest := db.compactionWait(j.queueTimeout())
			if rest <= 0 {
				return unavailable(errNoFreeWriter)
			}
			timer.Reset(rest)
		case <-db.stop:
			return unavailable(errClosed)
		}
	}
}

type writeTimeoutKey struct{}

// WithWriteTimeout returns a context in which Write waits up to d, instead of 900
// ms, for a writer and for the work. On PostgreSQL, BEGIN and COMMIT still take at
// most 900 ms.
func WithWriteTimeout(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, writeTimeoutKey{}, d)
}

func writeTimeoutFrom(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(writeTimeoutKey{}).(time.Duration); ok {
		return d
	}
	return writeTimeout
}

type txKey struct{}

// tx is the transaction in a context.
type tx struct {
	conn
	failed bool // a statement failed, after which PostgreSQL accepts no other
}

func txFrom(ctx context.Context) (*tx, bool) {
	t, ok := ctx.Value(txKey{}).(*tx)
	return t, ok
}

// Row is a row of a result.
type Row interface {
	// Scan copies the columns of the row into dest, which are pointers or
	// values of ScanTime, ScanDuration, ScanString and ScanParsed.
	Scan(dest ...any) error
}

// Exec runs a statement in the transaction of ctx and fails if ctx has none. Like
// all methods that run statements, it returns Unavailable if the database cannot
// be reached.
func (db *DB) Exec(ctx context.Context, q string, args ...any) error {
	return db.ExecOne(ctx, nil, q, args...)
}

// ExecOne is Exec for a statement that must change a row. It returns missing if
// the statement changes none. PostgreSQL may queue the statement, so that the
// result is nil at first. If the statement fails later, Write runs the work again
// and ExecOne returns the error.
func (db *DB) ExecOne(ctx context.Context, missing error, q string, args ...any) error {
	t, ok := txFrom(ctx)
	if !ok {
		return errNoTx
	}
	if db.trace != nil {
		db.trace(q, args)
	}
	err := t.exec(ctx, missing, q, args)
	if err != nil && err != missing {
		t.failed = true
	}
	return translate(err)
}

// ExecReturning runs a statement with RETURNING in the transaction of ctx and
// calls row for each row that it returns.
func (db *DB) ExecReturning(ctx context.Context, q string, args []any, row func(Row) error) error {
	if _, ok := txFrom(ctx); !ok {
		return errNoTx
	}
	return db.Query(ctx, q, args, row)
}

// Insert adds a row in the transaction of ctx. Rows for the same table may be
// merged into one statement.
func (db *DB) Insert(ctx context.Context, into *InsertStmt, row ...any) error {
	t, ok := txFrom(ctx)
	if !ok {
		return errNoTx
	}
	if db.trace != nil {
		for _, q := range []string{into.sqliteRow, into.postgresRow, into.postgresRows} {
			db.trace(q, row)
		}
	}
	err := t.insert(ctx, into, row)
	t.failed = t.failed || err != nil
	return translate(err)
}

// Query calls row for each row of the result. It runs in the transaction of ctx
// if there is one. In a statement that begins with SELECT or WITH, an argument that
// PostgreSQL cannot store (NUL, invalid UTF-8) is replaced by NULL, so that the text of
// a client finds no row instead of failing.
func (db *DB) Query(ctx context.Context, q string, args []any, row func(Row) error) error {
	if strings.HasPrefix(q, "SELECT") || strings.HasPrefix(q, "WITH") {
		args = nullUnstorable(args)
	}
	if db.trace != nil {
		db.trace(q, args)
	}
	t, ok := txFrom(ctx)
	if !ok {
		return translate(db.engine.query(ctx, q, args, row))
	}
	err := t.query(ctx, q, args, row)
	if err != nil {
		t.failed = true
	}
	return translate(err)
}

// QueryRow scans a single row into dest. It returns missing if there is no row.
func (db *DB) QueryRow(ctx context.Context, missing error, q string, args []any, dest ...any) error {
	none := true
	err := db.Query(ctx, q, args, func(row Row) error {
		none = false
		return row.Scan(dest...)
	})
	if err == nil && none {
		return missing
	}
	return err
}

// ForUpdate returns the clause that makes a SELECT lock its rows until the
// transaction of ctx ends.
func (db *DB) ForUpdate(ctx context.Context) (clause string, err error) {
	t, ok := txFrom(ctx)
	if !ok {
		return "", errNoTx
	}
	return t.forUpdate(), nil
}

// ForKeyShare is ForUpdate for a SELECT whose rows others may change meanwhile, but not delete.
func (db *DB) ForKeyShare(ctx context.Context) (clause string, err error) {
	t, ok := txFrom(ctx)
	if !ok {
		return "", errNoTx
	}
	return t.forKeyShare(), nil
}

// ForUpdateSkipLocked is ForUpdate for a SELECT that skips the rows that another
// transaction has locked.
func (db *DB) ForUpdateSkipLocked(ctx context.Context) (clause string, err error) {
	t, ok := txFrom(ctx)
	if !ok {
		return "", errNoTx
	}
	return t.forUpdateSkipLocked(), nil
}
