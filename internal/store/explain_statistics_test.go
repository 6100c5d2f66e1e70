package store_test

import (
	"context"
	"testing"
	"time"

	"parley/internal/store/storetest"
)

// PostgreSQL thinks that a table is almost empty if its rows came after autovacuum has looked, for example in a burst,
// or after a restore. What runs in the background must not read such a table again and again.
func TestSweeps_OldStatistics(t *testing.T) {
	t.Parallel()
	const meetings, batch = 2000, 100
	d := storetest.Database{URL: storetest.Postgres(t)}
	db, raw := d.Open(t), d.Raw(t)
	p := storetest.Project(t, db)
	end := time.Now().Add(-2 * time.Hour)
	storetest.Fill(t, db, p.ID, meetings, end.Add(-time.Hour), end, 1)
	_, err := raw.Exec(`INSERT INTO webhook_streams
			(id, project_id, room_id, url, replay, bucket, enqueued, last_sequence, due_at, lease_id, updated_at)
		SELECT id, project_id, id, '', '', '', 1, 1, created_at, '', created_at FROM rooms`)
	if err == nil {
		_, err = raw.Exec(`VACUUM ANALYZE`)
	}
	if err == nil {
		_, err = raw.Exec(`UPDATE pg_class SET reltuples = 1
			WHERE relname IN ('events', 'past_room_counts', 'webhook_streams')`)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := catalog{growing: map[string]bool{}}
	for _, table := range []string{"events", "past_room_counts", "rooms", "webhook_streams"} {
		c.growing[table] = true
	}
	for name, run := range map[string]func(ctx context.Context) error{
		"counts of past rooms": func(ctx context.Context) error {
			_, err := db.MergePastRoomCounts(ctx, batch)
			return err
		},
		"events to pack": func(ctx context.Context) error {
			_, _, err := db.PackEvents(ctx, time.Time{}, time.Now(), batch)
			return err
		},
		"due webhooks": func(ctx context.Context) error {
			_, err := db.LeaseStreams(ctx, "", batch, "lease", time.Now(), time.Now().Add(time.Minute))
			return err
		},
	} {
		statements := traceRolledBack(t, db, run)
		costs, err := measure(t, d, c, raw, statements...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, got := range costs {
			if got.read > 5*meetings {
				t.Errorf("%s: got %d rows read of %d, in the statement\n%s", name, got.read, meetings, statements[i].q)
			}
		}
	}
}
