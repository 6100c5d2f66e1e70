package storetest

import (
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
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

// Rows returns the sorted rows of each table, as text with a line for each column. Equal rows have equal texts on both
// engines.
func (d Database) Rows(t testing.TB) map[string][]string {
	t.Helper()
	raw := d.Raw(t)
	defer func() { _ = raw.Close() }()
	list := `SELECT group_concat(name) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	if d.URL != "" {
		list = `SELECT string_agg(tablename, ',') FROM pg_tables WHERE schemaname = 'public'`
	}
	var tables string
	if err := raw.QueryRow(list).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for table := range strings.SplitSeq(tables, ",") {
		rows[table] = readRows(t, raw, `SELECT * FROM `+table)
	}
	if len(rows) < 20 {
		t.Fatalf("got the tables %s, want at least 20", tables)
	}
	return rows
}

// readRows returns the rows of a query, sorted, as Rows does.
func readRows(t testing.TB, raw *sql.DB, q string) (texts []string) {
	t.Helper()
	rows, err := raw.Query(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, dests := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		dests[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dests...); err != nil {
			t.Fatal(err)
		}
		var text []string
		for i, v := range values {
			switch is := v.(type) {
			case []byte:
				v = string(is)
			case bool: // SQLite has 0 and 1
				if v = 0; is {
					v = 1
				}
			}
			text = append(text, fmt.Sprintf("%s=%v", columns[i], v))
		}
		slices.Sort(text) // the order of the columns may differ
		texts = append(texts, strings.Join(text, "\n"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(texts)
	return texts
}

// File returns the path of the SQLite file.
func (d Database) File() string { return filepath.Join(d.Dir, "parley.db") }
