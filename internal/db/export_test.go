package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Writers returns the number of concurrent transactions.
func (db *DB) Writers() int { return db.engine.writeOptions().writers }

// Queued returns the number of callers that wait for a writer.
func (db *DB) Queued() int { return len(db.queue) }

// Scan scans the row of a query into dest.
func (db *DB) Scan(ctx context.Context, q string, dest ...any) error {
	return db.QueryRow(ctx, errors.New("no row"), q, nil, dest...)
}

// Migrate runs the migrations in dir.
func Migrate(ctx context.Context, db *sql.DB, postgres bool, dir fs.FS) error {
	if postgres {
		return migrate(ctx, db, goose.DialectPostgres, dir)
	}
	return migrate(ctx, db, goose.DialectSQLite3, dir)
}

// ErrClosed is the cause of the error of a closed database.
var ErrClosed = errClosed

// Unbatched returns a Write without group commit: each call has its own
// transaction on one of the connections.
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
