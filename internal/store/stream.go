package store

import (
	"context"
	"fmt"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/webhook"
)

// streamTable inserts a stream without a lease.
var streamTable = newTable("webhook_streams",
	text("id", func(s *webhook.Stream) *string { return &s.ID }),
	text("project_id", func(s *webhook.Stream) *string { return &s.ProjectID }),
	text("room_id", func(s *webhook.Stream) *string { return &s.RoomID }),
	text("url", func(s *webhook.Stream) *string { return &s.URL }),
	text("replay", func(s *webhook.Stream) *string { return &s.Replay }),
	text("bucket", func(s *webhook.Stream) *string { return &s.Bucket }),
	number("enqueued", func(s *webhook.Stream) *int64 { return &s.Enqueued }),
	number("last_sequence", func(s *webhook.Stream) *int64 { return &s.LastSequence }),
	text("lease_id", func(s *webhook.Stream) *string { return &s.LeaseID }).withConstant("''"),
)

var (
	selectStreams = streamTable.selectFrom + "WHERE project_id = $1 AND room_id = $2 AND replay = '' ORDER BY id"
	insertStream  = streamTable.newInsertStmt(3,
		db.InsertColumn{Name: "due_at", Type: "bigint"}, db.InsertColumn{Name: "updated_at", Type: "bigint"})
)

func (s *DB) Streams(ctx context.Context, projectID, roomID string) ([]webhook.Stream, error) {
	return queryAll(ctx, s, streamTable, selectStreams, projectID, roomID)
}

func (s *DB) InsertStream(ctx context.Context, st webhook.Stream, now time.Time) error {
	return s.Insert(ctx, insertStream, streamTable.values(&st, db.NullMillis(now), db.NullMillis(now))...)
}

// ExtendStream keeps the due time of a stream that has one.
func (s *DB) ExtendStream(ctx context.Context, st webhook.Stream, now time.Time) error {
	return s.Exec(ctx, `UPDATE webhook_streams SET enqueued = $2, last_sequence = $3,
			due_at = coalesce(due_at, $4), updated_at = $4 WHERE id = $1`,
		st.ID, st.Enqueued, st.LastSequence, now.UnixMilli())
}

// DueBuckets steps from bucket to bucket on the index, so that many streams in a
// bucket cost no more than one. The first stream
// of each is read by a scalar subquery, because PostgreSQL turns an EXISTS into a
// join that reads all streams.
func (s *DB) DueBuckets(ctx context.Context, now time.Time) ([]string, error) {
	return s.queryStrings(ctx, `WITH RECURSIVE buckets (bucket) AS (
			SELECT min(bucket) FROM webhook_streams WHERE due_at IS NOT NULL
			UNION ALL
			SELECT (SELECT min(s.bucket) FROM webhook_streams s WHERE s.due_at IS NOT NULL AND s.bucket > buckets.bucket)
				FROM buckets WHERE buckets.bucket IS NOT NULL
		) SELECT bucket FROM buckets WHERE bucket IS NOT NULL
			AND (SELECT s.due_at FROM webhook_streams s WHERE s.bucket = buckets.bucket AND s.due_at IS NOT NULL
				ORDER BY s.due_at LIMIT 1) <= $1`, now.UnixMilli())
}

