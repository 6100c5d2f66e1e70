package app

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/audit"
	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// The service starts on a copy in PostgreSQL and has everything, and the data directory
// refuses a start on the old database.
func TestCopy_ServiceStartsOnIt(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(5, 300)
	url := storetest.Postgres(t)
	if _, err := instance.Copy(t.Context(), s.cfg.Storage, url); err == nil ||
		!strings.Contains(err.Error(), "is already running on "+s.cfg.DataDir+": stop it first") {
		t.Errorf("while the server runs: got %v, want that it must be stopped", err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := instance.Copy(t.Context(), config.Storage{DataDir: t.TempDir()}, url); err == nil ||
		!strings.Contains(err.Error(), "there is no database of Parley in") {
		t.Errorf("an empty data directory: got %v, want that there is no database", err)
	}
	// A directory in the place of the new database.id stands for any failure to write it, such as a full disk.
	unblock := blockDatabaseID(t, s.cfg.DataDir)
	_, err := instance.Copy(t.Context(), s.cfg.Storage, url)
	if err == nil || !strings.Contains(err.Error(), "database.id.new: is a directory") {
		t.Errorf("without database.id: got %v, want that it cannot be written", err)
	}
	if tables := tablesOf(t, url); tables != "" {
		t.Errorf("the target after that: got the tables %s, want none", tables)
	}
	unblock()
	counts, err := instance.Copy(t.Context(), s.cfg.Storage, url)
	if err != nil || counts["rooms"] != 1 || counts["api_keys"] != 1 {
		t.Fatalf("got %v, %v, want one room and one key", counts, err)
	}
	requireStatistics(t, url)
	if _, err := instance.OpenStore(t.Context(), s.cfg); err == nil || !strings.Contains(err.Error(), "--data-dir: ") ||
		!strings.Contains(err.Error(), "no --database-url is set") {
		t.Errorf("open the old database: got %v, want that the directory belongs to the copy", err)
	}
	target := config.Storage{DataDir: s.cfg.DataDir, DatabaseURL: seal.Secret(url)}
	if _, err := instance.Copy(t.Context(), target, url); err == nil ||
		!strings.Contains(err.Error(), "--to: the target is the database ") ||
		!strings.Contains(err.Error(), "which is the source or a restored backup of it: create a new empty database") {
		t.Errorf("copy to the source: got %v, want that it is the source", err)
	}
	again := startServer(t, func(c *config.Config) { c.DataDir, c.DatabaseURL = s.cfg.DataDir, seal.Secret(url) })
	if !again.hasRoom(id) {
		t.Errorf("room %s in the copy: got none, want one", id)
	}
	again.createRoom(5, 300) // with the same API key
	again.checkAuditEntry(audit.DatabaseCopied, again.databaseID(), `{"database_id":"`+again.databaseID()+`"}`)
	if _, err := instance.Copy(t.Context(), config.Storage{DataDir: s.cfg.DataDir}, url); err == nil {
		t.Error("second copy while the server runs: got no error, want one")
	}
}

// A copy from one PostgreSQL database to another has everything, too.
func TestCopy_FromPostgres(t *testing.T) {
	source, target := seal.Secret(storetest.Postgres(t)), seal.Secret(storetest.Postgres(t))
	s := startServer(t, func(c *config.Config) { c.DatabaseURL = source })
	id, _ := s.createRoom(5, 300)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	counts, err := instance.Copy(t.Context(), s.cfg.Storage, target.Reveal())
	if err != nil || counts["rooms"] != 1 {
		t.Fatalf("copy: got %v, error %v, want one room", counts, err)
	}
	if _, err := instance.OpenStore(t.Context(), s.cfg); err == nil || !strings.Contains(err.Error(), "--database-url") {
		t.Errorf("open the old database: got %v, want that the directory belongs to the copy", err)
	}
	again := startServer(t, func(c *config.Config) { c.DataDir, c.DatabaseURL = s.cfg.DataDir, target })
	if !again.hasRoom(id) {
		t.Errorf("room %s in the copy: got none, want one", id)
	}
	again.createRoom(5, 300) // with the same API key
}

// A copy with the wrong key, from a database of a newer version, or to a database that is not empty
// changes neither of the two.
func TestCopy_Refusals(t *testing.T) {
	s := startServer(t, nil)
	s.createRoom(5, 300)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	source := storetest.Database{Dir: s.cfg.DataDir}
	schema := func(q string) {
		t.Helper()
		raw := source.Raw(t)
		defer func() { _ = raw.Close() }()
		if _, err := raw.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	newest, err := store.NewestSchema()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		arrange func(storage *config.Storage, target string)
		restore func()
		want    string
	}{
		"wrong key": {func(storage *config.Storage, _ string) { storage.MasterKey = seal.Secret(seal.NewKey().Reveal()) },
			nil, "PARLEY_MASTER_KEY: the master key does not fit this database"},
		"newer schema": {func(*config.Storage, string) {
			schema(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)`)
		}, func() { schema(`DELETE FROM goose_db_version WHERE version_id = 9999`) },
			"version 9999 of the schema, written by a newer Parley"},
		"target with the tables of another program": {func(_ *config.Storage, target string) {
			raw := storetest.Database{URL: target}.Raw(t)
			if _, err := raw.Exec(`CREATE TABLE orders (id TEXT)`); err != nil {
				t.Fatal(err)
			}
		}, nil, "--to: the target is not empty, it has tables of another program: create a new empty database"},
		"target with an installation": {func(_ *config.Storage, target string) {
			storetest.Project(t, storetest.Open(t, target, ""))
		}, nil, "--to: the target is not empty, its table "},
		"older schema": {func(*config.Storage, string) {
			schema(fmt.Sprintf(`DELETE FROM goose_db_version WHERE version_id = %d`, newest))
		}, func() {
			schema(fmt.Sprintf(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, TRUE)`, newest))
		}, "written by an older Parley; this one needs version "},
		"target that accepts no tables": {func(_ *config.Storage, target string) {
			_, err := storetest.Database{URL: target}.Raw(t).Exec(`DO $$ BEGIN
				EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
			if err != nil {
				t.Fatal(err)
			}
		}, nil, "--to: migrate the database from version 0"},
	} {
		target := storetest.Postgres(t)
		storage := config.Storage{DataDir: s.cfg.DataDir}
		tc.arrange(&storage, target)
		before, tables := dirState(t, s.cfg.DataDir), tablesOf(t, target)
		_, err := instance.Copy(t.Context(), storage, target)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
		if after := tablesOf(t, target); after != tables {
			t.Errorf("%s: the target has the tables %s, want %s", name, after, tables)
		}
		after := dirState(t, s.cfg.DataDir)
		after["parley.lock"] = before["parley.lock"] // the command holds the lock while it looks
		if !maps.Equal(after, before) {
			t.Errorf("%s: the data directory has the files %v, want %v", name, after, before)
		}
		if tc.restore != nil {
			tc.restore()
		}
	}
	if _, err := instance.Copy(t.Context(), s.cfg.Storage, storetest.Postgres(t)); err != nil {
		t.Errorf("copy after the refusals: got error %v, want none", err)
	}
}

// blockDatabaseID makes the name of the database impossible to write in a data directory, until unblock.
func blockDatabaseID(t *testing.T, dataDir string) (unblock func()) {
	t.Helper()
	blocked := filepath.Join(dataDir, "database.id.new")
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.RemoveAll(blocked); err != nil {
			t.Fatal(err)
		}
	}
}

// requireStatistics fails unless PostgreSQL has statistics of every table of a database.
func requireStatistics(t *testing.T, url string) {
	t.Helper()
	raw := storetest.Database{URL: url}.Raw(t)
	defer func() { _ = raw.Close() }()
	var columns int
	var without string
	err := raw.QueryRow(`SELECT (SELECT count(*) FROM pg_stats WHERE schemaname = 'public' AND tablename = 'rooms'),
		coalesce(string_agg(relname, ', '), '') FROM pg_class
		WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples < 0`).Scan(&columns, &without)
	if err != nil || columns == 0 || without != "" {
		t.Errorf("statistics: got %d columns of rooms, tables without: %q, %v, want those of all tables", columns, without, err)
	}
}

// tablesOf returns the names and the numbers of rows of the tables of a PostgreSQL database.
func tablesOf(t *testing.T, url string) string {
	t.Helper()
	raw := storetest.Database{URL: url}.Raw(t)
	defer func() { _ = raw.Close() }()
	var tables string
	err := raw.QueryRow(`SELECT coalesce(string_agg(table_name || ' ' || (xpath('/row/n/text()', query_to_xml(
			'SELECT count(*) AS n FROM ' || quote_ident(table_name), FALSE, TRUE, '')))[1]::text, ', ' ORDER BY table_name), '')
		FROM information_schema.tables WHERE table_schema = 'public'`).Scan(&tables)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}
