package storetest

import (
	"database/sql"
	"path/filepath"
	"testing"

	"parley/internal/store"
)

// Database locates a database: the parameters of store.Open.
type Database struct{ URL, Dir string }

// OnEachEngine runs a test on each engine with a new database.
func OnEachEngine(t *testing.T, test func(t *testing.T, at Database)) {
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
func (d Database) Open(t testing.TB) *store.Store {
	t.Helper()
	return Open(t, d.URL, d.Dir)
}

// Raw opens the database without the store, as another process would.
func (d Database) Raw(t testing.TB) *sql.DB {
	t.Helper()
	driver, name := "pgx", d.URL
	if d.URL == "" {
		driver, name = "sqlite", d.File()
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// File returns the path of the SQLite database.
func (d Database) File() string { return filepath.Join(d.Dir, "parley.db") }
