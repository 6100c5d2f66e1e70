// Package upgrade tests programs on a schema that a newer program has migrated.
package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"parley.example/client"
	"parley/internal/cluster/clustertest"
	"parley/internal/db"
	"parley/internal/media/mediatest"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

func TestMain(m *testing.M) { parleytest.Main(m) }

// These migrations stand for those of a newer program.
const (
	expandingMigration = `-- parley: expand
-- +goose Up
ALTER TABLE rooms ADD COLUMN newer TEXT NOT NULL DEFAULT 'x';
ALTER TABLE attendance ADD COLUMN newer BIGINT;
CREATE TABLE newer (room_id TEXT PRIMARY KEY REFERENCES rooms (id));
CREATE INDEX rooms_newer ON rooms (newer, created_at);
`
	contractingMigration = `-- parley: contract
-- +goose Up
ALTER TABLE rooms DROP COLUMN welcome_message;
`
	expandedVersion, contractedVersion = 99998, 99999
)

// selectMigrations returns the migrations of this commit up to version last, and additional
// ones.
func selectMigrations(t *testing.T, last int, additional map[int]string) fs.FS {
	t.Helper()
	dir := fstest.MapFS{}
	files, err := filepath.Glob(filepath.Join(repository, migrations, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got migrations %v, %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) > fmt.Sprintf("%05d~", last) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir[filepath.Base(file)] = &fstest.MapFile{Data: text}
	}
	for version, text := range additional {
		dir[fmt.Sprintf("%05d_newer.sql", version)] = &fstest.MapFile{Data: []byte(text)}
	}
	return dir
}

// migrate applies migrations, as a program that has them does at its start.
func migrate(t *testing.T, d storetest.Database, files fs.FS) {
	t.Helper()
	if err := d.Migrate(files); err != nil {
		t.Fatal(err)
	}
}

// newestVersion returns the newest migration in a directory.
func newestVersion(t *testing.T, dir fs.FS) int64 {
	t.Helper()
	newest, err := db.NewestVersion(dir)
	if err != nil {
		t.Fatal(err)
	}
	return newest
}

// options returns the options of a server on a database.
func options(d storetest.Database, binary string) parleytest.Options {
	return parleytest.Options{Binary: binary, DataDir: d.Dir, Environment: []string{"PARLEY_DATABASE_URL=" + d.URL},
		Args: []string{"--no-rate-limits-enabled"}}
}

// hold creates a room of the first project and holds a meeting of one person in it.
func hold(t *testing.T, url, dir string) { t.Helper(); holdWith(t, url, firstProject(t, url, dir)) }

// firstProject returns a client of the project that the first start of a server creates.
func firstProject(t *testing.T, url, dir string) *client.Client {
	t.Helper()
	f, err := quickstart.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return newClient(t, url, client.Credentials{ProjectID: f.ProjectID, APIKey: f.APIKey,
		GatewaySecret: f.GatewaySecret, ProjectSecret: f.ProjectSecret})
}