// WebhookBacklog reads the pending deliveries in the order of their index, in which the
// oldest streams come first. It finds the next attempt like DueBuckets.
func (s *DB) WebhookBacklog(ctx context.Context, limit int) (webhook.Backlog, error) {
	var b webhook.Backlog
	err := s.QueryRow(ctx, nil, `WITH RECURSIVE buckets (bucket) AS (
			SELECT min(bucket) FROM webhook_streams WHERE due_at IS NOT NULL
			UNION ALL
			SELECT (SELECT min(s.bucket) FROM webhook_streams s WHERE s.due_at IS NOT NULL AND s.bucket > buckets.bucket)
				FROM buckets WHERE buckets.bucket IS NOT NULL
		) SELECT
			(SELECT min((SELECT s.due_at FROM webhook_streams s WHERE s.bucket = buckets.bucket AND s.due_at IS NOT NULL
				ORDER BY s.due_at LIMIT 1)) FROM buckets),
			(SELECT count(*) FROM webhook_targets WHERE paused_at IS NOT NULL),
			count(*), min(created_at) FROM (SELECT created_at FROM webhook_deliveries
				WHERE state = 'pending' ORDER BY stream_id, position LIMIT $1) AS pending`,
		[]any{limit}, db.ScanTime(&b.NextAttempt), &b.PausedTargets, &b.Pending, db.ScanTime(&b.OldestPending))
	return b, err
}

// LeaseStreams skips rows that another node is leasing at the same time, so that
// nodes do not wait for each other. The condition on due_at occurs twice: the
// inner one finds the rows, and PostgreSQL checks the outer one again if it had
// to wait for a lock, so that two nodes cannot lease the same stream. The cast
// prevents SQLite from planning the statement again each time, as it does if
// LIMIT is a bare parameter.
func (s *DB) LeaseStreams(
	ctx context.Context, bucket string, n int, leaseID string, now, until time.Time,
) ([]webhook.Stream, error) {
	forUpdate, err := s.ForUpdateSkipLocked(ctx)
	if err != nil {
		return nil, err
	}
	q := `UPDATE webhook_streams SET lease_id = $1, due_at = $2 WHERE id IN (SELECT id FROM webhook_streams
			WHERE bucket = $3 AND due_at <= $4 ORDER BY due_at LIMIT CAST($5 AS BIGINT)` + forUpdate + `)
		AND due_at <= $4 RETURNING ` + streamTable.selectList
	return queryAll(ctx, s, streamTable, q, leaseID, until.UnixMilli(), bucket, now.UnixMilli(), n)
}

var errLeaseLost = fault.New(fault.Conflict, "lease_lost", "another node has leased this stream")

// ReleaseStream compares the enqueued column to detect added deliveries, because
// after a wait for a lock PostgreSQL reads the row again, but not other tables.
func (s *DB) ReleaseStream(ctx context.Context, st webhook.Stream, due, now time.Time) error {
	return s.ExecOne(ctx, errLeaseLost, `UPDATE webhook_streams SET lease_id = '',
		due_at = CASE WHEN CAST($3 AS BIGINT) IS NOT NULL THEN CAST($3 AS BIGINT)
			WHEN enqueued > $4 THEN CAST($5 AS BIGINT) END
		WHERE id = $1 AND lease_id = $2`, st.ID, st.LeaseID, db.NullMillis(due), st.Enqueued, now.UnixMilli())
}

// StreamStates reads what a stream is waiting for in one query, so that its parts belong together.
func (s *DB) StreamStates(ctx context.Context, streamIDs []string) (map[string]webhook.StreamState, error) {
	states := map[string]webhook.StreamState{}
	list, args := inList(nil, streamIDs)
	err := s.Query(ctx, `SELECT s.id, s.due_at, s.lease_id, t.paused_at, t.probe_at,
			CASE WHEN t.paused_at IS NULL THEN 0 ELSE coalesce((SELECT min(d.position) FROM webhook_deliveries d
				WHERE d.stream_id = s.id AND d.state = 'pending'), 0) END
		FROM webhook_streams s LEFT JOIN webhook_targets t ON t.project_id = s.project_id AND t.url = s.url
		WHERE s.id IN `+list, args,
		func(row db.Row) error {
			var id, lease string
			var state webhook.StreamState
			var pausedAt, probeAt time.Time
			err := row.Scan(&id, db.ScanTime(&state.DueAt), &lease, db.ScanTime(&pausedAt), db.ScanTime(&probeAt),
				&state.FirstPending)
			state.Paused, state.Leased = !pausedAt.IsZero(), lease != ""
			if state.Paused && probeAt.IsZero() {
				state.DueAt = time.Time{}
			}
			states[id] = state
			return err
		})
	return states, err
}

