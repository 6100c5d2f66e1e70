package store_test

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/event"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
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
				ID:        id,
				Type:      kind,
				ProjectID: "p",
				RoomID:    "r",
				Sequence:  n,
				At:        time.UnixMilli(n).UTC(),
				Data:      event.Data{RoomID: "r"},
			}
		}
		want := []event.Event{logged(1, "e1", event.RoomOpened), logged(2, "e2", event.RoomStarted)}
		got, err := storetest.Events(ctx, db, "r")
		if diff := cmp.Diff(want, got, storetest.Exact); err != nil || diff != "" {
			t.Errorf("events: error %v (-want +got):\n%s", err, diff)
		}
	})
}

// A block of an earlier release, with accepted and rejected calls, is listed with the rejected calls and trimmed with
// them, and the latest caller with a key is kept.
func TestMigrate_KeepsCalls(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		ctx := t.Context()
		raw := p.Raw(t)
		const lastWithMixedBlocks = 45
		if err := p.Migrate(store.Migrations(lastWithMixedBlocks)); err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{
			`INSERT INTO organizations (id, name, billing, created_at) VALUES ('o', 'Org', 'plan', 1)`,
			`INSERT INTO projects (id, organization_id, name, status, created_at, settings)
				VALUES ('p', 'o', 'Project', 'active', 1, '{}')`,
			`INSERT INTO request_log (project_id, api, n, first_n, size, calls)
				VALUES ('p', 'v5', 2, 1, 2, '[{"n":1,"status":401},{"n":2,"status":200}]')`,
			`INSERT INTO key_callers (project_id, slot, at, address, user_agent)
				VALUES ('p', 'overlap', 1, '192.0.2.1', 'nightly/1')`,
		} {
			if _, err := raw.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		db := p.Open(t)
		callers, err := db.KeyCallers(ctx, "p")
		want := []requestlog.KeyCaller{{
			ProjectID: "p",
			KeySlot:   "overlap",
			Address:   "192.0.2.1",
			UserAgent: "nightly/1",
			At:        time.UnixMilli(1).UTC(),
		}}
		if diff := cmp.Diff(want, callers); err != nil || diff != "" {
			t.Errorf("callers: error %v (-want +got):\n%s", err, diff)
		}
		accepted := requestlog.Block{ProjectID: "p", API: "v5", Calls: []requestlog.NumberedCall{{N: 3}}}
		if err := db.InsertCalls(ctx, []requestlog.Block{accepted}); err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			latest int
			filter requestlog.Filter
			want   int
		}{
			{3, requestlog.Filter{}, 3}, {3, requestlog.Filter{MinStatus: 400}, 1}, {1, requestlog.Filter{}, 1},
		} {
			if err := db.TrimCalls(ctx, "p", "v5", tc.latest); err != nil {
				t.Fatal(err)
			}
			query := requestlog.Query{ProjectID: "p", API: "v5", Limit: 10, Filter: tc.filter}
			page, err := requestlog.NewRecorder(db, time.Now).List(ctx, query)
			if err != nil || len(page.Calls) != tc.want {
				t.Errorf("trimmed to %d, filter %+v: got %+v, %v, want %d calls", tc.latest, tc.filter, page.Calls, err, tc.want)
			}
		}
	})
}

// Migration 15 counts the rooms that are over already.
func TestMigrate_CountsPastRooms(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		raw := p.Raw(t)
		if err := p.Migrate(store.Migrations(14)); err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{
			`INSERT INTO organizations (id, name, billing, created_at) VALUES ('o', 'Org', 'plan', 1)`,
			`INSERT INTO projects (id, organization_id, name, status, created_at, settings)
				VALUES ('p', 'o', 'Project', 'active', 1, '{}'), ('q', 'o', 'Project', 'active', 1, '{}')`,
			`INSERT INTO rooms (id, project_id, type, state, end_reason, title, welcome_message, creator_name,
					max_participants, empty_timeout, duration, creator_link_hash, creator_link_claim, session,
					session_live, event_sequence, created_at, ended_at)
				SELECT id, project_id, 'audio', 'ended', '', '', '', '', 2, 300, 0, '', '', 0, FALSE, 2, 1, ended_at
				FROM (SELECT 'a' AS id, 'p' AS project_id, 86399999 AS ended_at UNION ALL SELECT 'b', 'p', 86400000
					UNION ALL SELECT 'c', 'p', 86400000 UNION ALL SELECT 'd', 'q', 1 UNION ALL SELECT 'e', 'p', NULL) AS r`,
		} {
			if _, err := raw.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		got, total, err := p.Open(t).PastRooms(context.Background(), "p", room.PastQuery{Offset: 1, Limit: 2})
		if err != nil || total != 3 || len(got) != 2 || got[0].ID != "b" || got[1].ID != "a" {
			t.Errorf("got %+v of %d, %v, want b and a of 3", got, total, err)
		}
	})
}