func newClient(t *testing.T, url string, credentials client.Credentials) *client.Client {
	t.Helper()
	c, err := client.New(url, credentials, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// holdWith creates a room and holds a meeting of one person in it. It returns the ID of the room.
func holdWith(t *testing.T, url string, c *client.Client) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	created, err := c.CreateQuickAudioRoom(ctx, client.QuickRoomRequest{Name: "Ada", MaxParticipants: 2,
		EmptyTimeout: 60, Metadata: client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}})
	if err != nil {
		t.Fatal(err)
	}
	_, link, _ := strings.Cut(created.FinalLink, "#t=")
	body, _ := json.Marshal(map[string]string{"name": "Ada", "seat_key": "seat-key-of-browser-000001", "link": link})
	res, err := http.Post(url+"/api/join/rooms/"+created.RoomID+"/seats", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var seat struct {
		Token string `json:"media_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&seat); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("take a seat: status %d, %v", res.StatusCode, err)
	}
	p, err := mediatest.Join(ctx, url, seat.Token)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	testkit.Eventually(t, "the meeting has attendance", func() bool {
		a, err := c.Analytics(ctx, created.RoomID)
		return err == nil && len(a.Participants) == 1
	})
	return created.RoomID
}

// A program works on a schema that a newer one expands while it runs, also after a restart,
// and refuses one that a newer program has contracted.
func TestProgram_OnNewerSchema(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		d.Dir = t.TempDir()
		testOnNewerSchema(t, d, "")
	})
}

// The same with the previous release, whose program is built from Git.
func TestPreviousRelease_OnNewerSchema(t *testing.T) {
	contractions, err := db.Contractions(selectMigrations(t, contractedVersion, nil))
	if err != nil {
		t.Fatal(err)
	}
	r := buildPreviousRelease(t, contractions[len(contractions)-1])
	t.Logf("the previous release is %s, which knows migrations up to %d", r.Revision,
		newestVersion(t, os.DirFS(filepath.Join(r.Sources, migrations))))
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		d.Dir = t.TempDir()
		testOnNewerSchema(t, d, r.Binary)
	})
}

func testOnNewerSchema(t *testing.T, d storetest.Database, binary string) {
	server := parleytest.Start(t, options(d, binary))
	hold(t, server.URL, d.Dir)
	migrate(t, d, selectMigrations(t, contractedVersion, map[int]string{expandedVersion: expandingMigration}))
	hold(t, server.URL, d.Dir)
	if err := server.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, server.Log)
	}
	server = parleytest.Start(t, options(d, binary))
	hold(t, server.URL, d.Dir)
	if err := server.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, server.Log)
	}
	migrate(t, d, selectMigrations(t, contractedVersion, map[int]string{expandedVersion: expandingMigration,
		contractedVersion: contractingMigration}))
	requireRefused(t, options(d, binary), fmt.Sprintf("the database is at version %d, written by a newer Parley; "+
		"this one knows versions up to ", contractedVersion), ": start the newer binary, or restore a backup")
}

// requireRefused fails unless a server refuses to start with an error that contains the
// texts.
func requireRefused(t *testing.T, o parleytest.Options, texts ...string) {
	t.Helper()
	c := o.Command(append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", o.DataDir}, o.Args...)...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var started atomic.Bool
	kill := time.AfterFunc(testkit.Timeout, func() { started.Store(true); _ = c.Process.Kill() })
	err := c.Wait()
	kill.Stop()
	if err == nil || started.Load() {
		t.Fatalf("the server started, want the refusal %q", texts)
	}
	for _, text := range texts {
		if !strings.Contains(out.String(), text) {
			t.Errorf("got %s\nwant %q", &out, text)
		}
	}
}

// A program does not contract the schema while a node of an earlier release is alive.
func TestContraction_WaitsForOlderNodes(t *testing.T) {
	t.Parallel()
	const contraction = 14
	d := storetest.Database{URL: storetest.Postgres(t), Dir: t.TempDir()}
	migrate(t, d, selectMigrations(t, contraction-1, nil))
	raw := d.Raw(t)
	heartbeat := func(at time.Time) {
		t.Helper()
		_, err := raw.Exec(`INSERT INTO nodes (id, last_alive) VALUES ('older', $1)
			ON CONFLICT (id) DO UPDATE SET last_alive = excluded.last_alive`, at.UnixMilli())
		if err != nil {
			t.Fatal(err)
		}
	}
	o := options(d, "")
	o.Environment = append(o.Environment, "PARLEY_REDIS_URL="+clustertest.NewRedis(t).URL(),
		"PARLEY_MASTER_KEY="+seal.NewKey().Reveal())
	heartbeat(time.Now().Add(testkit.Timeout)) // alive also for a program that is slow to start
	requireRefused(t, o, "--database-url (PARLEY_DATABASE_URL): node older runs an earlier Parley, "+
		"which cannot use the database after migration ", "stop all nodes of the earlier version, then start this one")
	var version int
	if err := raw.QueryRow(`SELECT max(version_id) FROM goose_db_version`).Scan(&version); err != nil ||
		version != contraction-1 {
		t.Errorf("got schema version %d, %v after the refusal, want %d", version, err, contraction-1)
	}
	heartbeat(time.Now().Add(-time.Minute))
	parleytest.Start(t, o)
}