var pendingStreamTable = newTable("webhook_deliveries",
	text("stream_id", func(p *webhook.PendingStream) *string { return &p.ID }),
	text("project_id", func(p *webhook.PendingStream) *string { return &p.ProjectID }),
	text("url", func(p *webhook.PendingStream) *string { return &p.URL }),
)

// PendingStreams reads the index of the pending deliveries, which are few.
func (s *DB) PendingStreams(ctx context.Context, q webhook.Retry) ([]webhook.PendingStream, error) {
	where, args := "state = 'pending'", []any(nil)
	only := func(condition string, value any) {
		args = append(args, value)
		where += fmt.Sprintf(" AND "+condition, len(args))
	}
	if q.ProjectID != "" {
		only(unindexed("project_id")+" = $%d", q.ProjectID)
	}
	if q.URL != "" {
		only("url = $%d", q.URL)
	}
	if !q.Since.IsZero() {
		only("created_at >= $%d", q.Since.UnixMilli())
	}
	if !q.Before.IsZero() {
		only("created_at < $%d", q.Before.UnixMilli())
	}
	columns := pendingStreamTable.selectList
	return queryAllMore(ctx, s, pendingStreamTable, func(p *webhook.PendingStream) []any { return []any{&p.Deliveries} },
		"SELECT "+columns+", count(*) FROM webhook_deliveries WHERE "+where+" GROUP BY "+columns+
			" ORDER BY project_id, stream_id", args...)
}

// RetryStreams does not change leased streams. The step of the delivery that is sent next
// goes back by one, so that the additional attempt uses up none of its schedule.
func (s *DB) RetryStreams(ctx context.Context, streamIDs []string, now time.Time) error {
	for _, id := range streamIDs {
		waiting := false
		err := s.ExecReturning(ctx, `UPDATE webhook_streams SET due_at = $2
			WHERE id = $1 AND due_at > $2 AND lease_id = '' RETURNING id`, []any{id, now.UnixMilli()},
			func(db.Row) error { waiting = true; return nil })
		if err != nil {
			return err
		}
		if !waiting {
			continue
		}
		err = s.Exec(ctx, `UPDATE webhook_deliveries SET step = step - 1 WHERE step > 0 AND id = (
			SELECT id FROM webhook_deliveries WHERE stream_id = $1 AND state = 'pending' ORDER BY position LIMIT 1)`, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// PruneStreams keeps the streams of a project itself, because they hold the last
// sequence number. The end of the room is read by a scalar subquery, because PostgreSQL
// may read the ids of all past rooms for an EXISTS.
func (s *DB) PruneStreams(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.execCounting(ctx, `DELETE FROM webhook_streams WHERE id IN (SELECT s.id FROM webhook_streams s
			WHERE s.updated_at < $1 AND s.due_at IS NULL AND (s.replay <> ''
				OR (SELECT r.ended_at FROM rooms r WHERE r.id = s.room_id) IS NOT NULL) LIMIT $2)
		AND due_at IS NULL RETURNING id`, before.UnixMilli(), limit)
}

// waitingStreams is the condition for the streams of project $1 to the URL $2 that have
// deliveries. It searches these few instead of all streams of the project.
var waitingStreams = `id IN (SELECT id FROM webhook_streams WHERE due_at IS NOT NULL)
	AND ` + unindexed("project_id") + ` = $1 AND url = $2`

// Postpone does not change leased streams, because their due_at is in the future.
func (s *DB) Postpone(ctx context.Context, projectID, url string, now, until time.Time) error {
	return s.Exec(ctx, `UPDATE webhook_streams SET due_at = $4, lease_id = ''
			WHERE `+waitingStreams+` AND due_at <= $3`,
		projectID, url, now.UnixMilli(), until.UnixMilli())
}
