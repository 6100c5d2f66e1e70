package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/room"
)

// useQuota counts for the day of the others if the other nodes are in the next day already. A later day comes from a
// clock that was wrong, and is replaced, so that it does not block the quota until then.
const useQuota = `INSERT INTO daily_quotas (project_id, subject, day, used) VALUES ($1, $2, $3, 1)
	ON CONFLICT (project_id, subject) DO UPDATE
	SET used = CASE WHEN daily_quotas.day BETWEEN excluded.day AND excluded.day + 1 THEN daily_quotas.used + 1 ELSE 1 END,
		day = CASE WHEN daily_quotas.day BETWEEN excluded.day AND excluded.day + 1 THEN daily_quotas.day ELSE excluded.day END
	RETURNING used`

func (s *DB) UseQuota(ctx context.Context, projectID string, subject room.QuotaSubject, day time.Time) (
	used int, err error,
) {
	// The lock comes first, because it does not wait in a transaction that holds other locks.
	forUpdate, err := s.ForUpdate(ctx)
	if err != nil {
		return 0, err
	}
	if _, err := s.queryStrings(ctx, "SELECT subject FROM daily_quotas WHERE project_id = $1 AND subject = $2"+forUpdate,
		projectID, string(subject)); err != nil {
		return 0, err
	}
	err = s.ExecReturning(ctx, useQuota, []any{projectID, string(subject), day.Unix() / int64(24*time.Hour/time.Second)},
		func(row db.Row) error { return row.Scan(&used) })
	return used, err
}
