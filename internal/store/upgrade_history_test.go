package store_test

import (
	"testing"
	"time"

	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/filltest"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// TestMigrate_HistoryWithoutRollups upgrades a database of the release before the rollups. Each
// figure of usage equals the sum of the raw rows, before and after the first rollup, and so
// does the number of past rooms. go run ./test/bench -only upgrade measures it with 100,000
// meetings.
func TestMigrate_HistoryWithoutRollups(t *testing.T) {
	const meetings = 600
	start := time.Date(2026, 10, 20, 21, 0, 0, 0, time.UTC) // the end of a month is within
	step := 37 * time.Minute
	now := start.Add(meetings*step + 17*time.Minute)
	projects := []string{"p1", "p2"}
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		if err := d.Migrate(store.Migrations(filltest.LastWithoutRollups)); err != nil {
			t.Fatal(err)
		}
		raw := d.Raw(t)
		for _, q := range []string{
			`INSERT INTO organizations (id, name, billing, created_at) VALUES ('o', 'Org', 'plan', 1)`,
			`INSERT INTO projects (id, organization_id, name, status, created_at, settings)
				VALUES ('p1', 'o', 'First', 'active', 1, '{}'), ('p2', 'o', 'Second', 'active', 1, '{}')`,
		} {
			if _, err := raw.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		err := filltest.MeetingsWithoutRollups(t.Context(), raw, projects, meetings, start, step)
		if err != nil {
			t.Fatal(err)
		}
		rows := d.ReadRawUsage(t)
		if all := rows.Totals("", start, now); all.RoomsCreated != meetings || all.AudioMillis == 0 || all.Peak < 4 {
			t.Fatalf("got %+v, want the usage of %d meetings", all, meetings)
		}

		db := d.Open(t)
		service := usage.NewService(db, usage.NoProvider{}, func() time.Time { return now })
		for range 2 { // before and after the first rollup
			if err := rows.Compare(t.Context(), service, "o", projects, start, now); err != nil {
				t.Error(err)
			}
			if err := service.RollUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n, until := service.Rollups(); n == 0 || now.Sub(until) > 2*time.Hour {
			t.Errorf("got %d rollups until %v, want all hours until %v", n, until, now)
		}
		for n, project := range projects {
			want := meetings/2 - n // one meeting of the second project is not over
			past, total, err := db.PastRooms(t.Context(), project, room.PastQuery{Offset: want / 2, Limit: 20})
			if err != nil || total != want || len(past) != 20 {
				t.Errorf("past rooms of %s: got %d of %d, %v, want 20 of %d", project, len(past), total, err, want)
			}
		}
	})
}
