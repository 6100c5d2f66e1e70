package store

import (
	"context"
	"time"

	"parley/internal/room"
)

func (db *DB) InsertSession(ctx context.Context, s room.Session, at time.Time) error {
	return db.exec(ctx, `INSERT INTO sessions (room_id, n, breakout, state, started_at) VALUES ($1, $2, $3, $4, $5)`,
		s.RoomID, s.N, s.Breakout, s.State, nullMillis(at))
}

// CloseSessions keeps the end of a session that is already closing.
func (db *DB) CloseSessions(ctx context.Context, roomID string, breakoutsOnly bool, at time.Time) error {
	only := ``
	if breakoutsOnly {
		only = ` AND breakout > 0`
	}
	err := db.exec(ctx, `UPDATE sessions SET state = 'closing', ended_at = $2 WHERE room_id = $1 AND state = 'live'`+only,
		roomID, nullMillis(at))
	if err != nil {
		return err
	}
	return db.exec(ctx, `UPDATE breakouts SET closed_at = $2 WHERE room_id = $1 AND closed_at IS NULL`,
		roomID, nullMillis(at))
}

func (db *DB) MarkSessionClosed(ctx context.Context, s room.Session) error {
	return db.exec(ctx, `UPDATE sessions SET state = 'closed' WHERE room_id = $1 AND n = $2`, s.RoomID, s.N)
}

func (db *DB) Sessions(ctx context.Context, state room.SessionState) ([]room.Session, error) {
	var sessions []room.Session
	// The second condition repeats that of the partial index, so that both
	// engines use the index.
	const q = `SELECT room_id, n, breakout FROM sessions WHERE state = $1 AND state <> 'closed'`
	err := db.query(ctx, q, []any{state}, func(scan func(...any) error) error {
		s := room.Session{State: state}
		if err := scan(&s.RoomID, &s.N, &s.Breakout); err != nil {
			return err
		}
		sessions = append(sessions, s)
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

func (db *DB) InsertBreakout(ctx context.Context, b room.Breakout) error {
	return db.exec(ctx, insertBreakout, breakoutTable.values(&b)...)
}

func (db *DB) Breakouts(ctx context.Context, roomID string) ([]room.Breakout, error) {
	return queryAll(ctx, db, breakoutTable, selectBreakouts, roomID)
}
