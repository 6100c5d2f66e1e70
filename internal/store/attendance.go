package store

import (
	"context"
	"time"

	"parley/internal/room"
)

func (db *DB) InsertAttendance(ctx context.Context, a room.Attendance) (bool, error) {
	if _, ok := txFrom(ctx); !ok {
		return false, errNoTx
	}
	fresh := false
	err := db.query(ctx, `INSERT INTO attendance (`+attendanceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (seat_id, connection) DO NOTHING RETURNING id`,
		[]any{a.ID, a.RoomID, a.Session, a.SeatID, a.Connection, a.Hidden, a.Node, nullMillis(a.JoinedAt), nullMillis(a.LeftAt), a.Reason},
		func(func(...any) error) error { fresh = true; return nil })
	return fresh, err
}

const attendanceColumns = `id, room_id, session, seat_id, connection, hidden, node, joined_at, left_at, reason`

func (db *DB) CurrentAttendance(ctx context.Context, roomID string) ([]room.Attendance, error) {
	return db.queryAttendance(ctx, `SELECT `+attendanceColumns+` FROM attendance WHERE room_id = $1 AND left_at IS NULL ORDER BY joined_at, id`, roomID)
}

// Attendance returns all connections in a room, past and current, ordered by the
// time of joining.
func (db *DB) Attendance(ctx context.Context, roomID string) ([]room.Attendance, error) {
	return db.queryAttendance(ctx, `SELECT `+attendanceColumns+` FROM attendance WHERE room_id = $1 ORDER BY joined_at, id`, roomID)
}

func (db *DB) queryAttendance(ctx context.Context, q, roomID string) ([]room.Attendance, error) {
	var list []room.Attendance
	err := db.query(ctx, q, []any{roomID}, func(scan func(...any) error) error {
		var a room.Attendance
		if err := scan(&a.ID, &a.RoomID, &a.Session, &a.SeatID, &a.Connection, &a.Hidden, &a.Node, nullTime{&a.JoinedAt}, nullTime{&a.LeftAt}, &a.Reason); err != nil {
			return err
		}
		list = append(list, a)
		return nil
	})
	return list, err
}

// EndAttendance changes nothing if the connection has already ended.
func (db *DB) EndAttendance(ctx context.Context, id string, at time.Time, reason room.LeaveReason) error {
	return db.exec(ctx, `UPDATE attendance SET left_at = $2, reason = $3 WHERE id = $1 AND left_at IS NULL`, id, nullMillis(at), reason)
}

func (db *DB) RoomsOfNode(ctx context.Context, node string) ([]string, error) {
	var ids []string
	err := db.query(ctx, `SELECT DISTINCT room_id FROM attendance WHERE node = $1 AND left_at IS NULL`, []any{node}, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}
