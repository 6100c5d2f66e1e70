package store_test

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

func TestOpen_ExistingDatabase(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		var project string
		for i := range 3 {
			db := p.Open(t)
			if i == 0 {
				project = storetest.Project(t, db).ID
			}
			if got, err := db.Project(context.Background(), project); err != nil || got.ID != project {
				t.Fatalf("got %+v, %v, want the project %s", got, err, project)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Nodes that start at the same time on a new database migrate it one after
// another.
func TestOpen_Concurrent(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			db, err := store.Open(context.Background(), url, "")
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = db.Close() }()
			if err := db.Unlock(context.Background(), storetest.Box(1)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Migration 8 copies the events of an older database into its new table.
func TestMigrate_KeepsEvents(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		ctx := context.Background()
		raw := p.Raw(t)
		if err := p.Migrate(store.Migrations(7)); err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{
			`INSERT INTO organizations (id, name, billing, plan, currency, unit_price, created_at)
				VALUES ('o', 'Org', 'plan', '', '', '', 1)`,
			`INSERT INTO projects (id, organization_id, name, status, created_at, settings)
				VALUES ('p', 'o', 'Project', 'active', 1, '{}')`,
			`INSERT INTO rooms (id, project_id, type, state, end_reason, title, welcome_message, creator_name,
				max_participants, empty_timeout, duration, creator_link_hash, creator_link_claim, session,
				session_live, event_sequence, created_at)
				VALUES ('r', 'p', 'audio', 'open', '', 'Title', '', '', 2, 300, 0, '', '', 0, FALSE, 2, 1)`,
			`INSERT INTO events (id, project_id, room_id, sequence, type, at, data) VALUES
				('e2', 'p', 'r', 2, 'room.started', 2, '{"room_id":"r"}'),
				('e1', 'p', 'r', 1, 'room.opened', 1, '{"room_id":"r"}')`,
		} {
			if _, err := raw.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		db := p.Open(t)
		logged := func(n int64, id string, kind event.Type) event.Event {
			return event.Event{
				ID: id, Type: kind, ProjectID: "p", RoomID: "r", Sequence: n,
				At: time.UnixMilli(n).UTC(), Data: event.Data{RoomID: "r"},
			}
		}
		want := []event.Event{logged(1, "e1", event.RoomOpened), logged(2, "e2", event.RoomStarted)}
		if got, err := storetest.Events(ctx, db, "r"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	})
}

// BenchmarkOpen opens an existing database, as every start but the first does.
func BenchmarkOpen(b *testing.B) {
	for name, p := range map[string]storetest.Database{
		"sqlite": {Dir: b.TempDir()}, "postgres": {URL: storetest.Postgres(b)},
	} {
		b.Run(name, func(b *testing.B) {
			storetest.Project(b, p.Open(b))
			for b.Loop() {
				db, err := store.Open(context.Background(), p.URL, p.Dir)
				if err != nil {
					b.Fatal(err)
				}
				_ = db.Close()
			}
		})
	}
}
