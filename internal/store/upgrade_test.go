package store_test

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// TestMigrations_DeclareTheirKind covers the migrations since the rule exists. Those before
// count as contracting.
func TestMigrations_DeclareTheirKind(t *testing.T) {
	t.Parallel()
	const lastWithoutRule = "00014"
	declaration := regexp.MustCompile(`(?m)^-- parley: (expand|contract)$`)
	dir := store.Migrations(1 << 30)
	files, err := fs.Glob(dir, "*.sql")
	if err != nil || len(files) < 16 {
		t.Fatalf("got %d migrations, %v, want at least 16", len(files), err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		n := len(declaration.FindAll(text, -1))
		if number, _, _ := strings.Cut(file, "_"); number > lastWithoutRule && n != 1 {
			t.Errorf("%s: got %d lines \"-- parley: expand\" or \"-- parley: contract\", want 1", file, n)
		}
	}
}

func TestCheckOlderNodes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := time.Now()
	refusal := func(node string, migration int) string {
		return fmt.Sprintf("node %s runs an earlier Parley, which cannot use the database after migration %d: "+
			"stop all nodes of the earlier version, then start this one. A node that was killed counts as "+
			"running for 10s", node, migration)
	}
	newer := func(kind string) fs.FS {
		dir := store.Migrations(18).(fstest.MapFS)
		dir["00999_newer.sql"] = &fstest.MapFile{Data: []byte("-- parley: " + kind + "\n-- +goose Up\nSELECT 1;\n")}
		return dir
	}
	for name, c := range map[string]struct {
		database fs.FS // nil for an empty one
		program  fs.FS
		nodes    string // values for the table nodes
		want     string
	}{
		"empty database": {nil, newer("contract"), "", ""},
		"no node":        {store.Migrations(18), newer("contract"), "", ""},
		"older node": {store.Migrations(18), newer("contract"),
			"('fresh', %[1]d, 999), ('older', %[1]d, 18)", refusal("older", 999)},
		"node of a release without the rule": {store.Migrations(18), newer("contract"),
			"('older', %[1]d, 0)", refusal("older", 999)},
		"current node":                  {store.Migrations(18), newer("contract"), "('fresh', %[1]d, 999)", ""},
		"killed node":                   {store.Migrations(18), newer("contract"), "('older', %[2]d, 18)", ""},
		"expanding migration":           {store.Migrations(18), newer("expand"), "('older', %[1]d, 18)", ""},
		"database without the rule":     {store.Migrations(13), store.Migrations(14), "('older', %[1]d)", refusal("older", 14)},
		"contraction already applied":   {store.Migrations(14), store.Migrations(14), "('older', %[1]d)", ""},
		"killed node, without the rule": {store.Migrations(13), store.Migrations(14), "('older', %[2]d)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := storetest.Database{URL: storetest.Postgres(t)}
			if c.database != nil {
				if err := d.Migrate(c.database); err != nil {
					t.Fatal(err)
				}
			}
			if c.nodes != "" {
				values := fmt.Sprintf(c.nodes, now.Add(-8*time.Second).UnixMilli(), now.Add(-11*time.Second).UnixMilli())
				if _, err := d.Raw(t).Exec(`INSERT INTO nodes VALUES ` + values); err != nil {
					t.Fatal(err)
				}
			}
			got := ""
			if err := store.CheckOlderNodesFor(ctx, d.URL, now, c.program); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// A heartbeat tells other nodes which migrations the program knows.
func TestRecordHeartbeat_SchemaVersion(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t)
		raw := d.Raw(t)
		if _, err := raw.Exec(`INSERT INTO nodes (id, last_alive) VALUES ('n', 1)`); err != nil {
			t.Fatal(err)
		}
		err := db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
			return db.RecordHeartbeat(ctx, room.Node{ID: "n", LastAlive: time.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
		var got, want int64
		err = raw.QueryRow(`SELECT schema_version, (SELECT max(version_id) FROM goose_db_version) FROM nodes`).
			Scan(&got, &want)
		if err != nil || got != want {
			t.Errorf("got schema version %d, %v, want %d", got, err, want)
		}
	})
}
