// Package store remembers: SQL and migrations, one set of queries for SQLite
// and PostgreSQL. It implements the interfaces that the domain packages
// declare, and decides nothing. It must not import api, media or app.
package store

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"

	"parley/internal/seal"
)

// DB is the database. All methods are safe for concurrent use. Methods that
// write must run inside Write, which hands the transaction on in the context;
// methods that only read run inside it too when the context carries one.
type DB struct {
	engine    engine
	box       *seal.Box // set by Unlock
	queue     chan *job
	writeSlot chan struct{} // taken by the lane that the others let go first
	stop      chan struct{} // closed when no more writes are accepted
	drained   chan struct{} // closed when the accepted ones are done
	writers   sync.WaitGroup
	closeOnce sync.Once

	awaitedSiblings atomic.Int64  // how many a lane waits for in the queue; 0 while none does
	siblingsArrived chan struct{} // tells it that they are there

	lastWriteFailure atomic.Pointer[writeFailure] // the last write that found no room; nil for none
}

// engine is one sort of database.
type engine interface {
	querier
	// connect opens a connection for a lane.
	connect(ctx context.Context) (conn, error)
	migrate(ctx context.Context) error
	writeOptions() writeOptions
	close()
}

// writeOptions is how a sort of database is best written to.
type writeOptions struct {
	writers  int // transactions under way at once
	maxBatch int // callers that share one at most
	// hurry gives up on a transaction that takes long, because the database
	// may be gone. One inside this process is not: its disk gets all the time
	// it needs.
	enforceTimeout bool
}

// Open opens the database and brings its tables up to date. url is empty for
// SQLite in dataDir, or postgres://…. It refuses a database that a newer
// version of Parley has written. Secrets are out of reach until Unlock.
func Open(ctx context.Context, url, dataDir string) (*DB, error) {
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
	if err := e.migrate(ctx); err != nil {
		e.close()
		return nil, err
	}
	return newDB(e), nil
}

// newDB runs the lanes of an engine that is ready.
func newDB(e engine) *DB {
	db := &DB{engine: e, queue: make(chan *job, queueLength), writeSlot: make(chan struct{}, 1), stop: make(chan struct{}), drained: make(chan struct{}),
		siblingsArrived: make(chan struct{}, 1)}
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

// Ping reports whether the database can be read and written to right now.
func (db *DB) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return db.Write(ctx, func(ctx context.Context) error {
		return db.exec(ctx, `UPDATE facts SET value = value WHERE name = 'ping'`)
	})
}

// Close finishes the writes that were accepted and closes the database.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		close(db.stop)
		<-db.drained
		db.engine.close()
	})
	return nil
}
