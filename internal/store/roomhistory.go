package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/internal/db"
	"parley/internal/room"
)

// attendanceRecordTable lists the columns of room.AttendanceRecord beside those of
// room.Attendance.
var attendanceRecordTable = newTable("seats",
	text("name", func(r *room.AttendanceRecord) *string { return &r.Name }),
	text("user_id", func(r *room.AttendanceRecord) *string { return &r.UserID }),
	text("role", func(r *room.AttendanceRecord) *room.Role { return &r.Role }),
	number("breakout", func(r *room.AttendanceRecord) *int { return &r.Breakout }),
)

var (
	attendanceRecordColumns = attendanceRecordTable.qualified("s.") + ", " + attendanceTable.qualified("a.")
	attendanceRecordOrder   = " ORDER BY a.joined_at, a.id"

	selectAttendanceRecords = "SELECT " + attendanceRecordColumns + ` FROM seats s
		JOIN attendance a ON a.seat_id = s.id
		WHERE s.room_id = $1 AND NOT a.hidden` + attendanceRecordOrder
	selectCurrentRecords = "SELECT " + attendanceRecordColumns + ` FROM attendance a
		JOIN seats s ON s.id = a.seat_id JOIN rooms r ON r.id = a.room_id
		WHERE a.left_at IS NULL AND NOT a.hidden AND r.project_id = $1 AND `
	selectCurrentRecordsOfRoom    = selectCurrentRecords + "a.room_id = $2" + attendanceRecordOrder
	selectCurrentRecordsOfProject = selectCurrentRecords +
		"a.room_id IN (SELECT id FROM rooms WHERE due_at IS NOT NULL)" + attendanceRecordOrder
)

// AttendanceRecords starts from the seats of the room, because attendance has no
// index on room_id that covers past connections.
func (s *DB) AttendanceRecords(ctx context.Context, roomID string) ([]room.AttendanceRecord, error) {
	return s.queryAttendanceRecords(ctx, selectAttendanceRecords, roomID)
}

func (s *DB) CurrentAttendanceRecords(
	ctx context.Context, projectID, roomID string,
) ([]room.AttendanceRecord, error) {
	if roomID != "" {
		return s.queryAttendanceRecords(ctx, selectCurrentRecordsOfRoom, projectID, roomID)
	}
	return s.queryAttendanceRecords(ctx, selectCurrentRecordsOfProject, projectID)
}

func (s *DB) queryAttendanceRecords(ctx context.Context, q string, args ...any) ([]room.AttendanceRecord, error) {
	more := func(r *room.AttendanceRecord) []any { return attendanceTable.dests(&r.Attendance) }
	return queryAllMore(ctx, s, attendanceRecordTable, more, q, args...)
}

var selectRunningRooms = "SELECT " + roomTable.selectList + `
	FROM (SELECT id AS due FROM rooms WHERE due_at IS NOT NULL) AS unfinished
	CROSS JOIN rooms WHERE id = due AND project_id = $1 AND (state = 'open' OR state = 'active') ORDER BY id`

// RunningRooms uses the index of due rooms to find the few rooms that are not
// over. CROSS JOIN makes SQLite start there instead of with all rooms of the
// project.
func (s *DB) RunningRooms(ctx context.Context, projectID string) ([]*room.Room, error) {
	var all []*room.Room
	err := s.Query(ctx, selectRunningRooms, []any{projectID}, func(row db.Row) error {
		r := new(room.Room)
		all = append(all, r)
		return row.Scan(roomTable.dests(r)...)
	})
	return all, err
}

var pastRoomTable = newTable("rooms",
	text("id", func(p *room.PastRoom) *string { return &p.ID }),
	number("session", func(p *room.PastRoom) *int { return &p.Session }),
	text("title", func(p *room.PastRoom) *string { return &p.Title }),
	text("webhook_url", func(p *room.PastRoom) *string { return &p.WebhookURL }),
	timestamp("created_at", func(p *room.PastRoom) *time.Time { return &p.CreatedAt }),
	timestamp("ended_at", func(p *room.PastRoom) *time.Time { return &p.EndedAt }),
)

func (s *DB) PastRooms(
	ctx context.Context, projectID string, q room.PastQuery,
) ([]room.PastRoom, int, error) {
	where, args := ` FROM rooms r WHERE r.project_id = $1 AND r.ended_at IS NOT NULL`, []any{projectID}
	if q.IDs != nil {
		params := make([]string, len(q.IDs))
		for i, id := range q.IDs {
			args = append(args, id)
			params[i] = fmt.Sprintf("$%d", len(args))
		}
		if len(params) == 0 {
			return nil, 0, nil
		}
		where += ` AND r.id IN (` + strings.Join(params, ", ") + `)`
	}
	total := 0
	if err := s.QueryRow(ctx, nil, `SELECT count(*)`+where, args, &total); err != nil {
		return nil, 0, err
	}
	order := "DESC"
	if q.Ascending {
		order = "ASC"
	}
	args = append(args, q.Limit, q.Offset)
	list := `SELECT ` + pastRoomTable.qualified("r.") + `,
		(SELECT count(*) FROM seats s WHERE s.room_id = r.id
			AND EXISTS (SELECT 1 FROM attendance a WHERE a.seat_id = s.id AND NOT a.hidden))` + where +
		fmt.Sprintf(` ORDER BY r.ended_at %[1]s, r.id %[1]s LIMIT $%[2]d OFFSET $%[3]d`, order, len(args)-1, len(args))
	more := func(p *room.PastRoom) []any { return []any{&p.ParticipantCount} }
	all, err := queryAllMore(ctx, s, pastRoomTable, more, list, args...)
	return all, total, err
}