// A rebuild repairs the usage of leaves that an earlier release stored late, to the millisecond,
// says what it has changed, and leaves the hours as they are whose rooms were deleted.
func TestRebuildUsage(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t)
		p := storetest.Project(t, db)
		began := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
		now := began.Add(75*time.Hour + 7*time.Millisecond)
		service := usage.NewService(db, usage.NoProvider{}, func() time.Time { return now })
		first := joinRoom(t, db, p.ID, began)
		endAttendance(t, db, first, 10*time.Minute)
		second, third := joinRoom(t, db, p.ID, began.Add(20*time.Hour)), joinRoom(t, db, p.ID, began.Add(60*time.Hour))
		if err := service.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		endAttendance(t, db, second, 30*time.Minute+3*time.Millisecond)
		endAttendance(t, db, third, 40*time.Minute)
		if _, err := d.Raw(t).Exec(`DELETE FROM usage_late_reports`); err != nil { // which that release did not record
			t.Fatal(err)
		}
		total := func() time.Duration {
			t.Helper()
			got, err := service.Totals(t.Context(), usage.Scope{OrganizationID: p.OrganizationID}, began, now)
			if err != nil {
				t.Fatal(err)
			}
			return time.Duration(got.VideoMillis) * time.Millisecond
		}
		const want = 80*time.Minute + 3*time.Millisecond
		if got := total(); got <= want {
			t.Fatalf("usage with the fault: got %s, want more than %s", got, want)
		}
		got, err := service.Rebuild(t.Context(), p.OrganizationID, began, time.Time{})
		if err != nil || total() != want || !got.KeptUntil.IsZero() || len(got.Changes) != 8 {
			t.Errorf("rebuild: got %+v, %v, usage %s, want 8 changes and %s", got, err, total(), want)
		}
		changed := got.Changes[0]
		const firstDay = want - 40*time.Minute
		if !changed.Date.Equal(began) || changed.ProjectID != "" || changed.After.VideoMillis != firstDay.Milliseconds() {
			t.Errorf("first change: got %+v, want that of %s with %s of video after it", changed, began, firstDay)
		}
		again, err := service.Rebuild(t.Context(), p.OrganizationID, began, time.Time{})
		if err != nil || len(again.Changes) > 0 {
			t.Errorf("second rebuild: got %+v, %v, want no change", again, err)
		}
		mustWrite(t, db, func(ctx context.Context) error {
			_, _, err := db.DeleteRoom(ctx, first.RoomID, 100)
			return err
		})
		kept, err := service.Rebuild(t.Context(), p.OrganizationID, began, time.Time{})
		if err != nil || len(kept.Changes) > 0 || !kept.KeptUntil.Equal(began.Add(49*time.Hour)) || total() != want {
			t.Errorf("rebuild after the deletion of a room: got %+v, %v, usage %s, want %s", kept, err, total(), want)
		}
	})
}

