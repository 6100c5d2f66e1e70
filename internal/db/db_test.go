package db_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"parley/internal/fault"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if url, dir, project, ok := crashArguments(); ok {
		writeUntilKilled(url, dir, project)
	}
	os.Exit(m.Run())
}

// insertRoomWork returns work for Write that inserts a room.
func insertRoomWork(db *store.Store, projectID, id string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		r := storetest.Room(projectID)
		r.ID = id
		return db.InsertRoom(ctx, r)
	}
}

// roomExists reports whether there is a room with that id.
func roomExists(t testing.TB, db *sql.DB, id string) bool {
	t.Helper()
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM rooms WHERE id = $1`, id).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n == 1
}

// Durability depends on these settings, whose defaults may change in the driver.
func TestSQLite_DurableSettings(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	check := func(ctx context.Context, pragma, want string) {
		t.Helper()
		var got string
		if err := db.Scan(ctx, "PRAGMA "+pragma, &got); err != nil || got != want {
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
