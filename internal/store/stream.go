package store

import (
	"context"
	"database/sql"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/webhook"
)

// streamTable inserts a stream without a lease. The column lane is the bucket, and
// claim is the lease.
var streamTable = db.NewTable("webhook_streams",
	db.Text("id", func(s *webhook.Stream) *string { return &s.ID }),
	db.Text("project_id", func(s *webhook.Stream) *string { return &s.ProjectID }),
	db.Text("room_id", func(s *webhook.Stream) *string { return &s.RoomID }),
	db.Text("url", func(s *webhook.Stream) *string { return &s.URL }),
	db.Text("replay", func(s *webhook.Stream) *string { return &s.Replay }),
	db.Text("lane", func(s *webhook.Stream) *string { return &s.Bucket }),
	db.Number("enqueued", func(s *webhook.Stream) *int64 { return &s.Enqueued }),
	db.Number("last_sequence", func(s *webhook.Stream) *int64 { return &s.LastSequence }),
	db.Text("claim", func(s *webhook.Stream) *string { return &s.LeaseID }).InsertedAs("''"),
)

var (
	selectStreams = streamTable.SelectFrom + "WHERE project_id = $1 AND room_id = $2 AND replay = '' ORDER BY id"
	insertStream  = db.NewInsertStmt(streamTable, db.BulkOptions{
		TableOrder: 3, Extra: []db.ExtraColumn{{Name: "due_at", SQLType: "bigint"}, {Name: "updated_at", SQLType: "bigint"}},
	})
)

func (s *Store) Streams(ctx context.Context, projectID, roomID string) ([]webhook.Stream, error) {
	return db.QueryAll(ctx, s.DB, streamTable, selectStreams, projectID, roomID)
}

func (s *Store) InsertStream(ctx context.Context, st webhook.Stream, now time.Time) error {
	return s.Insert(ctx, insertStream, streamTable.Values(&st, db.NullMillis(now), db.NullMillis(now))...)
}

// ExtendStream keeps the due time of a stream that has one.
func (s *Store) ExtendStream(ctx context.Context, st webhook.Stream, now time.Time) error {
	return s.Exec(ctx, `UPDATE webhook_streams SET enqueued = $2, last_sequence = $3,
			due_at = coalesce(due_at, $4), updated_at = $4 WHERE id = $1`,
		st.ID, st.Enqueued, st.LastSequence, now.UnixMilli())
}

// DueBuckets steps from bucket to bucket on the index, so that many streams in a
// bucket cost no more than one. The column lane is the bucket. The first stream
// of each is read by a scalar subquery, because PostgreSQL turns an EXISTS into a
// join that reads all streams.
func (s *Store) DueBuckets(ctx context.Context, now time.Time) ([]string, error) {
	return s.QueryStrings(ctx, `WITH RECURSIVE lanes (lane) AS (
			SELECT min(lane) FROM webhook_streams WHERE due_at IS NOT NULL
			UNION ALL
			SELECT (SELECT min(s.lane) FROM webhook_streams s WHERE s.due_at IS NOT NULL AND s.lane > lanes.lane)
				FROM lanes WHERE lanes.lane IS NOT NULL
		) SELECT lane FROM lanes WHERE lane IS NOT NULL
			AND (SELECT s.due_at FROM webhook_streams s WHERE s.lane = lanes.lane AND s.due_at IS NOT NULL
				ORDER BY s.due_at LIMIT 1) <= $1`, now.UnixMilli())
}

// LeaseStreams skips rows that another node is leasing at the same time, so that
// nodes do not wait for each other. The condition on due_at occurs twice: the
// inner one finds the rows, and PostgreSQL checks the outer one again if it had
// to wait for a lock, so that two nodes cannot lease the same stream. The cast
// prevents SQLite from planning the statement again each time, as it does if
// LIMIT is a bare parameter.
func (s *Store) LeaseStreams(
	ctx context.Context, bucket string, n int, leaseID string, now, until time.Time,
) ([]webhook.Stream, error) {
	lock, err := s.ForUpdateSkipLocked(ctx)
	if err != nil {
		return nil, err
	}
	q := `UPDATE webhook_streams SET claim = $1, due_at = $2 WHERE id IN (SELECT id FROM webhook_streams
			WHERE lane = $3 AND due_at <= $4 ORDER BY due_at LIMIT CAST($5 AS BIGINT)` + lock + `)
		AND due_at <= $4 RETURNING ` + streamTable.List
	return db.QueryAll(ctx, s.DB, streamTable, q, leaseID, until.UnixMilli(), bucket, now.UnixMilli(), n)
}

var errLeaseLost = fault.New(fault.Conflict, "claim_lost", "another node has leased this stream")

// ReleaseStream compares the enqueued column to detect added deliveries, because
// after a wait for a lock PostgreSQL reads the row again, but not other tables.
func (s *Store) ReleaseStream(ctx context.Context, st webhook.Stream, due, now time.Time) error {
	return s.ExecOne(ctx, errLeaseLost, `UPDATE webhook_streams SET claim = '',
		due_at = CASE WHEN CAST($3 AS BIGINT) IS NOT NULL THEN CAST($3 AS BIGINT)
			WHEN enqueued > $4 THEN CAST($5 AS BIGINT) END
		WHERE id = $1 AND claim = $2`, st.ID, st.LeaseID, db.NullMillis(due), st.Enqueued, now.UnixMilli())
}

