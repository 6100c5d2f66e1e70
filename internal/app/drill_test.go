package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/project"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// A drill whose service stops without being healthy says what /healthz answered.
func TestAwaitHealthy_ReportsResponse(t *testing.T) {
	t.Parallel()
	stopped := make(chan error, 1)
	failure := errors.New("the service stopped")
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests++; requests == 2 {
			stopped <- failure
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, `{"database":"read_only"}`)
	}))
	defer s.Close()
	err := awaitHealthy(t.Context(), s.Listener.Addr(), stopped)
	if !errors.Is(err, failure) || !strings.Contains(err.Error(), `/healthz answered 503: {"database":"read_only"}`) {
		t.Errorf("got %v, want the error of the service and the response", err)
	}
}

func TestAwaitHealthy_Healthy(t *testing.T) {
	t.Parallel()
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests++; requests < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	if err := awaitHealthy(t.Context(), s.Listener.Addr(), make(chan error)); err != nil || requests != 3 {
		t.Errorf("got %v after %d requests, want no error after 3", err, requests)
	}
}

func TestLastLine_AddTo(t *testing.T) {
	t.Parallel()
	last, failure := &lastLine{}, errors.New("the service stopped")
	log := slog.New(slog.NewTextHandler(last, &slog.HandlerOptions{Level: slog.LevelError}))
	log.Warn("unimportant")
	if err := last.addTo(failure); err != failure {
		t.Errorf("without a line: got %v, want %v", err, failure)
	}
	log.Error("first")
	log.Error("write failed", "error", "no space")
	err := last.addTo(failure)
	if !errors.Is(err, failure) || strings.Contains(err.Error(), "first") ||
		!strings.HasSuffix(err.Error(), `level=ERROR msg="write failed" error="no space"`) {
		t.Errorf("got %v, want the last error of the log", err)
	}
}

// hookReceiver counts the webhooks that it receives.
func hookReceiver(t *testing.T) (url string, received *atomic.Int64) {
	received = &atomic.Int64{}
	r := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received.Add(1) }))
	t.Cleanup(r.Close)
	return r.URL, received
}

