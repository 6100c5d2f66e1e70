package db_test

import (
	"context"
	"os"
	"path/filepath"
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
			t.Errorf("Open in directory %q created no database file: %v", name, err)
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
			t.Errorf("Open(%q): the error contains the password: %v", url, err)
		}
	}
	if _, err := store.Open(context.Background(), "", filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("Open succeeded in a directory that does not exist")
	}
}

func TestOpen_NewerSchemaRefused(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		if err := p.Open(t).Close(); err != nil {
			t.Fatal(err)
		}
		raw := p.Raw(t)
		if _, err := raw.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)`); err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(context.Background(), p.URL, p.Dir)
		if err == nil {
			_ = db.Close()
			t.Fatal("Open accepted a schema that is newer than its own")
		}
		const want = "the database is at version 999, written by a newer Parley; this one knows versions up to "
		const remedy = ": start the newer binary, or restore a backup"
		if !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), remedy) {
			t.Errorf("got %v, want %s…%s", err, want, remedy)
		}
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
			t.Errorf("the first migration was rolled back: %v", err)
		}
		if _, err := raw.Exec(`SELECT * FROM two`); err == nil {
			t.Error("part of the failed migration was committed")
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
