package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/room"
)

var attendanceTable = newTable("attendance",
	text("id", func(a *room.Attendance) *string { return &a.ID }),
	text("room_id", func(a *room.Attendance) *string { return &a.RoomID }),
	number("session", func(a *room.Attendance) *int { return &a.Session }),
	text("seat_id", func(a *room.Attendance) *string { return &a.SeatID }),
	text("connection", func(a *room.Attendance) *string { return &a.Connection }),
	boolean("hidden", func(a *room.Attendance) *bool { return &a.Hidden }),
	text("node", func(a *room.Attendance) *string { return &a.Node }),
	timestamp("joined_at", func(a *room.Attendance) *time.Time { return &a.JoinedAt }),
	timestamp("left_at", func(a *room.Attendance) *time.Time { return &a.LeftAt }),
	text("reason", func(a *room.Attendance) *room.LeaveReason { return &a.Reason }),
	// Copies, because usage is read by project and time.
	computed[room.Attendance]("project_id", "(SELECT project_id FROM rooms WHERE id = $2)"),
	computed[room.Attendance]("room_type", "(SELECT type FROM rooms WHERE id = $2)"),
)

var (
	selectCurrentAttendance = attendanceTable.selectFrom +
		"WHERE room_id = $1 AND left_at IS NULL ORDER BY joined_at, id"
	insertAttendance = attendanceTable.insertQuery() + " ON CONFLICT (seat_id, connection) DO NOTHING RETURNING id"
)

func (s *DB) InsertAttendance(ctx context.Context, a room.Attendance) (bool, error) {
	fresh := false
	err := s.ExecReturning(ctx, insertAttendance, attendanceTable.values(&a),
		func(db.Row) error { fresh = true; return nil })
	return fresh, err
}

func (s *DB) CurrentAttendance(ctx context.Context, roomID string) ([]room.Attendance, error) {
	return queryAll(ctx, s, attendanceTable, selectCurrentAttendance, roomID)
}

// EndAttendance changes nothing if the connection has already ended.
func (s *DB) EndAttendance(ctx context.Context, id string, at time.Time, reason room.LeaveReason) error {
	return s.Exec(ctx, `UPDATE attendance SET left_at = $2, reason = $3 WHERE id = $1 AND left_at IS NULL`,
		id, db.NullMillis(at), reason)
}

func (s *DB) RoomsOfNode(ctx context.Context, node string) ([]string, error) {
	return s.queryStrings(ctx, `SELECT DISTINCT room_id FROM attendance WHERE node = $1 AND left_at IS NULL`, node)
}

// RecordLateReport does nothing if the project does not exist.
func (s *DB) RecordLateReport(ctx context.Context, id, projectID string, at time.Time) error {
	return s.Exec(ctx, `INSERT INTO usage_late_reports (id, organization_id, hour)
		SELECT $1, organization_id, $3 FROM projects WHERE id = $2`, id, projectID, at.Truncate(time.Hour).UnixMilli())
}
