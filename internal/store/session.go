package store

import (
	"context"
	"time"

	"parley/internal/room"
)

func (db *DB) InsertSession(ctx context.Context, s room.Session, at time.Time) error {
	return db.exec(ctx, `INSERT INTO sessions (room_id, n, breakout, state, started_at) VALUES ($1, $2, $3, $4, $5)`, s.RoomID, s.N, s.Breakout, s.State, nullMillis(at))
}

// CloseSessions keeps the end of a session that is already closing.
func (db *DB) CloseSessions(ctx context.Context, roomID string, breakoutsOnly bool, at time.Time) error {
	only := ``
	if breakoutsOnly {
		only = ` AND breakout > 0`
	}
	if err := db.exec(ctx, `UPDATE sessions SET state = 'closing', ended_at = $2 WHERE room_id = $1 AND state = 'live'`+only, roomID, nullMillis(at)); err != nil {
		return err
	}
	return db.exec(ctx, `UPDATE breakouts SET closed_at = $2 WHERE room_id = $1 AND closed_at IS NULL`, roomID, nullMillis(at))
}

func (db *DB) MarkSessionClosed(ctx context.Context, s room.Session) error {
	return db.exec(ctx, `UPDATE sessions SET state = 'closed' WHERE room_id = $1 AND n = $2`, s.RoomID, s.N)
}

func (db *DB) Sessions(ctx context.Context, state room.SessionState) ([]room.Session, error) {
	var sessions []room.Session
	// The second condition repeats that of the partial index, so that both
	// engines use the index.
	err := db.query(ctx, `SELECT room_id, n, breakout FROM sessions WHERE state = $1 AND state <> 'closed'`, []any{state}, func(scan func(...any) error) error {
		s := room.Session{State: state}
		if err := scan(&s.RoomID, &s.N, &s.Breakout); err != nil {
			return err
		}
		sessions = append(sessions, s)
		return nil
	})
	return sessions, err
}

func (db *DB) InsertBreakout(ctx context.Context, b room.Breakout) error {
	return db.exec(ctx, `INSERT INTO breakouts (room_id, n, name, session, opened_at, closed_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		b.RoomID, b.N, b.Name, b.Session, nullMillis(b.OpenedAt), nullMillis(b.ClosedAt))
}

func (db *DB) Breakouts(ctx context.Context, roomID string) ([]room.Breakout, error) {
	var all []room.Breakout
	err := db.query(ctx, `SELECT room_id, n, name, session, opened_at, closed_at FROM breakouts WHERE room_id = $1 ORDER BY n`, []any{roomID},
		func(scan func(...any) error) error {
			var b room.Breakout
			err := scan(&b.RoomID, &b.N, &b.Name, &b.Session, nullTime{&b.OpenedAt}, nullTime{&b.ClosedAt})
			all = append(all, b)
			return err
		})
	return all, err
}
