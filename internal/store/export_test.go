package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/pressly/goose/v3"
)

// Writers is how many transactions run at once.
func (db *DB) Writers() int { return db.engine.writeOptions().writers }

// Queued is how many callers wait for a lane.
func (db *DB) Queued() int { return len(db.queue) }

// QueryRow reads a row with SQL of the test's own.
func (db *DB) QueryRow(ctx context.Context, q string, dest ...any) error {
	return db.queryRow(ctx, errors.New("no row"), q, nil, dest...)
}

// Migrations are the store's own up to a version.
func Migrations(last int) fs.FS {
	dir := fstest.MapFS{}
	files, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range files {
		if name <= fmt.Sprintf("%05d~", last) {
			data, err := fs.ReadFile(migrations(), name)
			if err != nil {
				panic(err)
			}
			dir[name] = &fstest.MapFile{Data: data}
		}
	}
	return dir
}

// Migrate runs other migrations than all of the store's own.
func Migrate(ctx context.Context, db *sql.DB, postgres bool, dir fs.FS) error {
	if postgres {
		return migrate(ctx, db, goose.DialectPostgres, dir)
	}
	return migrate(ctx, db, goose.DialectSQLite3, dir)
}

// ErrClosed is the cause of a refusal by a store that is closed.
var ErrClosed = errClosed

// Unbatched is Write for callers that share nothing: each has a transaction of its
// own, on one of some connections.
func (db *DB) Unbatched(connections int) func(context.Context, func(context.Context) error) error {
	pool := make(chan conn, connections)
	for range connections {
		c, err := db.engine.connect(context.Background())
		if err != nil {
			panic(err)
		}
		pool <- c
	}
	return func(ctx context.Context, work func(context.Context) error) error {
		c := <-pool
		defer func() { pool <- c }()
		if err := c.begin(ctx, true); err != nil {
			return err
		}
		if err := work(context.WithValue(ctx, txKey{}, &tx{conn: c})); err != nil {
			return errors.Join(err, c.rollback(ctx))
		}
		return c.commit(ctx)
	}
}
