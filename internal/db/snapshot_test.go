package db_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"parley/internal/db"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// fakeTool puts a program that prints a version in front of PATH.
func fakeTool(t *testing.T, name, version string) {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %s'\n", name, version)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func emptyFile(t *testing.T) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	return f.Name()
}

func TestSnapshot_PostgresTools(t *testing.T) {
	d := storetest.Database{URL: storetest.Postgres(t)}
	store := d.Open(t)
	snapshot := func() error {
		return store.Snapshot(t.Context(), emptyFile(t), func(*db.Reader) error { return nil })
	}
	if err := snapshot(); err != nil {
		t.Errorf("snapshot with pg_dump: got error %v, want none", err)
	}
	fakeTool(t, "pg_dump", "9.6.1")
	if err := snapshot(); err == nil ||
		!strings.Contains(err.Error(), "pg_dump has version 9: install the client programs") {
		t.Errorf("with an old pg_dump: got %v, want the remedy", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := snapshot(); err == nil || !strings.Contains(err.Error(), "pg_dump cannot be run") ||
		!strings.Contains(err.Error(), "postgresql-client-") {
		t.Errorf("without pg_dump: got %v, want the remedy", err)
	}
	err := db.RestorePostgres(t.Context(), d.URL, "missing")
	if err == nil || !strings.Contains(err.Error(), "pg_restore cannot be run") ||
		!strings.Contains(err.Error(), "postgresql-client-") {
		t.Errorf("without pg_restore: got %v, want the remedy", err)
	}
	fakeTool(t, "pg_restore", "9.6.1")
	err = db.RestorePostgres(t.Context(), d.URL, "missing")
	if err == nil || !strings.Contains(err.Error(), "pg_restore has version 9: install the client programs") {
		t.Errorf("with an old pg_restore: got %v, want the remedy", err)
	}
}

// What pg_restore prints if the server has no space or ends the connection says so about the server. The texts are
// those of PostgreSQL 17.
func TestRestorePostgres_ServerFails(t *testing.T) {
	url := storetest.Postgres(t)
	for name, c := range map[string]struct {
		script     string
		full, lost bool
		tool       bool // a ToolError
	}{
		"disk full while rows are copied": {script: `echo 'pg_restore: error: COPY failed for table "events": ERROR:  ` +
			`could not extend file "base/16384/16500": No space left on device' >&2; exit 1`, full: true},
		"disk full while an index is built": {script: `echo 'pg_restore: error: could not execute query: ERROR:  ` +
			`could not write to file "base/pgsql_tmp/t1": No space left on device' >&2; exit 1`, full: true},
		"stopped": {script: `echo 'pg_restore: error: could not execute query: FATAL:  terminating connection due to ` +
			`administrator command' >&2; exit 1`, lost: true},
		"crashed": {script: `echo 'pg_restore: error: could not execute query: server closed the connection ` +
			`unexpectedly' >&2; exit 1`, lost: true},
		"gone": {script: `echo 'pg_restore: error: connection to server at "127.0.0.1", port 5432 failed: Connection ` +
			`refused' >&2; exit 1`, lost: true},
		"starting": {script: `echo 'pg_restore: error: connection to server at "127.0.0.1", port 5432 failed: FATAL:  ` +
			`the database system is starting up' >&2; exit 1`, lost: true},
		"killed":            {script: `kill -9 $$`, tool: true},
		"faulty statement":  {script: `echo 'pg_restore: error: could not execute query: ERROR:  syntax error' >&2; exit 1`},
		"local disk full":   {script: `echo 'pg_restore: error: could not write: No space left on device' >&2; exit 1`},
		"truncated archive": {script: `echo 'pg_restore: error: could not read from input file: end of file' >&2; exit 1`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := "#!/bin/sh\ncase $1 in --version) echo 'pg_restore (PostgreSQL) 99.1'; exit;; esac\n" + c.script + "\n"
			if err := os.WriteFile(filepath.Join(dir, "pg_restore"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir)
			err := db.RestorePostgres(t.Context(), url, "backup")
			tool := errors.As(err, new(*db.ToolError))
			if err == nil || db.IsServerDiskFull(err) != c.full || db.IsConnectionLost(err) != c.lost || tool != c.tool {
				t.Errorf("got %v with disk full %t, connection lost %t, tool error %t, want %t, %t, %t", err,
					db.IsServerDiskFull(err), db.IsConnectionLost(err), tool, c.full, c.lost, c.tool)
			}
		})
	}
}

// The password of the database is not in the command line of pg_dump, which every user of
// the machine can read.
func TestSnapshot_PasswordNotInCommandLine(t *testing.T) {
	d := storetest.Database{URL: storetest.Postgres(t)}
	store := d.Open(t)
	dir := t.TempDir()
	printed := filepath.Join(dir, "arguments")
	script := "#!/bin/sh\ncase $1 in --version) echo 'pg_dump (PostgreSQL) 99.1';; *) echo \"$@\" >" + printed + ";; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "pg_dump"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if err := store.Snapshot(t.Context(), emptyFile(t), func(*db.Reader) error { return nil }); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(printed)
	_, rest, _ := strings.Cut(d.URL, ":")
	password, _, _ := strings.Cut(strings.Split(rest, ":")[1], "@")
	if err != nil || !strings.Contains(string(got), "--snapshot=") || strings.Contains(string(got), password) {
		t.Errorf("got the arguments %s, %v, want no password", got, err)
	}
}

// multiHost returns the URL with a first host that refuses connections.
func multiHost(t *testing.T, databaseURL string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = fmt.Sprintf("127.0.0.1:%d,%s", testkit.FreeTCPPort(t), u.Host)
	return u.String()
}

// pg_dump and pg_restore use the host that the connection has reached, which is not the
// first of the URL here.
func TestSnapshot_SeveralHosts(t *testing.T) {
	from, to := storetest.Postgres(t), storetest.Postgres(t)
	store := storetest.Database{URL: multiHost(t, from)}.Open(t)
	file := emptyFile(t)
	if err := store.Snapshot(t.Context(), file, func(*db.Reader) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := db.RestorePostgres(t.Context(), multiHost(t, to), file); err != nil {
		t.Fatal(err)
	}
	const q = `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`
	want := queryAny(t, storetest.Database{URL: from}.Raw(t), q)
	got := queryAny(t, storetest.Database{URL: to}.Raw(t), q)
	if diff := cmp.Diff(want, got); len(want) == 0 || diff != "" {
		t.Errorf("got %d tables, want some, and those of the source (-want +got):\n%s", len(got), diff)
	}
}

func TestRequiredSpace(t *testing.T) {
	t.Parallel()
	for size, want := range map[uint64]uint64{0: 256 << 20, 1 << 30: 1<<30 + 256<<20, 100 << 30: 110 << 30} {
		if got := db.RequiredSpace(size); got != want {
			t.Errorf("for %d bytes: got %d, want %d", size, got, want)
		}
	}
}

// The parameters dbname and database have precedence over the path of a URL. A drill must
// not restore into the database that they name.
func TestCreateTemporaryPostgres_DatabaseAsParameter(t *testing.T) {
	t.Parallel()
	for _, parameter := range []string{"dbname", "database"} {
		u, err := url.Parse(storetest.Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query()
		query.Set(parameter, strings.TrimPrefix(u.Path, "/"))
		u.Path, u.RawQuery = "", query.Encode()
		temporary, drop, err := db.CreateTemporaryPostgres(t.Context(), u.String())
		if err != nil {
			t.Fatal(err)
		}
		config, err := pgx.ParseConfig(temporary)
		if err != nil || !strings.HasPrefix(config.Database, "parley_drill_") {
			t.Errorf("%s: got the database %q, %v, want a temporary one", parameter, config.Database, err)
		}
		if err := drop(); err != nil {
			t.Error(err)
		}
	}
}

func TestCreateTemporaryPostgres_Dropped(t *testing.T) {
	t.Parallel()
	d := storetest.Database{URL: storetest.Postgres(t)}
	url, drop, err := db.CreateTemporaryPostgres(t.Context(), d.URL)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Database{URL: url}.Open(t) // and leave it open
	name, _, _ := strings.Cut(url[strings.LastIndex(url, "/")+1:], "?")
	exists := func() bool {
		return len(queryAny(t, d.Raw(t), `SELECT 1 FROM pg_database WHERE datname = '`+name+`'`)) > 0
	}
	if !exists() {
		t.Fatalf("temporary database %s: got none, want it to exist", name)
	}
	if err := drop(); err != nil || exists() {
		t.Errorf("drop the database %s: got error %v, exists %t, want no error, exists false", name, err, exists())
	}
}
