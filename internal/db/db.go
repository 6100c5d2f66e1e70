// Package db is the database engine: connections, migrations, shared
// transactions, and statements built from tables of columns. It runs the same
// queries on SQLite and PostgreSQL and knows no table of Parley.
package db

import (
	"context"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// DB is the database. All methods are safe for concurrent use. Methods that
// write must run inside Write, which passes the transaction in the context.
// Methods that only read use the transaction of the context if it has one.
type DB struct {
	engine    engine
	queue     chan *job
	writeSlot chan struct{} // held by the writer whose transaction goes first
	stop      chan struct{} // closed when no more writes are accepted
	drained   chan struct{} // closed when the accepted writes are done
	writers   sync.WaitGroup
	closeOnce sync.Once

	awaitedSiblings atomic.Int64  // jobs in the queue that a writer waits for; 0 if no writer waits
	siblingsArrived chan struct{} // signals that writer that they arrived

	lastWriteFailure atomic.Pointer[writeFailure] // for RecentWriteError; nil if no write failed
}

// engine is one kind of database: SQLite or PostgreSQL.
type engine interface {
	querier
	// connect opens a connection for a writer.
	connect(ctx context.Context) (conn, error)
	migrate(ctx context.Context, migrations fs.FS) error
	writeOptions() writeOptions
	close()
}

// writeOptions controls how an engine is written to.
type writeOptions struct {
	writers  int // concurrent transactions
	maxBatch int // maximum number of callers that share one
	// enforceTimeout ends a transaction after its write timeout, because a
	// database server may be gone. SQLite runs inside this process, so its
	// disk gets all the time it needs.
	enforceTimeout bool
}

// Open opens the database and migrates it to the newest schema of migrations. url
// is postgres://… or, for SQLite in dataDir, empty. Open fails if a newer version
// of Parley has migrated the database.
//
// migrations contains files that goose reads, such as 00001_rooms.sql. If the
// engines differ, a version has two files, such as 00008_events.sqlite.sql and
// 00008_events.postgres.sql.
func Open(ctx context.Context, url, dataDir string, migrations fs.FS) (*DB, error) {
	var e engine
	var err error
	if url == "" {
		e, err = openSQLite(filepath.Join(dataDir, "parley.db"))
	} else {
		e, err = openPostgres(ctx, url)
	}
	if err != nil {
		return nil, err
	}
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

// Close finishes the accepted writes and closes the database. It returns nil,
// also when it is called again.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		close(db.stop)
		<-db.drained
		db.engine.close()
	})
	return nil
}
