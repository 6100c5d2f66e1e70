package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store"
)

// Events returns all events of a room, ordered by sequence number.
func Events(ctx context.Context, s *store.DB, roomID string) ([]event.Event, error) {
	return s.RoomEvents(ctx, roomID, 0, 1<<30)
}

// ProjectEvents returns all events of a project itself, ordered by sequence number.
func ProjectEvents(ctx context.Context, s *store.DB, projectID string) ([]event.ProjectEvent, error) {
	var events []event.ProjectEvent
	err := s.Query(ctx, `SELECT id, project_id, sequence, type, at, data FROM project_events
			WHERE project_id = $1 ORDER BY sequence`, []any{projectID},
		func(row db.Row) error {
			var e event.ProjectEvent
			var data string
			if err := row.Scan(&e.ID, &e.ProjectID, &e.Sequence, &e.Type, db.ScanTime(&e.At), &data); err != nil {
				return err
			}
			events = append(events, e)
			return parseData(e.ID, data, &events[len(events)-1].Data)
		})
	return events, err
}

func parseData(eventID, data string, into any) error {
	if err := json.Unmarshal([]byte(data), into); err != nil {
		return fmt.Errorf("event %s: %w", eventID, err)
	}
	return nil
}

// Attendance returns all connections in a room, past and current, ordered by the
// time of joining.
func Attendance(ctx context.Context, s *store.DB, roomID string) ([]room.Attendance, error) {
	var all []room.Attendance
	err := s.Query(ctx, `SELECT id, room_id, session, seat_id, connection, hidden, node, joined_at, left_at, reason,
				connection_type, quality, poor_millis FROM attendance WHERE room_id = $1 ORDER BY joined_at, id`, []any{roomID},
		func(row db.Row) error {
			var a room.Attendance
			err := row.Scan(&a.ID, &a.RoomID, &a.Session, &a.SeatID, &a.Connection, &a.Hidden, &a.Node,
				db.ScanTime(&a.JoinedAt), db.ScanTime(&a.LeftAt), &a.Reason, &a.ConnectionType,
				&a.Quality, db.ScanDuration(&a.PoorFor, time.Millisecond))
			all = append(all, a)
			return err
		})
	return all, err
}
