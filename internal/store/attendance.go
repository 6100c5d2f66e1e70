package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/room"
)

var attendanceTable = db.NewTable("attendance",
	db.Text("id", func(a *room.Attendance) *string { return &a.ID }),
	db.Text("room_id", func(a *room.Attendance) *string { return &a.RoomID }),
	db.Number("session", func(a *room.Attendance) *int { return &a.Session }),
	db.Text("seat_id", func(a *room.Attendance) *string { return &a.SeatID }),
	db.Text("connection", func(a *room.Attendance) *string { return &a.Connection }),
	db.Boolean("hidden", func(a *room.Attendance) *bool { return &a.Hidden }),
	db.Text("node", func(a *room.Attendance) *string { return &a.Node }),
	db.Timestamp("joined_at", func(a *room.Attendance) *time.Time { return &a.JoinedAt }),
	db.Timestamp("left_at", func(a *room.Attendance) *time.Time { return &a.LeftAt }),
	db.Text("reason", func(a *room.Attendance) *room.LeaveReason { return &a.Reason }),
)

var (
	selectCurrentAttendance = attendanceTable.SelectFrom +
		"WHERE room_id = $1 AND left_at IS NULL ORDER BY joined_at, id"
	selectAttendance = attendanceTable.SelectFrom + "WHERE room_id = $1 ORDER BY joined_at, id"
	insertAttendance = attendanceTable.InsertQuery() + " ON CONFLICT (seat_id, connection) DO NOTHING RETURNING id"
)

func (s *Store) InsertAttendance(ctx context.Context, a room.Attendance) (bool, error) {
	if err := db.RequireTx(ctx); err != nil {
		return false, err
	}
	fresh := false
	err := s.Query(ctx, insertAttendance, attendanceTable.Values(&a),
		func(func(...any) error) error { fresh = true; return nil })
	return fresh, err
}

func (s *Store) CurrentAttendance(ctx context.Context, roomID string) ([]room.Attendance, error) {
	return db.QueryAll(ctx, s.DB, attendanceTable, selectCurrentAttendance, roomID)
}

// Attendance returns all connections in a room, past and current, ordered by the
// time of joining.
func (s *Store) Attendance(ctx context.Context, roomID string) ([]room.Attendance, error) {
	return db.QueryAll(ctx, s.DB, attendanceTable, selectAttendance, roomID)
}

// EndAttendance changes nothing if the connection has already ended.
func (s *Store) EndAttendance(ctx context.Context, id string, at time.Time, reason room.LeaveReason) error {
	return s.Exec(ctx, `UPDATE attendance SET left_at = $2, reason = $3 WHERE id = $1 AND left_at IS NULL`,
		id, db.NullMillis(at), reason)
}

func (s *Store) RoomsOfNode(ctx context.Context, node string) ([]string, error) {
	return s.QueryStrings(ctx, `SELECT DISTINCT room_id FROM attendance WHERE node = $1 AND left_at IS NULL`, node)
}
