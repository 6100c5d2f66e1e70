package app

import (
	"database/sql"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/seal"
	"parley/internal/store/storetest"
)

// remakeBackup returns a file with the archive of a changed manifest or database, whose
// checksums are right.
func remakeBackup(t *testing.T, file string, change func(m *backup.Manifest, database string)) string {
	t.Helper()
	m, err := backup.Check(file)
	if err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(t.TempDir(), "parley.db")
	if err := backup.Extract(file, database); err != nil {
		t.Fatal(err)
	}
	change(&m, database)
	f, err := os.Open(database)
	if err != nil {
		t.Fatal(err)
	}
	a, err := backup.NewArchive(t.Context(), m, f, func() {})
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "changed.tar")
	err = backup.WriteFile(changed, func(w io.Writer) error { return a.Write(t.Context(), w) })
	if err = errors.Join(err, a.Close()); err != nil {
		t.Fatal(err)
	}
	return changed
}

// truncated returns a file with the first two thirds of a backup.
func truncated(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.tar")
	if err := os.WriteFile(cut, raw[:len(raw)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	return cut
}

func TestRestore_Refusals(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) { testRestoreRefusals(t, engine) })
	}
}

func testRestoreRefusals(t *testing.T, engine func(*testing.T, *config.Config)) {
	s := startServer(t, func(c *config.Config) { engine(t, c) })
	file := s.backup()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	m, err := backup.Check(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(dir, name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := seal.NewKey()
	type refusal struct {
		arrange func(dir string, storage *config.Storage, file *string)
		want    []string
	}
	cases := map[string]refusal{
		"no key": {func(dir string, _ *config.Storage, _ *string) { _ = os.Remove(filepath.Join(dir, "master.key")) },
			[]string{"the backup needs the master key with the fingerprint " + m.KeyFingerprint, "master.key does not exist"}},
		"wrong key": {func(dir string, _ *config.Storage, _ *string) { write(dir, "master.key", other.Reveal()) },
			[]string{m.KeyFingerprint, other.ID(), "the key in ", "master.key", "--master-key-file"}},
		"wrong key in the environment": {func(_ string, storage *config.Storage, _ *string) {
			storage.MasterKey = seal.Secret(other.Reveal())
		}, []string{m.KeyFingerprint, other.ID(), "the key in PARLEY_MASTER_KEY"}},
		"newer schema": {func(_ string, _ *config.Storage, file *string) {
			*file = remakeBackup(t, *file, func(m *backup.Manifest, _ string) {
				m.Schema, m.Contraction = 9999, new(int64(9999))
			})
		}, []string{"version 9999 of the schema, written by a newer Parley"}},
		"truncated": {func(_ string, _ *config.Storage, file *string) { *file = truncated(t, *file) },
			[]string{"the backup is not complete"}},
		"missing": {func(_ string, _ *config.Storage, file *string) { *file += ".missing" }, []string{"no such file"}},
		"target of another database": {func(dir string, _ *config.Storage, _ *string) { write(dir, "database.id", "other\n") },
			[]string{"belongs to the database other, and the backup is of the database " + m.DatabaseID}},
	}
	if m.Engine == backup.SQLite {
		maps.Copy(cases, map[string]refusal{
			"target has a database": {func(dir string, _ *config.Storage, _ *string) { write(dir, "parley.db", "") },
				[]string{"parley.db exists: restore into another directory"}},
			"target has a WAL": {func(dir string, _ *config.Storage, _ *string) { write(dir, "parley.db-wal", "") },
				[]string{"parley.db-wal exists: restore into another directory"}},
			"another engine": {func(_ string, storage *config.Storage, _ *string) {
				storage.DatabaseURL = "postgres://127.0.0.1:1/x"
			}, []string{"the backup is of a SQLite database", "--database-url", "parley copy"}},
		})
	} else {
		maps.Copy(cases, map[string]refusal{
			"another engine": {func(_ string, storage *config.Storage, _ *string) { storage.DatabaseURL = "" },
				[]string{"the backup is of a PostgreSQL database: add --database-url", "parley copy"}},
			"target has tables": {func(_ string, storage *config.Storage, _ *string) {
				_ = storetest.Open(t, storage.DatabaseURL.Reveal(), "")
			}, []string{"--database-url: the database is not empty"}},
		})
	}
	for name, tc := range cases {
		dir, file := t.TempDir(), file
		copyKey(t, s.cfg.DataDir, dir)
		storage, url := config.Storage{DataDir: dir}, ""
		if m.Engine == backup.Postgres {
			url = storetest.Postgres(t)
			storage.DatabaseURL = seal.Secret(url)
		}
		tc.arrange(dir, &storage, &file)
		target := func() string {
			if url == "" {
				return ""
			}
			return tablesOf(t, url)
		}
		before, tables := dirState(t, dir), target()
		_, err := instance.Restore(t.Context(), storage, file)
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", name, err, want)
			}
		}
		after := dirState(t, dir)
		delete(after, "parley.lock") // the command holds the lock while it looks
		if !maps.Equal(after, before) {
			t.Errorf("%s: got the files %v, want %v", name, after, before)
		}
		if after := target(); after != tables {
			t.Errorf("%s: the target has the tables %s, want %s", name, after, tables)
		}
	}
}

// A restore that cannot make the data directory belong to the database leaves no database, as on a full disk.
func TestRestore_WithoutDatabaseID(t *testing.T) {
	for name, url := range map[string]func(testing.TB) string{
		"SQLite":     func(testing.TB) string { return "" },
		"PostgreSQL": storetest.Postgres,
	} {
		s := startServer(t, func(c *config.Config) { c.DatabaseURL = seal.Secret(url(t)) })
		s.createRoom(5, 300)
		file := s.backup()
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		storage := config.Storage{DataDir: t.TempDir(), DatabaseURL: seal.Secret(url(t))}
		copyKey(t, s.cfg.DataDir, storage.DataDir)
		unblock := blockDatabaseID(t, storage.DataDir)
		_, err := instance.Restore(t.Context(), storage, file)
		if want := "database.id.new: is a directory"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
		unblock()
		if m, err := instance.Restore(t.Context(), storage, file); err != nil || m.Rows["rooms"] != 1 {
			t.Errorf("%s, restore again: got %v, %v, want one room", name, m.Rows, err)
		}
	}
}

// A restore that cannot be recorded in the audit log leaves no database.
func TestRestore_WithoutAuditLog(t *testing.T) {
	s := startServer(t, nil)
	file := s.backup()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	broken := remakeBackup(t, file, func(_ *backup.Manifest, database string) {
		raw, err := sql.Open("sqlite", database)
		if err != nil {
			t.Fatal(err)
		}
		_, err = raw.Exec(`DELETE FROM audit_chain`)
		if err = errors.Join(err, raw.Close()); err != nil {
			t.Fatal(err)
		}
	})
	storage := config.Storage{DataDir: t.TempDir()}
	copyKey(t, s.cfg.DataDir, storage.DataDir)
	_, err := instance.Restore(t.Context(), storage, broken)
	if want := "record the restore in the audit log: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want an error that begins with %q", err, want)
	}
	if left, err := filepath.Glob(filepath.Join(storage.DataDir, "parley.db*")); err != nil || len(left) > 0 {
		t.Errorf("after the restore: got the files %q, %v, want none", left, err)
	}
	if _, err := instance.Restore(t.Context(), storage, file); err != nil {
		t.Errorf("restore of an intact backup after that: got %v, want no error", err)
	}
}