// backupWithPendingWebhook returns a backup of a service that has a delivery which is due.
func backupWithPendingWebhook(t *testing.T, storage config.Storage, url string) string {
	t.Helper()
	a, err := newIsolated(t.Context(), storage, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- a.Run(running, false, io.Discard) }()
	testkit.Eventually(t, "the service is healthy", func() bool {
		return checkHealth(t.Context(), a.Listener.Addr()) == nil
	})
	o, err := a.projects.CreateOrganization(t.Context(), "Example", project.Plan)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := a.keys.CreateProject(t.Context(), project.Draft{OrganizationID: o.ID, Name: "Example"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.projects.Edit(t.Context(), p.ID, project.Edit{Settings: func(s *project.Settings) error {
		s.DefaultWebhookURL = url
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.webhooks.Test(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	archive, err := a.backups.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.tar")
	err = backup.WriteFile(file, func(w io.Writer) error { return archive.Write(t.Context(), w) })
	if err = errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	return file
}

// A drill starts the service on data with a webhook that is due, and sends nothing. The
// real service, which is started on the same data at the end, sends it.
func TestDrill_ActsOnNothing(t *testing.T) {
	for name := range engines {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			url, received := hookReceiver(t)
			storage := config.Storage{DataDir: t.TempDir()}
			if name == backup.Postgres {
				storage.DatabaseURL = seal.Secret(storetest.Postgres(t))
			}
			file := backupWithPendingWebhook(t, storage, url)
			before, databases := dirState(t, storage.DataDir), postgresDatabases(t, storage)
			result, err := Drill(t.Context(), storage, file)
			if err != nil || result.Secrets < 4 || result.Manifest.Rows["webhook_deliveries"] != 1 ||
				result.Schema != result.Manifest.Schema {
				t.Errorf("got %+v, %v, want a delivery and at least 4 secrets", result, err)
			}
			if n := received.Load(); n != 0 {
				t.Errorf("the receiver got %d webhooks during the drill, want none", n)
			}
			if after := dirState(t, storage.DataDir); !maps.Equal(after, before) {
				t.Errorf("the data directory: got %v, want %v", after, before)
			}
			if after := postgresDatabases(t, storage); !slices.Equal(after, databases) {
				t.Errorf("got the databases %v, want %v", after, databases)
			}
			if left := fileModes(t, os.TempDir()); len(left) > 0 {
				t.Errorf("the temporary directory has %v, want nothing", left)
			}
			startServer(t, func(c *config.Config) {
				c.DataDir, c.DatabaseURL, c.WebhookAllowPrivate = storage.DataDir, storage.DatabaseURL, true
			})
			testkit.Eventually(t, "the real service sends the webhook", func() bool { return received.Load() > 0 })
		})
	}
}

// A drill whose PostgreSQL server stops in the middle does not blame the backup.
func TestDrill_ServerStops(t *testing.T) {
	server := storetest.NewPostgresServer(t)
	storage := config.Storage{DataDir: t.TempDir(), DatabaseURL: seal.Secret(server.NewDatabase(t))}
	url, _ := hookReceiver(t)
	file := backupWithPendingWebhook(t, storage, url)
	real, err := exec.LookPath("pg_restore")
	if err != nil {
		t.Fatal(err)
	}
	// The drill has created its database when pg_restore begins, and the server stops then.
	dir := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
case $1 in --version) exec %[1]s --version;; esac
touch %[2]s/begun
while [ ! -e %[2]s/stopped ]; do sleep 0.01; done
exec %[1]s "$@"
`, real, dir)
	if err := os.WriteFile(filepath.Join(dir, "pg_restore"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
	done := make(chan error, 1)
	go func() {
		_, err := Drill(t.Context(), storage, file)
		done <- err
	}()
	testkit.Eventually(t, "pg_restore begins", func() bool {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return err == nil
	})
	server.Stop(t)
	if err := os.WriteFile(filepath.Join(dir, "stopped"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrNotVerified) ||
		!strings.Contains(err.Error(), "because the PostgreSQL server refused or ended a connection") {
		t.Errorf("with a server that stops: got %v, want that the backup was not verified, and why", err)
	}
	server.Start(t)
	t.Setenv("PATH", path)
	if _, err := Drill(t.Context(), storage, file); err != nil {
		t.Errorf("after the server was started again: got %v, want a backup that works", err)
	}
}

// dirState returns the size and the time of each file in a directory.
func dirState(t *testing.T, dir string) map[string]string {
	t.Helper()
	state := map[string]string{}
	for name := range fileModes(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		state[name] = fmt.Sprint(info.Size(), info.ModTime())
	}
	return state
}

func postgresDatabases(t *testing.T, storage config.Storage) (names []string) {
	t.Helper()
	if storage.DatabaseURL == "" {
		return nil
	}
	raw := storetest.Database{URL: storage.DatabaseURL.Reveal()}.Raw(t)
	rows, err := raw.Query(`SELECT datname FROM pg_database ORDER BY datname`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func TestDrill_DamagedBackup(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := startServer(t, nil)
	s.createRoom(5, 300)
	file := s.backup()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	exec := func(q string) func(*backup.Manifest, string) {
		return func(_ *backup.Manifest, database string) {
			raw := storetest.Database{Dir: filepath.Dir(database)}.Raw(t)
			if _, err := raw.Exec(q); err != nil {
				t.Fatal(err)
			}
			_ = raw.Close()
		}
	}
	for name, tc := range map[string]struct {
		change func(*backup.Manifest, string)
		want   string
	}{
		"a row is missing": {exec(`DELETE FROM events`), "the table events has 0 rows, and the manifest says"},
		"a secret is damaged": {exec(`UPDATE api_keys SET sealed_key = sealed_gateway_secret`),
			"the sealed value is damaged or belongs to another row"},
		"a page is damaged": {func(_ *backup.Manifest, database string) {
			raw, err := os.ReadFile(database)
			if err != nil {
				t.Fatal(err)
			}
			for at := 4096 * 4; at < len(raw); at += 4096 {
				copy(raw[at:], "damage damage damage")
			}
			if err := os.WriteFile(database, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "the database is damaged"},
		"another database": {func(m *backup.Manifest, _ string) { m.DatabaseID = "other" },
			"the database of the backup is not the one of its manifest"},
	} {
		_, err := Drill(t.Context(), config.Storage{DataDir: s.cfg.DataDir}, remakeBackup(t, file, tc.change))
		if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, ErrNotVerified) {
			t.Errorf("%s: got %v, want %q and not that it was not verified", name, err, tc.want)
		}
		if left := fileModes(t, os.TempDir()); len(left) > 0 {
			t.Errorf("%s: the temporary directory has %v, want nothing", name, left)
		}
	}
	if _, err := Drill(t.Context(), config.Storage{DataDir: s.cfg.DataDir}, file); err != nil {
		t.Errorf("drill with the backup without damage: got error %v, want none", err)
	}
}

// A drill with the wrong key, or of a file that is no whole backup of this version, restores nothing.
func TestDrill_Refusals(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) { testDrillRefusals(t, engine) })
	}
}

func testDrillRefusals(t *testing.T, engine func(*testing.T, *config.Config)) {
	t.Setenv("TMPDIR", t.TempDir())
	s := startServer(t, func(c *config.Config) { engine(t, c) })
	file := s.backup()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	m, err := backup.Check(file)
	if err != nil {
		t.Fatal(err)
	}
	other := seal.NewKey()
	for name, tc := range map[string]struct {
		arrange func(storage *config.Storage, file *string)
		want    string
	}{
		"wrong key": {func(storage *config.Storage, _ *string) { storage.MasterKey = seal.Secret(other.Reveal()) },
			"the backup needs the master key with the fingerprint " + m.KeyFingerprint +
				", and the key in PARLEY_MASTER_KEY has the fingerprint " + other.ID()},
		"no key": {func(storage *config.Storage, _ *string) { storage.DataDir = t.TempDir() }, "master.key does not exist"},
		"newer schema": {func(_ *config.Storage, file *string) {
			*file = remakeBackup(t, *file, func(m *backup.Manifest, _ string) {
				m.Schema, m.Contraction = 9999, new(int64(9999))
			})
		}, "version 9999 of the schema, written by a newer Parley"},
		"truncated": {func(_ *config.Storage, file *string) { *file = truncated(t, *file) }, "the backup is not complete"},
		"missing":   {func(_ *config.Storage, file *string) { *file += ".missing" }, "no such file"},
	} {
		storage, file := config.Storage{DataDir: s.cfg.DataDir, DatabaseURL: s.cfg.DatabaseURL}, file
		tc.arrange(&storage, &file)
		before, databases := dirState(t, s.cfg.DataDir), postgresDatabases(t, storage)
		_, err := Drill(t.Context(), storage, file)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
		if damaged := !errors.Is(err, ErrNotVerified); damaged != (name == "truncated") {
			t.Errorf("%s: got %v, want that it was not verified only if the backup may work", name, err)
		}
		if after := dirState(t, s.cfg.DataDir); !maps.Equal(after, before) {
			t.Errorf("%s: the data directory has the files %v, want %v", name, after, before)
		}
		if left := fileModes(t, os.TempDir()); len(left) > 0 {
			t.Errorf("%s: the temporary directory has %v, want nothing", name, left)
		}
		if after := postgresDatabases(t, storage); !slices.Equal(after, databases) {
			t.Errorf("%s: got the databases %v, want %v", name, after, databases)
		}
	}
}
