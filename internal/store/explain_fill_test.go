package store_test

import (
	"context"
	"testing"

	"parley/internal/project"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// The numbers of meetings of the projects of fillAll. The small project has fewer rooms than a page,
// so that a statement that walks the rooms of all projects reads all of them.
const (
	largeProject = 1500
	smallProject = 12
)

// tenTimes is a relation of ten rows with a number in column1.
const tenTimes = `(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS copies`

// fillAll fills an empty database and returns a large project, another one whose organization has
// hundreds of projects, and a small one. The rooms of the three lie between each other.
func fillAll(t *testing.T, d storetest.Database, db *store.DB) (p, other, small project.Project) {
	t.Helper()
	ctx := context.Background()
	end := storetest.Room("").CreatedAt
	p, other, small = storetest.Project(t, db), storetest.Project(t, db), storetest.Project(t, db)
	for i, of := range []project.Project{p, other, small} {
		n := largeProject
		if of.ID == small.ID {
			n = smallProject
		}
		storetest.Fill(t, db, of.ID, n, end.AddDate(0, -2, 0), end, uint64(i))
		for range 10 {
			err := db.Write(ctx, func(ctx context.Context) error { return db.InsertRoom(ctx, storetest.Room(of.ID)) })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	merged := 1
	for merged > 0 {
		err := db.Write(ctx, func(ctx context.Context) (err error) {
			merged, err = db.MergePastRoomCounts(ctx, largeProject)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	raw := d.Raw(t)
	for _, q := range []string{
		`UPDATE rooms SET state = 'cancelled' WHERE ended_at % 500 = 0`,
		// More rows, because PostgreSQL rightly reads a table of a few thousand as a whole for a batch. Most are of replays.
		`INSERT INTO webhook_streams
				(id, project_id, room_id, url, replay, bucket, enqueued, last_sequence, due_at, lease_id, updated_at)
			SELECT id || column1, project_id, id, 'https://example.com/hook', CASE WHEN column1 > 0 THEN id || column1 ELSE '' END,
				project_id || ' example.com', 10, 10, CASE WHEN ended_at IS NULL AND column1 = 0 THEN created_at END, '',
				created_at + 31536000000
			FROM rooms CROSS JOIN ` + tenTimes,
		`INSERT INTO webhook_deliveries (id, stream_id, position, event_id, project_id, room_id, url, type, sequence,
				previous, body, replay, state, attempts, step, created_at, done_at)
			SELECT e.id, e.room_id, e.sequence, e.id, r.project_id, e.room_id, 'https://example.com/hook', e.type,
				e.sequence, e.sequence - 1, '{"some":"text"}', FALSE,
				CASE WHEN at % 500 = 0 THEN 'failed' WHEN at % 501 = 0 THEN 'pending' ELSE 'delivered' END, 1, 1, at, at
			FROM events e JOIN rooms r ON r.id = e.room_id`,
		`INSERT INTO webhook_attempts (delivery_id, n, at, duration, status, error, response_body)
			SELECT id, 1, created_at, 20, 204, '', '' FROM webhook_deliveries`,
		`INSERT INTO links (id, room_id, token_hash, role, single_use, name, user_id, hidden, redeemed_by, created_at)
			SELECT id, id, id, 'guest', FALSE, '', '', FALSE, '', created_at FROM rooms`,
		`INSERT INTO host_actions (room_id, n, sequence, at, kind, by_seat, by_name, by_role, target_seat, target_name,
				target_role, details)
			SELECT id, 1, 1, created_at, 'host.muted', id, 'Ada', 'host', id, 'Ben', 'guest', '{}' FROM rooms`,
		`INSERT INTO breakouts (room_id, n, name, session, opened_at, closed_at)
			SELECT id, 1, 'One', 2, created_at, ended_at FROM rooms`,
		`INSERT INTO idempotency_records (id, body_hash, sealed_text, expires_at)
			SELECT id || column1, id, '', created_at + 31536000000 FROM rooms CROSS JOIN ` + tenTimes,
		`INSERT INTO rejected_calls (day, api, cause, address, calls, last_at)
			SELECT created_at, 'v3', 'unknown_key', id || column1, 1, created_at FROM rooms CROSS JOIN ` + tenTimes,
		`INSERT INTO console_sessions (id, secret_hash, token_id, user_id, name, role, project_ids, created_at, expires_at)
			SELECT id || column1, id || column1, id, '', '', '', '', created_at, created_at + 43200000
			FROM rooms CROSS JOIN ` + tenTimes,
		`INSERT INTO counts (subject, period, n, last_at) SELECT id, 'total', 1, created_at FROM rooms`,
		`INSERT INTO project_events (id, project_id, sequence, type, at, data)
			SELECT id, project_id, row_number() OVER (PARTITION BY project_id ORDER BY id), 'type', created_at, '{}' FROM rooms`,
		`INSERT INTO audit (n, at, actor_kind, actor_id, actor_name, request_id, address, node, action, subject,
				project_id, before, after, prev_hash, hash)
			SELECT (SELECT n FROM audit_chain) + row_number() OVER (ORDER BY id), created_at, 'service', '', '', '', '', '',
				'room.ended', id, project_id, '{}', '{}', '', '' FROM rooms`,
		`UPDATE audit_chain SET n = (SELECT max(n) FROM audit)`,
		`INSERT INTO client_room_ids (project_id, client_room_id)
			SELECT project_id, id || column1 FROM rooms CROSS JOIN ` + tenTimes,
		`INSERT INTO call_totals (project_id, at, accepted, rejected)
			SELECT project_id, at, count(*), 0 FROM
				(SELECT project_id, created_at - created_at % 300000 + 31536000000 AS at FROM rooms) AS r GROUP BY 1, 2`,
		// Many projects or organizations, the id of each is that of a room, because these
		// tables are read by project or organization and have few rows for each.
		`INSERT INTO organizations (id, name, billing, created_at) SELECT id, 'Acme', 'plan', created_at FROM rooms`,
		`INSERT INTO projects (id, organization_id, name, status, settings, created_at)
			SELECT r.id, CASE WHEN ended_at % 2 = 0 THEN p.organization_id ELSE r.id END, 'Lessons', 'active', '{}', r.created_at
			FROM rooms r JOIN projects p ON p.id = r.project_id WHERE r.project_id <> '` + p.ID + `'`,
		`INSERT INTO api_keys (id, project_id, slot, key_hash, sealed_key, sealed_gateway_secret, created_at)
			SELECT id, id, 'current', id, id, id, created_at FROM projects WHERE id NOT IN (SELECT project_id FROM api_keys)`,
		`INSERT INTO api_keys (id, project_id, slot, key_hash, sealed_key, sealed_gateway_secret, created_at,
				overlap_ends_at, notice_at)
			SELECT id || 'o', id, 'overlap', id || 'o', id, id, created_at, created_at, created_at FROM projects
			WHERE created_at % 500 = 0`,
		`INSERT INTO api_keys (id, project_id, slot, key_hash, sealed_key, sealed_gateway_secret, created_at, retired_at)
			SELECT id || 'r', id, 'retired', id || 'r', id, id, created_at, created_at FROM projects
			WHERE created_at % 501 = 0`,
		`INSERT INTO project_secrets (id, project_id, slot, sealed_secret, created_at, overlap_ends_at, retired_at, notice_at)
			SELECT id, project_id, slot, sealed_key, created_at, overlap_ends_at, retired_at, notice_at FROM api_keys
			WHERE project_id NOT IN (SELECT project_id FROM project_secrets)`,
		`INSERT INTO key_callers (project_id, slot, at, address, user_agent)
			SELECT id, 'current', created_at, '192.0.2.1', '' FROM projects`,
		`INSERT INTO recent_key_callers (project_id, slot, address, user_agent, at)
			SELECT project_id, slot, address, user_agent, at FROM key_callers`,
		`INSERT INTO daily_quotas (project_id, subject, day, used) SELECT id, 'rooms', 1, 1 FROM projects`,
		`INSERT INTO usage_late_reports (id, organization_id, hour) SELECT id, id, created_at FROM rooms`,
		// A rebuild has many hours, and an outage has many reports of each.
		`INSERT INTO usage_late_reports (id, organization_id, hour)
			SELECT rooms.id || column1, organization_id, rooms.created_at - rooms.created_at % 3600000
			FROM rooms JOIN projects ON projects.id = project_id CROSS JOIN (VALUES (0), (1)) AS copies`,
		`INSERT INTO usage_progress (organization_id, rolled_up_until, version, days_version)
			SELECT id, created_at, 1, 0 FROM organizations`,
		`INSERT INTO project_logos (project_id, hash, format, width, height, image)
			SELECT id, id, 'png', 1, 1, 'image' FROM projects`,
		`INSERT INTO request_log (project_id, n, first_n, size, calls) SELECT id, 1, 1, 1, '[]' FROM rooms`,
		// A busy project has many accepted blocks and few of rejected calls.
		`INSERT INTO request_log (project_id, n, first_n, size, calls, accepted)
			SELECT project_id, n, n, 1, '[]', n % 500 <> 0 FROM
				(SELECT project_id, 4000000000000000000 + row_number() OVER (ORDER BY id) AS n FROM rooms) AS r`,
		`INSERT INTO past_room_counts (project_id, day, id, rooms) SELECT id, 0, '', 1 FROM rooms`,
		`INSERT INTO usage_hours (organization_id, project_id, hour, audio_base, video_base, audio_change, video_change,
				audio_millis, video_millis, rise, rooms, sessions)
			SELECT organization_id, project_id, rooms.created_at - rooms.created_at % 3600000, 0, 0, 0, 0, 0, 0, 0,
				count(*), 0 FROM rooms JOIN projects ON projects.id = project_id GROUP BY 1, 2, 3`,
		`INSERT INTO usage_days (organization_id, project_id, day, audio_change, video_change, audio_millis, video_millis,
				rise, rooms, sessions)
			SELECT organization_id, project_id, hour, 0, 0, 0, 0, 0, rooms, 0 FROM usage_hours`,
	} {
		if _, err := raw.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	storetest.Pack(t, db, end.AddDate(0, -1, 0))
	if d.URL != "" {
		if _, err := raw.Exec(`VACUUM ANALYZE`); err != nil {
			t.Fatal(err)
		}
	}
	return p, other, small
}
