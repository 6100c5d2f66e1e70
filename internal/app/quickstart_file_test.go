package app

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/config"
	"parley/internal/fault"
	"parley/internal/instance"
	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// otherFiles are quickstart files that no start may replace.
var otherFiles = map[string]string{
	"of another installation": `{"project_id": "018f0000-0000-7000-8000-000000000000", "admin_token": "other"}`,
	"with a token only":       `{"admin_token": "other"}`,
	"malformed":               `{"admin_token": "other"`,
	"empty":                   ``,
}

// runUntilError starts the service on a data directory and returns the error of the start, or
// nil after a start that succeeded.
func runUntilError(t *testing.T, cfg config.Config) error {
	t.Helper()
	cfg.Listen, cfg.RTCUDPPort = "127.0.0.1:0", testkit.FreeUDPPort(t)
	a, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx, false, io.Discard) }()
	testkit.Eventually(t, "the start fails or succeeds", func() bool { return len(done) > 0 || a.ready.Load() })
	cancel()
	return <-done
}

// createDatabase creates the database of a configuration, with a sealed secret.
func createDatabase(t *testing.T, cfg config.Config) {
	t.Helper()
	db, err := instance.OpenStore(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.MediaSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// assertNoNodes reports a node that a failed start left in the database, where it would look lost.
func assertNoNodes(t *testing.T, cfg config.Config) {
	t.Helper()
	db, err := instance.OpenStore(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if nodes, err := db.Nodes(t.Context()); err != nil || len(nodes) != 0 {
		t.Errorf("nodes after the failed start: got %+v, %v, want none", nodes, err)
	}
}

func writeQuickstart(t *testing.T, dir, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, quickstart.FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func assertText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
	}
}

// A data directory of an earlier release names its database only in quickstart.json. With a
// mistyped --database-url, neither that file nor the new database changes.
func TestQuickstart_RefusesNewDatabase(t *testing.T) {
	for engineName, engine := range engines {
		for name, text := range otherFiles {
			t.Run(engineName+" "+name, func(t *testing.T) {
				cfg := config.Default()
				cfg.DataDir = t.TempDir()
				engine(t, &cfg)
				path := writeQuickstart(t, cfg.DataDir, text)
				want := "--data-dir: " + path + " belongs to another installation, because the configured database is " +
					"new. Correct --database-url or use another --data-dir; if you no longer need the keys and the token " +
					"in the file, move it away"
				if err := runUntilError(t, cfg); err == nil || err.Error() != want {
					t.Errorf("got error  %v\nwant error %s", err, want)
				}
				assertText(t, path, text)
				if has, err := store.HasTables(t.Context(), cfg.DatabaseURL.Reveal(), cfg.DataDir); err != nil || has {
					t.Errorf("tables in the database: got %t, %v, want none", has, err)
				}
				for _, name := range []string{"database.id", "master.key", "parley.db"} {
					if _, err := os.Stat(filepath.Join(cfg.DataDir, name)); !os.IsNotExist(err) {
						t.Errorf("%s: got %v, want that it does not exist", name, err)
					}
				}
			})
		}
	}
}

// A data directory that lost database.id, or that has none yet, and a database that was
// migrated but never used, as a refused start of an earlier release leaves it.
func TestQuickstart_KeepsFileOnUnusedDatabase(t *testing.T) {
	for name, text := range otherFiles {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			cfg.DataDir = t.TempDir()
			createDatabase(t, cfg)
			path := writeQuickstart(t, cfg.DataDir, text)
			want := path + " cannot be read and is not replaced, because it may have the only copy of a management " +
				"token: correct it or move it away: "
			if json.Valid([]byte(text)) {
				want = "no owner's token is live, and " + path + " is not replaced: neither its project nor its token"
			}
			if err := runUntilError(t, cfg); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got error %v, want %q", err, want)
			}
			assertText(t, path, text)
			assertNoNodes(t, cfg)
		})
	}
}

