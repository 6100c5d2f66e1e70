package store

import (
	"context"
	"database/sql"
	"time"

	"parley/internal/fault"
	"parley/internal/webhook"
)

// streamTable inserts a stream without a lease. The column lane is the bucket, and
// claim is the lease.
var streamTable = newTable("webhook_streams",
	text("id", func(s *webhook.Stream) *string { return &s.ID }),
	text("project_id", func(s *webhook.Stream) *string { return &s.ProjectID }),
	text("room_id", func(s *webhook.Stream) *string { return &s.RoomID }),
	text("url", func(s *webhook.Stream) *string { return &s.URL }),
	text("replay", func(s *webhook.Stream) *string { return &s.Replay }),
	text("lane", func(s *webhook.Stream) *string { return &s.Bucket }),
	number("enqueued", func(s *webhook.Stream) *int64 { return &s.Enqueued }),
	number("last_sequence", func(s *webhook.Stream) *int64 { return &s.LastSequence }),
	text("claim", func(s *webhook.Stream) *string { return &s.LeaseID }).insertedAs("''"),
)

var (
	selectStreams = streamTable.selectFrom + "WHERE project_id = $1 AND room_id = $2 AND replay = '' ORDER BY id"
	insertStream  = newInsertStmt(streamTable, bulkOptions{
		tableOrder: 3, extra: []extraColumn{{"due_at", "bigint"}, {"updated_at", "bigint"}},
	})
)

func (db *DB) Streams(ctx context.Context, projectID, roomID string) ([]webhook.Stream, error) {
	return queryAll(ctx, db, streamTable, selectStreams, projectID, roomID)
}

func (db *DB) InsertStream(ctx context.Context, st webhook.Stream, now time.Time) error {
	return db.insert(ctx, insertStream, streamTable.values(&st, nullMillis(now), nullMillis(now))...)
}

// ExtendStream keeps the due time of a stream that has one.
func (db *DB) ExtendStream(ctx context.Context, st webhook.Stream, now time.Time) error {
	return db.exec(ctx, `UPDATE webhook_streams SET enqueued = $2, last_sequence = $3,
			due_at = coalesce(due_at, $4), updated_at = $4 WHERE id = $1`,
		st.ID, st.Enqueued, st.LastSequence, now.UnixMilli())
}

