package storetest

import (
	"database/sql"
	"io/fs"
	"path/filepath"
	"testing"

	"parley/internal/db"
	"parley/internal/store"
)

// Database is the location of a database: the parameters of store.Open.
type Database struct {
	URL string // of PostgreSQL; empty for SQLite
	Dir string // data directory of SQLite
}

// OnEachEngine runs a test on each engine with a new, empty database.
func OnEachEngine(t *testing.T, test func(t *testing.T, d Database)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, Database{Dir: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, Database{URL: Postgres(t)})
	})
}

// Open opens the database and unlocks it with Box(1).
func (d Database) Open(t testing.TB) *store.DB {
	t.Helper()
	return Open(t, d.URL, d.Dir)
}

// Migrate creates the database, if necessary, and runs the migrations of a
// directory instead of those of package store.
func (d Database) Migrate(migrations fs.FS) error {
	ctx := patient()
	var engine *db.DB
	var err error
	if d.URL == "" {
		engine, err = db.OpenSQLite(ctx, d.File(), migrations)
	} else {
		engine, err = db.OpenPostgres(ctx, d.URL, migrations)
	}
	if err != nil {
		return err
	}
	return engine.Close()
}

// Raw opens the database without the store, as another process would.
func (d Database) Raw(t testing.TB) *sql.DB {
	t.Helper()
	driver, name := "pgx", d.URL
	if d.URL == "" {
		driver, name = "sqlite", d.File()
	}
	raw, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

// File returns the path of the SQLite file.
func (d Database) File() string { return filepath.Join(d.Dir, "parley.db") }