// A start on a database in use leaves the file of another installation as it is, also its
// base URL.
func TestQuickstart_KeepsFileOnDatabaseInUse(t *testing.T) {
	s := startServer(t, nil)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.cfg.DataDir, "database.id")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"of another installation", "with a token only"} {
		t.Run(name, func(t *testing.T) {
			path := writeQuickstart(t, s.cfg.DataDir, otherFiles[name])
			again := startServer(t, func(c *config.Config) { c.DataDir = s.cfg.DataDir })
			again.app.quickstart.Update(t.Context())
			assertText(t, path, otherFiles[name])
			if strings.Contains(again.out.String(), "Keys of the first project") {
				t.Errorf("got the output %s, want no project, because that of the file is not here", again.out)
			}
		})
	}
	t.Run("malformed", func(t *testing.T) {
		path := writeQuickstart(t, s.cfg.DataDir, otherFiles["malformed"])
		if err := runUntilError(t, s.cfg); err == nil || !strings.HasPrefix(err.Error(), path+" cannot be read") {
			t.Errorf("got error %v, want that the file cannot be read", err)
		}
		assertText(t, path, otherFiles["malformed"])
	})
}

// The file of a deleted project is still recognized by its token.
func TestQuickstart_DeletedProject(t *testing.T) {
	first := startServer(t, nil)
	dir := first.cfg.DataDir
	start := func() *server {
		t.Helper()
		return startServer(t, func(c *config.Config) { c.DataDir = dir })
	}
	revokeAllAndStop := func(s *server) {
		t.Helper()
		tokens, err := s.app.tokens.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range tokens {
			if _, err := s.app.tokens.Revoke(t.Context(), token.ID); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.app.projects.Suspend(t.Context(), first.ProjectID); err != nil {
		t.Fatal(err)
	}
	if err := first.app.retention.DeleteProject(t.Context(), first.ProjectID); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the project is deleted", func() bool {
		_, err := first.app.projects.Get(t.Context(), first.ProjectID)
		return fault.Is(err, fault.NotFound)
	})
	revokeAllAndStop(first)

	second := start()
	if _, err := second.app.tokens.Authenticate(t.Context(), second.AdminToken); err != nil ||
		!strings.Contains(second.out.String(), "No owner's token was live. A new one is in ") ||
		strings.Contains(second.out.String(), "Keys of the first project") {
		t.Errorf("without a token: got the output %s, error %v, want the notice of a new token and no project",
			second.out, err)
	}
	if _, err := second.app.retention.DeleteOrganization(t.Context(), second.OrganizationID); err != nil {
		t.Fatal(err)
	}
	if err := second.stop(); err != nil {
		t.Fatal(err)
	}

	third := start()
	if empty, err := third.app.projects.NoOrganizations(t.Context()); err != nil || !empty ||
		third.AdminToken != second.AdminToken {
		t.Errorf("without an organization: got %t, %v, token kept %t, want no new organization and the same token",
			empty, err, third.AdminToken == second.AdminToken)
	}
	revokeAllAndStop(third)

	// Without its token, the file cannot be told from that of another installation.
	text := `{"project_id": "` + third.ProjectID + `"}`
	path := writeQuickstart(t, dir, text)
	want := "no owner's token is live, and " + path + " is not replaced: neither its project nor its token is known to " +
		"this database, so it belongs to another installation, or its project was deleted. If it is of another one, " +
		"correct --database-url or use another --data-dir. Otherwise run parley token create --local, or move the file away"
	if err := runUntilError(t, third.cfg); err == nil || err.Error() != want {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
	_, _, err := instance.CreateLocalToken(t.Context(), third.cfg.Storage, operator.NewToken{Name: "local"})
	if err != nil {
		t.Fatalf("create a local token: got error %v, want none", err)
	}
	start()
	assertText(t, path, text)
}

// The data directory of an installation on SQLite is refused with an empty PostgreSQL
// database, with and without database.id.
func TestStart_SQLiteDirectoryWithEmptyPostgres(t *testing.T) {
	s := startServer(t, nil)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.cfg.DataDir, quickstart.FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mistyped := s.cfg
	mistyped.DatabaseURL = seal.Secret(storetest.Postgres(t))
	assertRefused := func(when, want string) {
		t.Helper()
		if err := runUntilError(t, mistyped); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "Correct --database-url") {
			t.Errorf("%s: got error %v, want %q and the remedy", when, err, want)
		}
		assertText(t, path, string(before))
		if has, err := store.HasTables(t.Context(), mistyped.DatabaseURL.Reveal(), ""); err != nil || has {
			t.Errorf("%s: tables in the PostgreSQL database: got %t, %v, want none", when, has, err)
		}
	}
	assertRefused("with database.id", "but the database of --database-url has no identity yet, so it is new")
	if err := os.Remove(filepath.Join(s.cfg.DataDir, "database.id")); err != nil {
		t.Fatal(err)
	}
	assertRefused("without database.id", path+" belongs to another installation")
	if _, err := os.Stat(filepath.Join(s.cfg.DataDir, "database.id")); !os.IsNotExist(err) {
		t.Errorf("database.id: got %v, want that it does not exist", err)
	}
	again := startServer(t, func(c *config.Config) { c.DataDir = s.cfg.DataDir })
	if again.AdminToken != s.AdminToken {
		t.Error("start on the right database: got another token in the file, want the same")
	}
}

