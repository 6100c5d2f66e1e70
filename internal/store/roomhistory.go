package store

import (
	"context"
	"fmt"
	"strings"

	"parley/internal/room"
)

const attendanceRecordColumns = `a.id, a.room_id, a.session, a.seat_id, a.connection, a.hidden, a.node, a.joined_at, a.left_at, a.reason,
	s.name, s.user_id, s.role, s.breakout`

// AttendanceRecords starts from the seats of the room, because attendance has no
// index on room_id that covers past connections.
func (db *DB) AttendanceRecords(ctx context.Context, roomID string) ([]room.AttendanceRecord, error) {
	return db.queryAttendanceRecords(ctx, `SELECT `+attendanceRecordColumns+` FROM seats s JOIN attendance a ON a.seat_id = s.id
		WHERE s.room_id = $1 AND NOT a.hidden ORDER BY a.joined_at, a.id`, roomID)
}

func (db *DB) CurrentAttendanceRecords(ctx context.Context, projectID, roomID string) ([]room.AttendanceRecord, error) {
	const now = `SELECT ` + attendanceRecordColumns + ` FROM attendance a JOIN seats s ON s.id = a.seat_id JOIN rooms r ON r.id = a.room_id
		WHERE a.left_at IS NULL AND NOT a.hidden AND r.project_id = $1 AND `
	const order = ` ORDER BY a.joined_at, a.id`
	if roomID != "" {
		return db.queryAttendanceRecords(ctx, now+`a.room_id = $2`+order, projectID, roomID)
	}
	return db.queryAttendanceRecords(ctx, now+`a.room_id IN (SELECT id FROM rooms WHERE due_at IS NOT NULL)`+order, projectID)
}

func (db *DB) queryAttendanceRecords(ctx context.Context, q string, args ...any) ([]room.AttendanceRecord, error) {
	var all []room.AttendanceRecord
	err := db.query(ctx, q, args, func(scan func(...any) error) error {
		var s room.AttendanceRecord
		err := scan(&s.ID, &s.RoomID, &s.Session, &s.SeatID, &s.Connection, &s.Hidden, &s.Node, nullTime{&s.JoinedAt}, nullTime{&s.LeftAt}, &s.Reason,
			&s.Name, &s.UserID, &s.Role, &s.Breakout)
		all = append(all, s)
		return err
	})
	return all, err
}

var selectRunningRooms = "SELECT " + roomTable.list + `
	FROM (SELECT id AS due FROM rooms WHERE due_at IS NOT NULL) AS unfinished
	CROSS JOIN rooms WHERE id = due AND project_id = $1 AND (state = 'open' OR state = 'active') ORDER BY id`

// RunningRooms uses the index of due rooms to find the few rooms that are not
// over. CROSS JOIN makes SQLite start there instead of with all rooms of the
// project.
func (db *DB) RunningRooms(ctx context.Context, projectID string) ([]*room.Room, error) {
	var all []*room.Room
	err := db.query(ctx, selectRunningRooms, []any{projectID}, func(scan func(...any) error) error {
		r := new(room.Room)
		all = append(all, r)
		return scan(roomTable.dests(r)...)
	})
	return all, err
}

func (db *DB) PastRooms(ctx context.Context, projectID string, q room.PastQuery) ([]room.PastRoom, int, error) {
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
	if err := db.queryRow(ctx, nil, `SELECT count(*)`+where, args, &total); err != nil {
		return nil, 0, err
	}
	order := "DESC"
	if q.Ascending {
		order = "ASC"
	}
	args = append(args, q.Limit, q.Offset)
	var all []room.PastRoom
	err := db.query(ctx, `SELECT r.id, r.session, r.title, r.webhook_url, r.created_at, r.ended_at,
		(SELECT count(*) FROM seats s WHERE s.room_id = r.id AND EXISTS (SELECT 1 FROM attendance a WHERE a.seat_id = s.id AND NOT a.hidden))`+where+
		fmt.Sprintf(` ORDER BY r.ended_at %[1]s, r.id %[1]s LIMIT $%[2]d OFFSET $%[3]d`, order, len(args)-1, len(args)), args,
		func(scan func(...any) error) error {
			var p room.PastRoom
			err := scan(&p.ID, &p.Session, &p.Title, &p.WebhookURL, nullTime{&p.CreatedAt}, nullTime{&p.EndedAt}, &p.ParticipantCount)
			all = append(all, p)
			return err
		})
	return all, total, err
}
