// Package store reads and writes the database. It has one set of queries and
// migrations for SQLite and PostgreSQL and implements the Store interfaces of
// the domain packages, which document the methods. It contains no business
// rules and must not import api, media or app.
package store

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"time"

	"parley/internal/audit"
	"parley/internal/counter"
	"parley/internal/db"
	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/usage"
	"parley/internal/webhook"
	"parley/internal/webhook/sender"
)

var (
	_ audit.Store      = (*DB)(nil)
	_ key.Store        = (*DB)(nil)
	_ counter.Store    = (*DB)(nil)
	_ operator.Store   = (*DB)(nil)
	_ project.Store    = (*DB)(nil)
	_ requestlog.Store = (*DB)(nil)
	_ room.Store       = (*DB)(nil)
	_ retention.Store  = (*DB)(nil)
	_ usage.Ledger     = (*DB)(nil)
	_ sender.Store     = (*DB)(nil)
	_ webhook.Store    = (*DB)(nil)
)

// DB is the database of Parley. All methods are safe for concurrent use. Methods
// that write must run inside Write, which passes the transaction in the context.
// Methods that only read use the transaction of the context if it has one.
type DB struct {
	*db.DB
	box *seal.Box // set by Unlock

	// rolledUpUntil is the latest end of a rollup of usage that this process knows, in Unix
	// milliseconds; 0 if there is none.
	rolledUpUntil atomic.Int64
	// clockAhead is how far the clock of another node is ahead of this one's, or was, in milliseconds.
	clockAhead atomic.Int64
}

// Open opens the database and migrates it to the newest schema. url is
// postgres://… or, for SQLite in dataDir, empty. Open uses a schema of a newer version
// of Parley as it is, and fails if that version has contracted it. Secrets can be
// neither read nor written before Unlock.
func Open(ctx context.Context, url, dataDir string) (*DB, error) {
	var engine *db.DB
	var err error
	if url == "" {
		engine, err = db.OpenSQLite(ctx, SQLiteFile(dataDir), migrations())
	} else {
		engine, err = db.OpenPostgres(ctx, url, migrations())
	}
	if err != nil {
		return nil, err
	}
	s := &DB{DB: engine}
	var until time.Time
	err = s.QueryRow(ctx, nil, `SELECT max(rolled_up_until) FROM usage_progress`, nil, db.ScanTime(&until))
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	raise(&s.rolledUpUntil, until.UnixMilli())
	return s, nil
}

// SQLiteFile returns the path of the SQLite database in a data directory.
func SQLiteFile(dataDir string) string { return filepath.Join(dataDir, "parley.db") }

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the directory of the migration files.
func migrations() fs.FS {
	dir, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		panic(err) // impossible: the name is a valid path
	}
	return dir
}
