package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Lanes is how many transactions run at once.
func (db *DB) Lanes() int { return db.engine.shape().lanes }

// Queued is how many callers wait for a lane.
func (db *DB) Queued() int { return len(db.queue) }

// One reads a row with SQL of the test's own.
func (db *DB) One(ctx context.Context, q string, dest ...any) error {
	return db.one(ctx, errors.New("no row"), q, nil, dest...)
}

// Migrate runs migrations of the test's own.
func Migrate(ctx context.Context, db *sql.DB, postgres bool, dir fs.FS) error {
	if postgres {
		return migrate(ctx, db, goose.DialectPostgres, dir)
	}
	return migrate(ctx, db, goose.DialectSQLite3, dir)
}
