package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/webhook"
)

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
	selectPausedTarget    = "SELECT url FROM webhook_targets WHERE project_id = $1 AND url = $2 AND paused_at IS NOT NULL"
	insertOrUpdateFailure = `INSERT INTO webhook_targets (project_id, url, failures, failing_since, notice)
		VALUES ($1, $2, 1, $3, '')
		ON CONFLICT (project_id, url) DO UPDATE SET failures = webhook_targets.failures + 1
		RETURNING ` + targetTable.selectList
)

func (s *DB) Target(ctx context.Context, projectID, url string) (webhook.Target, error) {
	all, err := queryAll(ctx, s, targetTable, selectTarget, projectID, url)
	if err != nil || len(all) == 0 {
		return webhook.Target{}, err
	}
	return all[0], nil
}

func (s *DB) Targets(ctx context.Context, projectID string) ([]webhook.Target, error) {
	if projectID == "" {
		return queryAll(ctx, s, targetTable, selectTargets)
	}
	return queryAll(ctx, s, targetTable, selectProjectTargets, projectID)
}

func (s *DB) RecordTargetFailure(
	ctx context.Context, projectID, url string, now time.Time,
) (webhook.Target, error) {
	var t webhook.Target
	err := s.ExecReturning(ctx, insertOrUpdateFailure, []any{projectID, url, now.UnixMilli()},
		func(row db.Row) error { return row.Scan(targetTable.dests(&t)...) })
	return t, err
}

func (s *DB) PauseTarget(ctx context.Context, t webhook.Target) error {
	return s.Exec(ctx, `UPDATE webhook_targets SET paused_at = $3, probe_at = $4, notice = $5
			WHERE project_id = $1 AND url = $2`,
		t.ProjectID, t.URL, db.NullMillis(t.PausedAt), db.NullMillis(t.ProbeAt), t.Notice)
}

var holdTarget = targetTable.insertQuery() + ` ON CONFLICT (project_id, url) DO UPDATE
	SET paused_at = excluded.paused_at, probe_at = excluded.probe_at, notice = excluded.notice`

func (s *DB) HoldTarget(ctx context.Context, t webhook.Target) error {
	return s.Exec(ctx, holdTarget, targetTable.values(&t)...)
}

func (s *DB) AcquireProbe(
	ctx context.Context, projectID, url string, now, next time.Time,
) (acquired bool, err error) {
	err = s.ExecReturning(ctx, `UPDATE webhook_targets SET probe_at = $4
			WHERE project_id = $1 AND url = $2 AND probe_at <= $3 RETURNING url`,
		[]any{projectID, url, now.UnixMilli(), next.UnixMilli()},
		func(db.Row) error { acquired = true; return nil })
	return acquired, err
}

func (s *DB) LockPausedTarget(ctx context.Context, projectID, url string) (paused bool, err error) {
	forUpdate, err := s.ForUpdate(ctx)
	if err != nil {
		return false, err
	}
	locked, err := s.queryStrings(ctx, selectPausedTarget+forUpdate, projectID, url)
	return len(locked) > 0, err
}

func (s *DB) ClearTarget(ctx context.Context, projectID, url string, now time.Time) error {
	_, err := s.clearTarget(ctx, projectID, url, now, "")
	return err
}

func (s *DB) ClearRecoveredTarget(
	ctx context.Context, projectID, url string, now time.Time,
) (webhook.Target, error) {
	return s.clearTarget(ctx, projectID, url, now, " AND (paused_at IS NULL OR probe_at IS NOT NULL)")
}

// PruneTargets reads all failure records, which are few because it deletes the old ones.
func (s *DB) PruneTargets(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.execCounting(ctx, `DELETE FROM webhook_targets WHERE (project_id, url) IN (SELECT project_id, url
			FROM webhook_targets WHERE failing_since < $1 AND (paused_at IS NULL OR probe_at IS NOT NULL)
			AND (project_id, url) NOT IN (SELECT project_id, url FROM webhook_streams WHERE due_at IS NOT NULL) LIMIT $2)
		RETURNING url`, before.UnixMilli(), limit)
}

// clearTarget deletes the failure record if it meets a condition, and returns it. It makes streams due only if the
// target was paused, because the others wait for their next attempt.
func (s *DB) clearTarget(
	ctx context.Context, projectID, url string, now time.Time, condition string,
) (webhook.Target, error) {
	var t webhook.Target
	err := s.ExecReturning(ctx, `DELETE FROM webhook_targets WHERE project_id = $1 AND url = $2`+condition+
		` RETURNING `+targetTable.selectList, []any{projectID, url},
		func(row db.Row) error { return row.Scan(targetTable.dests(&t)...) })
	if err != nil || !t.Paused() {
		return t, err
	}
	return t, s.Exec(ctx, `UPDATE webhook_streams SET due_at = $3
			WHERE `+waitingStreams+` AND due_at > $3 AND lease_id = ''`,
		projectID, url, now.UnixMilli())
}
