// Package store reads and writes the tables of Parley. It has one set of queries
// and migrations for SQLite and PostgreSQL and implements the Store interfaces of
// the domain packages, which document the methods. It contains no business
// rules and must not import api, media or app.
package store

import (
	"context"
	"embed"
	"io/fs"

	"parley/internal/counter"
	"parley/internal/db"
	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/usage"
	"parley/internal/webhook"
)

var (
	_ key.Store        = (*Store)(nil)
	_ counter.Store    = (*Store)(nil)
	_ operator.Store   = (*Store)(nil)
	_ project.Store    = (*Store)(nil)
	_ requestlog.Store = (*Store)(nil)
	_ room.Store       = (*Store)(nil)
	_ usage.Ledger     = (*Store)(nil)
	_ webhook.Store    = (*Store)(nil)
)

// Store is the database with the tables of Parley. See db.DB for transactions.
type Store struct {
	*db.DB
	box *seal.Box // set by Unlock
}

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

// Open opens the database and migrates it to the newest schema, see db.Open.
// Secrets can be neither read nor written before Unlock.
func Open(ctx context.Context, url, dataDir string) (*Store, error) {
	database, err := db.Open(ctx, url, dataDir, migrations())
	if err != nil {
		return nil, err
	}
	return &Store{DB: database}, nil
}

// Ping reads and writes the database and returns an error if it cannot.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.WriteTimeout)
	defer cancel()
	return s.Write(ctx, func(ctx context.Context) error {
		return s.Exec(ctx, `UPDATE facts SET value = value WHERE name = 'ping'`)
	})
}
