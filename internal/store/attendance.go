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
	text("connection_type", func(a *room.Attendance) *room.ConnectionType { return &a.ConnectionType }),
	text("quality", func(a *room.Attendance) *room.ConnectionQuality { return &a.Quality }),
	duration("poor_millis", time.Millisecond, func(a *room.Attendance) *time.Duration { return &a.PoorFor }),
	// Copies, because usage is read by project and time.
	computed[room.Attendance]("project_id", "(SELECT project_id FROM rooms WHERE id = $2)"),
	computed[room.Attendance]("room_type", "(SELECT type FROM rooms WHERE id = $2)"),
)

var (
	selectCurrentAttendance = attendanceTable.selectFrom +
		"WHERE room_id = $1 AND left_at IS NULL ORDER BY joined_at, id"
	selectLatestAttendance = attendanceTable.selectFrom + "WHERE seat_id = $1 AND connection = $2"
	insertAttendance       = attendanceTable.insertQuery() + " ON CONFLICT (seat_id, connection) DO NOTHING RETURNING id"
)

func (s *DB) InsertAttendance(ctx context.Context, a room.Attendance, now time.Time) (bool, error) {
	fresh := false
	err := s.ExecReturning(ctx, insertAttendance, attendanceTable.values(&a),
		func(db.Row) error { fresh = true; return nil })
	if err != nil || !fresh {
		return false, err
	}
	if err := s.recordIfLate(ctx, a.ID, joinMove, a.JoinedAt, now); err != nil || a.LeftAt.IsZero() {
		return true, err
	}
	return true, s.recordIfLate(ctx, a.ID, leaveMove, a.LeftAt, now)
}

func (s *DB) CurrentAttendance(ctx context.Context, roomID string) ([]room.Attendance, error) {
	return queryAll(ctx, s, attendanceTable, selectCurrentAttendance, roomID)
}

func (s *DB) LatestAttendance(ctx context.Context, seat room.Seat) (room.Attendance, error) {
	found, err := queryAll(ctx, s, attendanceTable, selectLatestAttendance, seat.ID, seat.Connection)
	if err != nil || len(found) == 0 {
		return room.Attendance{}, err
	}
	return found[0], nil
}

func (s *DB) EndAttendance(ctx context.Context, a room.Attendance, now time.Time) error {
	err := s.Exec(ctx, `UPDATE attendance SET left_at = $2, reason = $3 WHERE id = $1 AND left_at IS NULL`,
		a.ID, db.NullMillis(a.LeftAt), a.Reason)
	if err != nil {
		return err
	}
	return s.recordIfLate(ctx, a.ID, leaveMove, a.LeftAt, now)
}

func (s *DB) UpdateQuality(ctx context.Context, a room.Attendance) error {
	return s.Exec(ctx, `UPDATE attendance SET quality = $2, poor_millis = $3 WHERE id = $1 AND left_at IS NULL`,
		a.ID, a.Quality, a.PoorFor.Milliseconds())
}

// attendanceMove is a column of attendance with the time of a move.
type attendanceMove string

const (
	joinMove  attendanceMove = "joined_at"
	leaveMove attendanceMove = "left_at"
)

// recordIfLate records a late report of a move that is stored at now, if the attendance
// has this move. It compares times, because a rollup that runs at the same time could have
// missed the move before its progress shows it, and another node, whose clock may be ahead,
// may run it. It compares the progress, because the clock of this machine may have been set
// back. The join and the leave have different IDs, because a rollup may have missed only one
// of them.
func (s *DB) recordIfLate(ctx context.Context, attendanceID string, move attendanceMove, at, now time.Time) error {
	late := s.onLatestClock(now).Sub(at) >= room.ReportDelay
	if !late && !s.mayBeRolledUp(at) {
		return nil
	}
	return s.Exec(ctx, `INSERT INTO usage_late_reports (id, organization_id, hour)
		SELECT $1, p.organization_id, $2 FROM attendance a JOIN projects p ON p.id = a.project_id
			LEFT JOIN usage_progress u ON u.organization_id = p.organization_id
		WHERE a.id = $3 AND a.`+string(move)+` = $4 AND ($5 OR u.rolled_up_until > $4) ON CONFLICT DO NOTHING`,
		attendanceID+"/"+string(move), at.Truncate(time.Hour).UnixMilli(), attendanceID, at.UnixMilli(), late)
}

func (s *DB) RoomsOfNode(ctx context.Context, node string) ([]string, error) {
	return s.queryStrings(ctx, `SELECT DISTINCT room_id FROM attendance WHERE node = $1 AND left_at IS NULL`, node)
}
