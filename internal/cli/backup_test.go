package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/internal/backup"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// fullDisk is a writer without space after some bytes.
type fullDisk struct{ left int }

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, syscall.ENOSPC
	}
	return len(b), nil
}

// A full disk of this machine is not reported as a response that is not complete.
func TestBackupCreate_FullDisk(t *testing.T) {
	t.Parallel()
	database, err := os.Create(filepath.Join(t.TempDir(), "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := database.Write(make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	archive, err := backup.NewArchive(t.Context(), backup.Manifest{Engine: backup.SQLite}, database, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = archive.Write(r.Context(), w) // fails when the client gives up
	}))
	defer server.Close()
	c := backupCreate{File: "-"}
	c.URL, c.Token = server.URL, "pt_test"
	for _, left := range []int{0, 50_000} {
		_, _, err := c.receive(t.Context(), &fullDisk{left: left})
		if err == nil || !strings.HasPrefix(err.Error(), "write the backup: no space left on device") {
			t.Errorf("space for %d bytes: got %v, want that the disk is full", left, err)
		}
	}
	interrupted := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer interrupted.Close()
	c.URL = interrupted.URL
	if _, _, err := c.receive(t.Context(), &fullDisk{left: 1 << 20}); err == nil ||
		!strings.Contains(err.Error(), "is not a complete backup") {
		t.Errorf("an interrupted response: got %v, want that it is not complete", err)
	}
}

// unanalyzable returns the URL of a database without tables of Parley in which ANALYZE fails, because another program
// has an index there whose expression fails.
func unanalyzable(t *testing.T) string {
	t.Helper()
	url := storetest.Postgres(t)
	raw := storetest.Database{URL: url}.Raw(t)
	defer func() { _ = raw.Close() }()
	for _, q := range []string{
		`CREATE SCHEMA other`,
		`CREATE TABLE other.numbers (n int)`,
		`CREATE FUNCTION other.f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END'`,
		`CREATE INDEX ON other.numbers (other.f(n))`,
		`INSERT INTO other.numbers VALUES (1)`,
		`CREATE OR REPLACE FUNCTION other.f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
			'BEGIN RAISE EXCEPTION ''division is broken''; END'`,
	} {
		if _, err := raw.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	return url
}

// A restore and a copy that are complete print their result also if only the statistics are missing, because a script
// could not get it again.
func TestRestoreAndCopy_NotAnalyzed(t *testing.T) {
	t.Parallel()
	dir, source := t.TempDir(), storetest.Postgres(t)
	file, key := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(dir, "master.key")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() {
		ended <- Main(ctx, []string{"serve", "--no-supervise", "--data-dir", dir, "--listen", "127.0.0.1:0", "--database-url",
			source, "--rtc-udp-port", fmt.Sprint(testkit.FreeUDPPort(t))}, nil, io.Discard, io.Discard)
	}()
	_, served := awaitServing(dir)
	made := served && Main(ctx, []string{"backup", "--data-dir", dir, file}, nil, io.Discard, io.Discard) == exitOK
	stop()
	if status := <-ended; status != exitOK || !made {
		t.Fatalf("make a backup: got %v and the status %d of the server, want true and %d", made, status, exitOK)
	}
	for _, c := range []struct {
		args       []string
		done, flag string
		want       string // part of the output
		field      string // of the JSON output
	}{
		{[]string{"restore", file, "--database-url"}, "restore", "--database-url", "Next step: parley serve", "rooms"},
		{[]string{"copy", "--database-url", source, "--to"}, "copy", "--to", "Next step: parley serve", "projects"},
	} {
		for _, asJSON := range []bool{false, true} {
			var out, errs bytes.Buffer
			args := append(c.args, unanalyzable(t), "--data-dir", t.TempDir(), "--master-key-file", key)
			if asJSON {
				args = append(args, "--json")
			}
			status := Main(t.Context(), args, nil, &out, &errs)
			want := "parley: the " + c.done + " is complete, but queries may be slow until you run ANALYZE in the database of " +
				c.flag + ": ERROR: division is broken"
			if status != exitError || !strings.HasPrefix(errs.String(), want) {
				t.Errorf("%s, JSON %v: got status %d and the error %q, want %d and %q", c.done, asJSON, status, errs.String(),
					exitError, want)
			}
			var result map[string]any
			if asJSON && (json.Unmarshal(out.Bytes(), &result) != nil || result[c.field] == nil) {
				t.Errorf("%s: got the output %q, want JSON with %s", c.done, out.String(), c.field)
			}
			if !asJSON && !strings.Contains(out.String(), c.want) {
				t.Errorf("%s: got the output %q, want %q", c.done, out.String(), c.want)
			}
		}
	}
}
