package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/room"
	"parley/internal/usage"
)

// attendanceInPeriod selects the attendance of organization $1 that overlaps the
// period from $2 to $3.
const attendanceInPeriod = ` FROM attendance a JOIN rooms r ON r.id = a.room_id JOIN projects p ON p.id = r.project_id
	WHERE p.organization_id = $1 AND NOT a.hidden AND a.joined_at < $3 AND (a.left_at > $2 OR a.left_at IS NULL)
		AND (a.left_at > a.joined_at OR a.left_at IS NULL)`

// The part of an attendance within the period.
const (
	attendanceStart = `CASE WHEN a.joined_at < $2 THEN $2 ELSE a.joined_at END`
	attendanceEnd   = `CASE WHEN a.left_at < $3 THEN a.left_at ELSE $3 END`
)

func (s *DB) Totals(ctx context.Context, organizationID string, start, end, asOf time.Time) (usage.Totals, error) {
	var t usage.Totals
	period := []any{organizationID, start.UnixMilli(), asOf.UnixMilli()}
	err := s.Query(ctx, `SELECT r.type, CAST(sum(`+attendanceEnd+` - `+attendanceStart+`) AS BIGINT)`+
		attendanceInPeriod+` GROUP BY r.type`, period,
		func(row db.Row) error {
			var kind room.Type
			var ms int64
			if err := row.Scan(&kind, &ms); err != nil {
				return err
			}
			if kind == room.Audio {
				t.AudioMillis = ms
			} else {
				t.VideoMillis = ms
			}
			return nil
		})
	if err != nil {
		return usage.Totals{}, err
	}
	// A participant who leaves at the moment when another one joins is not
	// present at the same time, so at each moment the leaves (-1) come first.
	err = s.QueryRow(ctx, nil, `SELECT COALESCE(CAST(max(present) AS BIGINT), 0) FROM (
		SELECT sum(step) OVER (ORDER BY at, step ROWS UNBOUNDED PRECEDING) AS present FROM (
			SELECT `+attendanceStart+` AS at, 1 AS step`+attendanceInPeriod+`
			UNION ALL SELECT a.left_at AS at, -1 AS step`+attendanceInPeriod+` AND a.left_at <= $3
		) AS moves) AS levels`, period, &t.Peak)
	if err != nil {
		return usage.Totals{}, err
	}
	period = []any{organizationID, start.UnixMilli(), end.UnixMilli()}
	err = s.QueryRow(ctx, nil, `SELECT
			(SELECT count(*) FROM rooms r JOIN projects p ON p.id = r.project_id
				WHERE p.organization_id = $1 AND r.created_at >= $2 AND r.created_at < $3),
			(SELECT count(*) FROM sessions s JOIN rooms r ON r.id = s.room_id JOIN projects p ON p.id = r.project_id
				WHERE p.organization_id = $1 AND s.breakout = 0 AND s.started_at >= $2 AND s.started_at < $3)`,
		period, &t.RoomsCreated, &t.Sessions)
	return t, err
}