// Migration 25 rolls up again the hours with leaves that an earlier release stored late,
// except those in which a deleted room may have had people. The days that migration 26 leaves
// empty do not count before they are folded.
func TestMigrate_RepairsUsage(t *testing.T) {
	for name, c := range map[string]struct {
		deleted bool  // the first room
		late    []int // hours to be rolled up again
	}{"all rooms kept": {false, []int{20, 70}}, "room deleted": {true, []int{70}}} {
		t.Run(name, func(t *testing.T) {
			storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
				db := d.Open(t)
				p := storetest.Project(t, db)
				began := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
				now := began.Add(75 * time.Hour)
				service := usage.NewService(db, usage.NoProvider{}, func() time.Time { return now })
				first := joinRoom(t, db, p.ID, began)
				endAttendance(t, db, first, 10*time.Minute)
				second, third := joinRoom(t, db, p.ID, began.Add(20*time.Hour)), joinRoom(t, db, p.ID, began.Add(70*time.Hour))
				if err := service.RollUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				if c.deleted {
					mustWrite(t, db, func(ctx context.Context) error {
						_, _, err := db.DeleteRoom(ctx, first.RoomID, 100)
						return err
					})
				}
				endAttendance(t, db, second, 30*time.Minute)
				endAttendance(t, db, third, 30*time.Minute)
				if _, err := d.Raw(t).Exec(`DELETE FROM usage_late_reports`); err != nil { // which that release did not record
					t.Fatal(err)
				}
				// The statement again, because a database with later migrations does not run it.
				statement, err := os.ReadFile("migrations/00025_late_leaves.sql")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.Raw(t).Exec(string(statement)); err != nil {
					t.Fatal(err)
				}
				service = usage.NewService(db, usage.NoProvider{}, func() time.Time { return now })
				progress, err := db.UsageProgress(t.Context(), p.OrganizationID)
				var late []int
				for _, l := range progress.Late {
					late = append(late, int(l.Sub(began).Hours()))
				}
				if err != nil || !slices.Equal(late, c.late) {
					t.Errorf("late hours: got %v, %v, want %v", late, err, c.late)
				}
				check := func(hours int, want time.Duration) {
					t.Helper()
					got, err := service.Totals(t.Context(), usage.Scope{OrganizationID: p.OrganizationID}, began,
						began.Add(time.Duration(hours)*time.Hour))
					if err != nil || got.VideoMillis != want.Milliseconds() {
						t.Errorf("usage of %d hours: got %+v, %v, want %s", hours, got, err, want)
					}
				}
				for range 2 { // before and after the next rollup
					check(20, 10*time.Minute)
					if !c.deleted {
						check(75, 70*time.Minute)
					}
					if err := service.RollUp(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				progress, err = db.UsageProgress(t.Context(), p.OrganizationID)
				if want := began.AddDate(0, 0, 3); err != nil || !progress.DaysUntil.Equal(want) {
					t.Errorf("folded days: got %+v, %v, want those before %s", progress, err, want)
				}
			})
		})
	}
}

// joinRoom stores a new room with a session and a connection, which begin at a time.
func joinRoom(t *testing.T, db *store.DB, projectID string, at time.Time) room.Attendance {
	t.Helper()
	r := storetest.Room(projectID)
	r.CreatedAt = at
	seat := room.Seat{
		ID:        storetest.NewID(),
		RoomID:    r.ID,
		KeyHash:   r.ID,
		Name:      "Ada",
		Role:      room.Guest,
		State:     room.Joined,
		CreatedAt: at,
	}
	a := room.Attendance{
		ID:         storetest.NewID(),
		RoomID:     r.ID,
		Session:    1,
		SeatID:     seat.ID,
		Connection: "PA_1",
		JoinedAt:   at,
	}
	mustWrite(t, db, func(ctx context.Context) error {
		if err := db.InsertRoom(ctx, r); err != nil {
			return err
		}
		if err := db.InsertSession(ctx, room.Session{RoomID: r.ID, N: 1, State: room.SessionLive}, at); err != nil {
			return err
		}
		if err := db.InsertSeat(ctx, seat); err != nil {
			return err
		}
		_, err := db.InsertAttendance(ctx, a, at)
		return err
	})
	return a
}

// endAttendance ends a connection without a late report, as earlier releases did.
func endAttendance(t *testing.T, db *store.DB, a room.Attendance, after time.Duration) {
	t.Helper()
	a.LeftAt, a.Reason = a.JoinedAt.Add(after), room.LeftServer
	mustWrite(t, db, func(ctx context.Context) error { return db.EndAttendance(ctx, a, a.LeftAt) })
}

func mustWrite(t *testing.T, db *store.DB, work func(ctx context.Context) error) {
	t.Helper()
	if err := db.Write(t.Context(), work); err != nil {
		t.Fatal(err)
	}
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
