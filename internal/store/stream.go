package store

import (
	"context"
	"time"

	"parley/internal/db"
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
	text("claim", func(s *webhook.Stream) *string { return &s.LeaseID }).withConstant("''"),
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
// bucket cost no more than one. The column lane is the bucket. The first stream
// of each is read by a scalar subquery, because PostgreSQL turns an EXISTS into a
// join that reads all streams.
func (s *DB) DueBuckets(ctx context.Context, now time.Time) ([]string, error) {
	return s.queryStrings(ctx, `WITH RECURSIVE lanes (lane) AS (
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
func (s *DB) LeaseStreams(
	ctx context.Context, bucket string, n int, leaseID string, now, until time.Time,
) ([]webhook.Stream, error) {
	forUpdate, err := s.ForUpdateSkipLocked(ctx)
	if err != nil {
		return nil, err
	}
	q := `UPDATE webhook_streams SET claim = $1, due_at = $2 WHERE id IN (SELECT id FROM webhook_streams
			WHERE lane = $3 AND due_at <= $4 ORDER BY due_at LIMIT CAST($5 AS BIGINT)` + forUpdate + `)
		AND due_at <= $4 RETURNING ` + streamTable.selectList
	return queryAll(ctx, s, streamTable, q, leaseID, until.UnixMilli(), bucket, now.UnixMilli(), n)
}

var errLeaseLost = fault.New(fault.Conflict, "claim_lost", "another node has leased this stream")

// ReleaseStream compares the enqueued column to detect added deliveries, because
// after a wait for a lock PostgreSQL reads the row again, but not other tables.
func (s *DB) ReleaseStream(ctx context.Context, st webhook.Stream, due, now time.Time) error {
	return s.ExecOne(ctx, errLeaseLost, `UPDATE webhook_streams SET claim = '',
		due_at = CASE WHEN CAST($3 AS BIGINT) IS NOT NULL THEN CAST($3 AS BIGINT)
			WHEN enqueued > $4 THEN CAST($5 AS BIGINT) END
		WHERE id = $1 AND claim = $2`, st.ID, st.LeaseID, db.NullMillis(due), st.Enqueued, now.UnixMilli())
}

// PruneStreams keeps the streams of a project itself, because they hold the last
// sequence number.
func (s *DB) PruneStreams(ctx context.Context, before time.Time, limit int) error {
	return s.Exec(ctx, `DELETE FROM webhook_streams WHERE id IN (SELECT s.id FROM webhook_streams s
			WHERE s.updated_at < $1 AND s.due_at IS NULL AND (s.replay <> ''
				OR EXISTS (SELECT 1 FROM rooms r WHERE r.id = s.room_id AND r.ended_at IS NOT NULL)) LIMIT $2)
		AND due_at IS NULL`, before.UnixMilli(), limit)
}

// Postpone does not change leased streams, because their due_at is in the future.
func (s *DB) Postpone(ctx context.Context, projectID, url string, now, until time.Time) error {
	return s.Exec(ctx, `UPDATE webhook_streams SET due_at = $4, claim = ''
			WHERE project_id = $1 AND url = $2 AND due_at <= $3`,
		projectID, url, now.UnixMilli(), until.UnixMilli())
}