// DueBuckets steps from bucket to bucket on the index, so that many streams in a
// bucket cost no more than one. The column lane is the bucket. The first stream
// of each is read by a scalar subquery, because PostgreSQL turns an EXISTS into a
// join that reads all streams.
func (db *DB) DueBuckets(ctx context.Context, now time.Time) ([]string, error) {
	return db.queryStrings(ctx, `WITH RECURSIVE lanes (lane) AS (
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
func (db *DB) LeaseStreams(
	ctx context.Context, bucket string, n int, leaseID string, now, until time.Time,
) ([]webhook.Stream, error) {
	t, ok := txFrom(ctx)
	if !ok {
		return nil, errNoTx
	}
	q := `UPDATE webhook_streams SET claim = $1, due_at = $2 WHERE id IN (SELECT id FROM webhook_streams
			WHERE lane = $3 AND due_at <= $4 ORDER BY due_at LIMIT CAST($5 AS BIGINT)` + t.forUpdateSkipLocked() + `)
		AND due_at <= $4 RETURNING ` + streamTable.list
	return queryAll(ctx, db, streamTable, q, leaseID, until.UnixMilli(), bucket, now.UnixMilli(), n)
}

var errLeaseLost = fault.New(fault.Conflict, "claim_lost", "another node has leased this stream")

// ReleaseStream compares the enqueued column to detect added deliveries, because
// after a wait for a lock PostgreSQL reads the row again, but not other tables.
func (db *DB) ReleaseStream(ctx context.Context, st webhook.Stream, due, now time.Time) error {
	return db.execOne(ctx, errLeaseLost, `UPDATE webhook_streams SET claim = '',
		due_at = CASE WHEN CAST($3 AS BIGINT) IS NOT NULL THEN CAST($3 AS BIGINT)
			WHEN enqueued > $4 THEN CAST($5 AS BIGINT) END
		WHERE id = $1 AND claim = $2`, st.ID, st.LeaseID, nullMillis(due), st.Enqueued, now.UnixMilli())
}

var targetTable = newTable("webhook_targets",
	text("project_id", func(t *webhook.Target) *string { return &t.ProjectID }),
	text("url", func(t *webhook.Target) *string { return &t.URL }),
	number("failures", func(t *webhook.Target) *int { return &t.Failures }),
	timestamp("failing_since", func(t *webhook.Target) *time.Time { return &t.FailingSince }),
	timestamp("paused_at", func(t *webhook.Target) *time.Time { return &t.PausedAt }),
	timestamp("probe_at", func(t *webhook.Target) *time.Time { return &t.ProbeAt }),
	text("notice", func(t *webhook.Target) *string { return &t.Notice }),
)

var (
	selectTarget          = targetTable.selectFrom + "WHERE project_id = $1 AND url = $2"
	selectTargets         = targetTable.selectFrom + "ORDER BY project_id, url"
	selectProjectTargets  = targetTable.selectFrom + "WHERE project_id = $1 ORDER BY url"
	insertOrUpdateFailure = `INSERT INTO webhook_targets (project_id, url, failures, failing_since, notice)
		VALUES ($1, $2, 1, $3, '')
		ON CONFLICT (project_id, url) DO UPDATE SET failures = webhook_targets.failures + 1
		RETURNING ` + targetTable.list

	selectNextDelivery = "SELECT " + deliveryTable.list + `,
			coalesce(failures, 0), failing_since, paused_at, probe_at, coalesce(notice, '')
		FROM webhook_deliveries LEFT JOIN webhook_targets USING (project_id, url)
		WHERE stream_id = $1 AND state = 'pending' ORDER BY position LIMIT 1`
)

// NextDelivery uses one query for the delivery and its target.
func (db *DB) NextDelivery(
	ctx context.Context, streamID string,
) (d webhook.Delivery, t webhook.Target, err error) {
	err = db.queryRow(ctx, errDeliveryNotFound, selectNextDelivery, []any{streamID}, deliveryTable.dests(&d,
		&t.Failures, nullTime{&t.FailingSince}, nullTime{&t.PausedAt}, nullTime{&t.ProbeAt}, &t.Notice)...)
	if t.Failures > 0 {
		t.ProjectID, t.URL = d.ProjectID, d.URL
	}
	return d, t, err
}

// PruneStreams keeps the streams of a project itself, because they hold the last
// sequence number.
func (db *DB) PruneStreams(ctx context.Context, before time.Time, limit int) error {
	return db.exec(ctx, `DELETE FROM webhook_streams WHERE id IN (SELECT s.id FROM webhook_streams s
			WHERE s.updated_at < $1 AND s.due_at IS NULL AND (s.replay <> ''
				OR EXISTS (SELECT 1 FROM rooms r WHERE r.id = s.room_id AND r.ended_at IS NOT NULL)) LIMIT $2)
		AND due_at IS NULL`, before.UnixMilli(), limit)
}

func (db *DB) Target(ctx context.Context, projectID, url string) (webhook.Target, error) {
	all, err := queryAll(ctx, db, targetTable, selectTarget, projectID, url)
	if err != nil || len(all) == 0 {
		return webhook.Target{}, err
	}
	return all[0], nil
}

func (db *DB) Targets(ctx context.Context, projectID string) ([]webhook.Target, error) {
	if projectID == "" {
		return queryAll(ctx, db, targetTable, selectTargets)
	}
	return queryAll(ctx, db, targetTable, selectProjectTargets, projectID)
}

func (db *DB) RecordTargetFailure(
	ctx context.Context, projectID, url string, now time.Time,
) (webhook.Target, error) {
	if _, ok := txFrom(ctx); !ok {
		return webhook.Target{}, errNoTx
	}
	t, err := queryOne(ctx, db, targetTable, sql.ErrNoRows, insertOrUpdateFailure, projectID, url, now.UnixMilli())
	if err != nil {
		return webhook.Target{}, err
	}
	return *t, nil
}

func (db *DB) PauseTarget(ctx context.Context, t webhook.Target) error {
	return db.exec(ctx, `UPDATE webhook_targets SET paused_at = $3, probe_at = $4, notice = $5
			WHERE project_id = $1 AND url = $2`,
		t.ProjectID, t.URL, nullMillis(t.PausedAt), nullMillis(t.ProbeAt), t.Notice)
}

func (db *DB) AcquireProbe(
	ctx context.Context, projectID, url string, now, next time.Time,
) (acquired bool, err error) {
	if _, ok := txFrom(ctx); !ok {
		return false, errNoTx
	}
	err = db.query(ctx, `UPDATE webhook_targets SET probe_at = $4
			WHERE project_id = $1 AND url = $2 AND probe_at <= $3 RETURNING url`,
		[]any{projectID, url, now.UnixMilli(), next.UnixMilli()},
		func(func(...any) error) error { acquired = true; return nil })
	return acquired, err
}

// Postpone does not change leased streams, because their due_at is in the future.
func (db *DB) Postpone(ctx context.Context, projectID, url string, now, until time.Time) error {
	return db.exec(ctx, `UPDATE webhook_streams SET due_at = $4, claim = ''
			WHERE project_id = $1 AND url = $2 AND due_at <= $3`,
		projectID, url, now.UnixMilli(), until.UnixMilli())
}

func (db *DB) ClearTarget(ctx context.Context, projectID, url string, now time.Time) error {
	err := db.exec(ctx, `DELETE FROM webhook_targets WHERE project_id = $1 AND url = $2`, projectID, url)
	if err != nil {
		return err
	}
	return db.exec(ctx, `UPDATE webhook_streams SET due_at = $3
			WHERE project_id = $1 AND url = $2 AND due_at > $3 AND claim = ''`,
		projectID, url, now.UnixMilli())
}