var targetTable = db.NewTable("webhook_targets",
	db.Text("project_id", func(t *webhook.Target) *string { return &t.ProjectID }),
	db.Text("url", func(t *webhook.Target) *string { return &t.URL }),
	db.Number("failures", func(t *webhook.Target) *int { return &t.Failures }),
	db.Timestamp("failing_since", func(t *webhook.Target) *time.Time { return &t.FailingSince }),
	db.Timestamp("paused_at", func(t *webhook.Target) *time.Time { return &t.PausedAt }),
	db.Timestamp("probe_at", func(t *webhook.Target) *time.Time { return &t.ProbeAt }),
	db.Text("notice", func(t *webhook.Target) *string { return &t.Notice }),
)

var (
	selectTarget          = targetTable.SelectFrom + "WHERE project_id = $1 AND url = $2"
	selectTargets         = targetTable.SelectFrom + "ORDER BY project_id, url"
	selectProjectTargets  = targetTable.SelectFrom + "WHERE project_id = $1 ORDER BY url"
	insertOrUpdateFailure = `INSERT INTO webhook_targets (project_id, url, failures, failing_since, notice)
		VALUES ($1, $2, 1, $3, '')
		ON CONFLICT (project_id, url) DO UPDATE SET failures = webhook_targets.failures + 1
		RETURNING ` + targetTable.List

	selectNextDelivery = "SELECT " + deliveryTable.List + `,
			coalesce(failures, 0), failing_since, paused_at, probe_at, coalesce(notice, '')
		FROM webhook_deliveries LEFT JOIN webhook_targets USING (project_id, url)
		WHERE stream_id = $1 AND state = 'pending' ORDER BY position LIMIT 1`
)

// NextDelivery uses one query for the delivery and its target.
func (s *Store) NextDelivery(
	ctx context.Context, streamID string,
) (d webhook.Delivery, t webhook.Target, err error) {
	err = s.QueryRow(ctx, errDeliveryNotFound, selectNextDelivery, []any{streamID},
		deliveryTable.Dests(&d, &t.Failures, db.NullTime{Dest: &t.FailingSince}, db.NullTime{Dest: &t.PausedAt},
			db.NullTime{Dest: &t.ProbeAt}, &t.Notice)...)
	if t.Failures > 0 {
		t.ProjectID, t.URL = d.ProjectID, d.URL
	}
	return d, t, err
}

// PruneStreams keeps the streams of a project itself, because they hold the last
// sequence number.
func (s *Store) PruneStreams(ctx context.Context, before time.Time, limit int) error {
	return s.Exec(ctx, `DELETE FROM webhook_streams WHERE id IN (SELECT s.id FROM webhook_streams s
			WHERE s.updated_at < $1 AND s.due_at IS NULL AND (s.replay <> ''
				OR EXISTS (SELECT 1 FROM rooms r WHERE r.id = s.room_id AND r.ended_at IS NOT NULL)) LIMIT $2)
		AND due_at IS NULL`, before.UnixMilli(), limit)
}

func (s *Store) Target(ctx context.Context, projectID, url string) (webhook.Target, error) {
	all, err := db.QueryAll(ctx, s.DB, targetTable, selectTarget, projectID, url)
	if err != nil || len(all) == 0 {
		return webhook.Target{}, err
	}
	return all[0], nil
}

func (s *Store) Targets(ctx context.Context, projectID string) ([]webhook.Target, error) {
	if projectID == "" {
		return db.QueryAll(ctx, s.DB, targetTable, selectTargets)
	}
	return db.QueryAll(ctx, s.DB, targetTable, selectProjectTargets, projectID)
}

func (s *Store) RecordTargetFailure(
	ctx context.Context, projectID, url string, now time.Time,
) (webhook.Target, error) {
	if err := db.RequireTx(ctx); err != nil {
		return webhook.Target{}, err
	}
	t, err := db.QueryOne(ctx, s.DB, targetTable, sql.ErrNoRows, insertOrUpdateFailure, projectID, url, now.UnixMilli())
	if err != nil {
		return webhook.Target{}, err
	}
	return *t, nil
}

func (s *Store) PauseTarget(ctx context.Context, t webhook.Target) error {
	return s.Exec(ctx, `UPDATE webhook_targets SET paused_at = $3, probe_at = $4, notice = $5
			WHERE project_id = $1 AND url = $2`,
		t.ProjectID, t.URL, db.NullMillis(t.PausedAt), db.NullMillis(t.ProbeAt), t.Notice)
}

func (s *Store) AcquireProbe(
	ctx context.Context, projectID, url string, now, next time.Time,
) (acquired bool, err error) {
	if err := db.RequireTx(ctx); err != nil {
		return false, err
	}
	err = s.Query(ctx, `UPDATE webhook_targets SET probe_at = $4
			WHERE project_id = $1 AND url = $2 AND probe_at <= $3 RETURNING url`,
		[]any{projectID, url, now.UnixMilli(), next.UnixMilli()},
		func(func(...any) error) error { acquired = true; return nil })
	return acquired, err
}

// Postpone does not change leased streams, because their due_at is in the future.
func (s *Store) Postpone(ctx context.Context, projectID, url string, now, until time.Time) error {
	return s.Exec(ctx, `UPDATE webhook_streams SET due_at = $4, claim = ''
			WHERE project_id = $1 AND url = $2 AND due_at <= $3`,
		projectID, url, now.UnixMilli(), until.UnixMilli())
}

func (s *Store) ClearTarget(ctx context.Context, projectID, url string, now time.Time) error {
	err := s.Exec(ctx, `DELETE FROM webhook_targets WHERE project_id = $1 AND url = $2`, projectID, url)
	if err != nil {
		return err
	}
	return s.Exec(ctx, `UPDATE webhook_streams SET due_at = $3
			WHERE project_id = $1 AND url = $2 AND due_at > $3 AND claim = ''`,
		projectID, url, now.UnixMilli())
}