// meetingStore is a store whose first writer waits for the writer of another store.
type meetingStore struct {
	quickstart.Store
	meet func()
}

func (s meetingStore) Write(ctx context.Context, work func(ctx context.Context) error) error {
	s.meet()
	return s.Store.Write(ctx, work)
}

// Two nodes see the same empty database before either writes. One of them creates the first project.
func TestQuickstart_TwoNodesOnEmptyDatabase(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Listen, cfg.DataDir, cfg.RTCUDPPort = "127.0.0.1:0", t.TempDir(), testkit.FreeUDPPort(t)
			engine(t, &cfg)
			a, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			other, err := instance.OpenStore(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = other.Close() }()
			var arrived, nodes sync.WaitGroup
			arrived.Add(2)
			files := make(chan quickstart.File, 2)
			for _, db := range []*store.DB{a.db, other} {
				dir, once := t.TempDir(), sync.OnceFunc(func() { arrived.Done(); arrived.Wait() })
				projects := project.NewService(db, time.Now, newID, func(string) {})
				s := quickstart.New(quickstart.Config{
					DataDir:  dir,
					BaseURL:  "http://localhost",
					Store:    meetingStore{db, once},
					Projects: projects,
					Keys:     key.NewService(db, projects, time.Now, newID),
					Tokens:   operator.NewService(db, time.Now, newID),
					Rooms:    a.rooms,
					Log:      a.log,
				})
				nodes.Go(func() {
					if err := s.Ensure(t.Context(), false, io.Discard); err != nil {
						t.Errorf("ensure: got error %v, want none", err)
						once() // the other node waits for this one
					}
					if q, err := quickstart.Read(dir); err == nil {
						files <- q
					}
				})
			}
			nodes.Wait()
			organizations, err := a.projects.Organizations(t.Context(), "", 0)
			if err != nil {
				t.Fatal(err)
			}
			tokens, err := a.tokens.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(organizations) != 1 || len(tokens) != 1 || len(files) != 1 {
				t.Fatalf("got %d organizations, %d tokens and %d files, want one of each", len(organizations), len(tokens),
					len(files))
			}
			if q := <-files; q.OrganizationID != organizations[0].ID {
				t.Errorf("the file has the organization %s, want %s", q.OrganizationID, organizations[0].ID)
			}
		})
	}
}
