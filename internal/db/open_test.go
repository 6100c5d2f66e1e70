package db_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"parley/internal/fault"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// Durability depends on these settings, whose defaults may change in the driver.
func TestSQLite_DurableSettings(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	check := func(ctx context.Context, pragma, want string) {
		t.Helper()
		var got string
		if err := db.QueryRow(ctx, errNoRow, "PRAGMA "+pragma, nil, &got); err != nil || got != want {
			t.Errorf("PRAGMA %s: got %q, %v, want %q", pragma, got, err, want)
		}
	}
	err := db.Write(context.Background(), func(ctx context.Context) error {
		check(ctx, "journal_mode", "wal")
		check(ctx, "synchronous", "2") // FULL
		check(ctx, "foreign_keys", "1")
		check(ctx, "query_only", "0")
		check(ctx, "busy_timeout", "5000")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check(context.Background(), "query_only", "1") // the readers
	check(context.Background(), "busy_timeout", "5000")
}

// A synctest bubble fails if goroutines remain.
func TestClose_LeavesNoGoroutines(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		synctest.Test(t, func(t *testing.T) {
			db := p.Open(t)
			project := storetest.Project(t, db)
			if err := db.Write(t.Context(), insertRoomWork(db, project.ID, storetest.NewID())); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Ping(context.Background()); !fault.Is(err, fault.Unavailable) {
				t.Fatalf("write to a closed database: got %v, want Unavailable", err)
			}
			if _, err := db.Project(context.Background(), project.ID); !fault.Is(err, fault.Unavailable) {
				t.Fatalf("read from a closed database: got %v, want Unavailable", err)
			}
		})
	})
}

// A data directory may have any name.
func TestSQLite_UnusualPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with blanks", "100%41?mode=memory#x", "Übung", "file:x&y"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		p := storetest.Database{Dir: dir}
		p.Open(t)
		if _, err := os.Stat(p.File()); err != nil {
			t.Errorf("database file after Open in directory %q: got error %v, want a file", name, err)
		}
	}
}

func TestOpen_Refused(t *testing.T) {
	t.Parallel()
	secret := "very-secret"
	for _, url := range []string{
		"postgres://parley:" + secret + "@127.0.0.1:1/parley",
		"postgres://parley:" + secret + "@127.0.0.1:notaport/parley",
		"postgres://parley:" + secret + "%zz@127.0.0.1/parley",
		"postgres://127.0.0.1:1/parley?user=parley&password=" + secret,
		"postgres://parley:" + secret + "@[::1/parley",
		"postgresql://parley:" + secret + "@127.0.0.1:1,127.0.0.1:2/parley",
	} {
		db, err := store.Open(context.Background(), url, "")
		if err == nil {
			_ = db.Close()
			t.Fatalf("Open(%q) succeeded, want an error", url)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("Open(%q): got the password in the error %q, want it left out", url, err)
		}
	}
	if _, err := store.Open(context.Background(), "", filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("Open in a directory that does not exist: got no error, want one")
	}
}

// A schema that a newer program has expanded is used as it is, and one that it has
// contracted is refused.
func TestOpen_NewerSchema(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		create := func(name string) string {
			return "-- +goose Up\nCREATE TABLE " + name + " (id TEXT PRIMARY KEY);\n"
		}
		files := fstest.MapFS{"00001_one.sql": {Data: []byte(create("one"))}}
		program := func(add, text string) fstest.MapFS {
			files = maps.Clone(files)
			if add != "" {
				files[add] = &fstest.MapFile{Data: []byte(text)}
			}
			return files
		}
		first := program("", "")
		second := program("00002_two.sql", "-- parley: expand\n"+create("two"))
		third := program("00003_three.sql", "-- parley: contract\n-- +goose Up\nDROP TABLE one;\n")
		fourth := program("00004_four.sql", "-- parley: expand\n"+create("four"))
		open := func(name string, program fstest.MapFS, wantErr string) {
			t.Helper()
			err := p.Migrate(program)
			if (err == nil) != (wantErr == "") || err != nil && err.Error() != wantErr {
				t.Errorf("%s: got %v, want %q", name, err, wantErr)
			}
		}
		raw := p.Raw(t)
		requireTables := func(want ...string) {
			t.Helper()
			for _, table := range []string{"one", "two", "four"} {
				var n int
				err := raw.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n)
				if exists := err == nil; exists != slices.Contains(want, table) {
					t.Errorf("table %s exists: got %t, want %t", table, exists, !exists)
				}
			}
		}
		open("first on nothing", first, "")
		open("second on first", second, "")
		open("first on second", first, "")
		requireTables("one", "two")
		open("third on second", third, "")
		const refused = "the database is at version %d, written by a newer Parley; " +
			"this one knows versions up to %d: start the newer binary, or restore a backup"
		open("first on third", first, fmt.Sprintf(refused, 3, 1))
		open("second on third", second, fmt.Sprintf(refused, 3, 2))
		open("fourth on third", fourth, "")
		open("second on fourth", second, fmt.Sprintf(refused, 4, 2))
		open("third on fourth", third, "")
		requireTables("two", "four")
	})
}

// A migration that fails leaves no changes, its error names the version, and a
// corrected file continues from there.
func TestMigrate_ResumesAfterFailure(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		raw := p.Raw(t)
		files := func(second string) fstest.MapFS {
			return fstest.MapFS{
				"00001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE one (id TEXT PRIMARY KEY);\n")},
				"00002_two.sql": {Data: []byte("-- +goose Up\nCREATE TABLE two (id TEXT PRIMARY KEY);\n" + second + "\n")},
			}
		}
		err := p.Migrate(files("INSERT INTO missing VALUES (1);"))
		if err == nil || !strings.HasPrefix(err.Error(), "migrate the database from version 0 to 2: ") ||
			!strings.Contains(err.Error(), "version:2") || !strings.Contains(err.Error(), "missing") {
			t.Errorf("got %v, want an error that names the versions and the missing table", err)
		}
		if _, err := raw.Exec(`INSERT INTO one VALUES ('kept')`); err != nil {
			t.Errorf("insert into the table of the first migration: got error %v, want none", err)
		}
		if _, err := raw.Exec(`SELECT * FROM two`); err == nil {
			t.Error("select from the table of the failed migration: got no error, want one")
		}
		if err := p.Migrate(files("INSERT INTO two VALUES ('mended');")); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := raw.QueryRow(`SELECT count(*) FROM one, two`).Scan(&n); err != nil || n != 1 {
			t.Errorf("got %d rows, %v, want 1", n, err)
		}
	})
}
