package store

import (
	"context"
	"fmt"
	"time"

	"parley/internal/db"
	"parley/internal/room"
)

func (s *DB) InsertSession(ctx context.Context, session room.Session, at time.Time) error {
	err := s.Exec(ctx, `INSERT INTO sessions (room_id, n, breakout, state, started_at, project_id)
		VALUES ($1, $2, $3, $4, $5, (SELECT project_id FROM rooms WHERE id = $1))`,
		session.RoomID, session.N, session.Breakout, session.State, db.NullMillis(at))
	if err != nil || !s.mayBeRolledUp(at) {
		return err
	}
	var projectID string
	err = s.QueryRow(ctx, nil, `SELECT project_id FROM rooms WHERE id = $1`, []any{session.RoomID},
		db.ScanString(&projectID))
	if err != nil {
		return err
	}
	return s.recordIfRolledUp(ctx, fmt.Sprintf("%s/%d/started_at", session.RoomID, session.N), projectID, at)
}

// CloseSessions keeps the end of a session that is already closing.
func (s *DB) CloseSessions(ctx context.Context, roomID string, breakoutsOnly bool, at time.Time) error {
	only := ``
	if breakoutsOnly {
		only = ` AND breakout > 0`
	}
	err := s.Exec(ctx, `UPDATE sessions SET state = 'closing', ended_at = $2 WHERE room_id = $1 AND state = 'live'`+only,
		roomID, db.NullMillis(at))
	if err != nil {
		return err
	}
	return s.Exec(ctx, `UPDATE breakouts SET closed_at = $2 WHERE room_id = $1 AND closed_at IS NULL`,
		roomID, db.NullMillis(at))
}

func (s *DB) MarkSessionClosed(ctx context.Context, session room.Session) error {
	return s.Exec(ctx, `UPDATE sessions SET state = 'closed' WHERE room_id = $1 AND n = $2`,
		session.RoomID, session.N)
}

func (s *DB) Sessions(ctx context.Context, state room.SessionState) ([]room.Session, error) {
	var sessions []room.Session
	// The second condition repeats that of the partial index, so that both
	// engines use the index.
	const q = `SELECT room_id, n, breakout FROM sessions WHERE state = $1 AND state <> 'closed'`
	err := s.Query(ctx, q, []any{state}, func(row db.Row) error {
		session := room.Session{State: state}
		if err := row.Scan(&session.RoomID, &session.N, &session.Breakout); err != nil {
			return err
		}
		sessions = append(sessions, session)
		return nil
	})
	return sessions, err
}

var breakoutTable = newTable("breakouts",
	text("room_id", func(b *room.Breakout) *string { return &b.RoomID }),
	number("n", func(b *room.Breakout) *int { return &b.N }),
	text("name", func(b *room.Breakout) *string { return &b.Name }),
	number("session", func(b *room.Breakout) *int { return &b.Session }),
	timestamp("opened_at", func(b *room.Breakout) *time.Time { return &b.OpenedAt }),
	timestamp("closed_at", func(b *room.Breakout) *time.Time { return &b.ClosedAt }),
)

var (
	selectBreakouts = breakoutTable.selectFrom + "WHERE room_id = $1 ORDER BY n"
	insertBreakout  = breakoutTable.insertQuery()
)

func (s *DB) InsertBreakout(ctx context.Context, b room.Breakout) error {
	return s.Exec(ctx, insertBreakout, breakoutTable.values(&b)...)
}

func (s *DB) Breakouts(ctx context.Context, roomID string) ([]room.Breakout, error) {
	return queryAll(ctx, s, breakoutTable, selectBreakouts, roomID)
}
