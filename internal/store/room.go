package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/webhook"
)

// roomTable inserts constants in the columns that a new room cannot have a value
// for, because nobody has joined it yet.
var roomTable = newTable("rooms",
	text("id", func(r *room.Room) *string { return &r.ID }),
	text("project_id", func(r *room.Room) *string { return &r.ProjectID }).withParent("projects"),
	optionalText("client_room_id", func(r *room.Room) *string { return &r.ClientRoomID }),
	text("type", func(r *room.Room) *room.Type { return &r.Type }),
	text("state", func(r *room.Room) *room.State { return &r.State }),
	text("end_reason", func(r *room.Room) *room.EndReason { return &r.EndReason }).withConstant("''"),
	text("title", func(r *room.Room) *string { return &r.Title }),
	text("welcome_message", func(r *room.Room) *string { return &r.WelcomeMessage }),
	text("creator_name", func(r *room.Room) *string { return &r.CreatorName }),
	number("max_participants", func(r *room.Room) *int { return &r.MaxParticipants }),
	duration("empty_timeout", time.Second, func(r *room.Room) *time.Duration { return &r.EmptyTimeout }),
	duration("duration", time.Second, func(r *room.Room) *time.Duration { return &r.Duration }),
	text("creator_link_hash", func(r *room.Room) *string { return &r.CreatorLinkHash }),
	text("creator_link_redeemed_by", func(r *room.Room) *string { return &r.CreatorLinkRedeemedBy }).withConstant("''"),
	number("session", func(r *room.Room) *int { return &r.Session }).withConstant("0"),
	boolean("session_live", func(r *room.Room) *bool { return &r.SessionLive }).withConstant("FALSE"),
	number("last_session", func(r *room.Room) *int { return &r.LastSession }).withConstant("0"),
	number("event_sequence", func(r *room.Room) *int64 { return &r.EventSequence }),
	timestamp("created_at", func(r *room.Room) *time.Time { return &r.CreatedAt }),
	timestamp("opened_at", func(r *room.Room) *time.Time { return &r.OpenedAt }),
	timestamp("started_at", func(r *room.Room) *time.Time { return &r.StartedAt }).withConstant("NULL"),
	timestamp("empty_since", func(r *room.Room) *time.Time { return &r.EmptySince }).withConstant("NULL"),
	timestamp("ended_at", func(r *room.Room) *time.Time { return &r.EndedAt }).withConstant("NULL"),
	timestamp("due_at", func(r *room.Room) *time.Time { return &r.DueAt }),
	timestamp("start_at", func(r *room.Room) *time.Time { return &r.StartAt }),
	text("external_user_id", func(r *room.Room) *string { return &r.ExternalUserID }),
	text("logout_url", func(r *room.Room) *string { return &r.LogoutURL }),
	text("webhook_url", func(r *room.Room) *string { return &r.WebhookURL }),
	number("breakout_rooms", func(r *room.Room) *int { return &r.BreakoutRooms }),
	parsed("features", room.ParseFeatures, func(r *room.Room) *room.Features { return &r.Features }),
	parsed("locks", room.ParseLocks, func(r *room.Room) *room.Locks { return &r.Locks }),
)

var (
	selectRoom = roomTable.selectFrom + "WHERE id = $1"
	insertRoom = roomTable.newInsertStmt(1)
	updateRoom = roomTable.newUpdateStmt("state", "end_reason", "creator_link_redeemed_by", "session", "session_live",
		"last_session", "event_sequence", "opened_at", "started_at", "empty_since", "ended_at", "due_at", "locks")
	updateRoomSpec = roomTable.newUpdateStmt("title", "welcome_message", "creator_name", "max_participants",
		"empty_timeout", "duration", "start_at", "external_user_id", "logout_url", "webhook_url", "breakout_rooms")
)

// InsertRoom stores a new room. It ignores the fields of r whose columns have a
// constant in roomTable, for example EndedAt.
func (s *DB) InsertRoom(ctx context.Context, r *room.Room) error {
	if err := s.insertClientRoomID(ctx, r); err != nil {
		return err
	}
	if err := s.Insert(ctx, insertRoom, roomTable.values(r)...); err != nil || !s.mayBeRolledUp(r.CreatedAt) {
		return err
	}
	return s.recordIfRolledUp(ctx, r.ID+"/created_at", r.ProjectID, r.CreatedAt)
}

var insertClientRoomID = db.NewInsertStmt("client_room_ids", 1, []db.InsertColumn{
	{Name: "project_id", Type: "text"}, {Name: "client_room_id", Type: "text"}})

// insertClientRoomID records the client_room_id of a new room in a table of its own,
// because it stays taken when the room is deleted.
func (s *DB) insertClientRoomID(ctx context.Context, r *room.Room) error {
	if r.ClientRoomID == "" {
		return nil
	}
	err := s.Insert(ctx, insertClientRoomID, r.ProjectID, r.ClientRoomID)
	if db.IsUniqueViolation(err, "client_room_ids_project", "client_room_ids.project_id, client_room_ids.client_room_id") {
		return fault.New(fault.Conflict, "client_room_id_taken",
			"client_room_id is already taken by another room of this project")
	}
	return err
}

func (s *DB) Room(ctx context.Context, id string) (*room.Room, error) {
	return queryOne(ctx, s, roomTable, room.ErrNotFound, selectRoom, id)
}

func (s *DB) LockRoom(ctx context.Context, id string) (*room.Room, error) {
	forUpdate, err := s.ForUpdate(ctx)
	if err != nil {
		return nil, err
	}
	return queryOne(ctx, s, roomTable, room.ErrNotFound, selectRoom+forUpdate, id)
}

// LockRooms locks the rooms in the order of their IDs, so that two callers do not wait for each
// other.
func (s *DB) LockRooms(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	forUpdate, err := s.ForUpdate(ctx)
	if err != nil {
		return err
	}
	list, args := inList(nil, ids)
	_, err = s.queryStrings(ctx, "SELECT id FROM rooms WHERE id IN "+list+" ORDER BY id"+forUpdate, args...)
	return err
}

// UpdateRoom stores the fields that change during the life of a room: its state,
// times, locks and sessions. UpdateRoomSpec stores the fields of Spec.
func (s *DB) UpdateRoom(ctx context.Context, r *room.Room) error {
	return s.ExecOne(ctx, room.ErrNotFound, updateRoom.query, updateRoom.values(r)...)
}

func (s *DB) UpdateRoomSpec(ctx context.Context, r *room.Room) error {
	return s.ExecOne(ctx, room.ErrNotFound, updateRoomSpec.query, updateRoomSpec.values(r)...)
}

func (s *DB) DueRooms(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return s.queryStrings(ctx, `SELECT id FROM rooms WHERE due_at <= $1 ORDER BY due_at LIMIT $2`,
		now.UnixMilli(), limit)
}

// eventTable lacks the column data, see compactEventData. The project of an event is that of its
// room; only events of earlier releases have it in the column project_id.
var eventTable = newTable("events",
	text("id", func(e *event.Event) *string { return &e.ID }),
	computed[event.Event]("project_id", "''"),
	text("room_id", func(e *event.Event) *string { return &e.RoomID }).withParent("rooms"),
	number("sequence", func(e *event.Event) *int64 { return &e.Sequence }),
	text("type", func(e *event.Event) *event.Type { return &e.Type }),
	timestamp("at", func(e *event.Event) *time.Time { return &e.At }),
)

var (
	insertEvent           = eventTable.newInsertStmt(2, db.InsertColumn{Name: "data", Type: "text"})
	selectEvents          = "SELECT " + eventTable.selectList + ", (SELECT project_id FROM rooms WHERE id = room_id), data"
	selectDeliveredEvents = selectEvents + ` FROM events
		WHERE room_id = $1 AND sequence > $2 AND type <> '` + string(event.AttendanceMarked) + `' ORDER BY sequence LIMIT $3`
	selectRoomEvents = selectEvents + ` FROM events
		WHERE room_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`
)

func (s *DB) AppendEvents(ctx context.Context, events []event.Event) error {
	for i := range events {
		e := &events[i]
		data, err := formatEventData(&e.Data, e.RoomID, e.At)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.Type, err)
		}
		if err := s.Insert(ctx, insertEvent, eventTable.values(e, data)...); err != nil {
			return err
		}
	}
	return nil
}

// queryEvents returns the events that a statement with selectEvents selects.
func (s *DB) queryEvents(ctx context.Context, q string, args ...any) (events []event.Event, err error) {
	err = s.Query(ctx, q, args, func(row db.Row) error {
		e, err := scanEvent(row)
		events = append(events, e)
		return err
	})
	return events, err
}

// typeList returns the types of events as a list in SQL.
func typeList(types []event.Type) string {
	quoted := make([]string, len(types))
	for i, t := range types {
		quoted[i] = "'" + string(t) + "'"
	}
	return "(" + strings.Join(quoted, ", ") + ")"
}

func isAny(event.Type) bool { return true }

func (s *DB) RoomEvents(ctx context.Context, roomID string, after int64, limit int) ([]event.Event, error) {
	rows, err := s.queryEvents(ctx, selectRoomEvents, roomID, after, limit)
	if err != nil {
		return nil, err
	}
	return s.withPacked(ctx, packedPage{roomID: roomID, after: after, limit: limit, wanted: isAny}, rows)
}

func (s *DB) LastEventTime(ctx context.Context, roomID string) (last time.Time, err error) {
	err = s.Query(ctx, `SELECT at FROM events WHERE room_id = $1 ORDER BY sequence DESC LIMIT 1`, []any{roomID},
		func(row db.Row) error { return row.Scan(db.ScanTime(&last)) })
	if err != nil || !last.IsZero() {
		return last, err
	}
	e, err := s.lastPacked(ctx, roomID, anySequence, isAny)
	return e.At, err
}

func isReported(t event.Type) bool {
	return t == event.ParticipantReported || t == event.AttendanceMarked
}

func (s *DB) ReportedAttendance(ctx context.Context, roomID string, limit int) ([]room.ReportedAttendee, error) {
	rows, err := s.queryEvents(ctx, selectEvents+` FROM events
		WHERE room_id = $1 AND type IN ($2, $3) ORDER BY sequence LIMIT $4`,
		roomID, event.ParticipantReported, event.AttendanceMarked, limit)
	if err != nil {
		return nil, err
	}
	events, err := s.withPacked(ctx, packedPage{roomID: roomID, limit: limit, wanted: isReported}, rows)
	var all []room.ReportedAttendee
	for _, e := range events {
		a := room.ReportedAttendee{At: e.At}
		if e.Data.Mark != nil {
			a.Name, a.Source = e.Data.Mark.Name, e.Data.Mark.Source
		}
		all = append(all, a)
	}
	return all, err
}

func isDelivered(t event.Type) bool { return t != event.AttendanceMarked }

func (s *DB) DeliveredEvents(
	ctx context.Context, roomID string, after int64, limit int,
) ([]webhook.DeliveredEvent, error) {
	rows, err := s.queryEvents(ctx, selectDeliveredEvents, roomID, after, limit)
	if err != nil {
		return nil, err
	}
	events, err := s.withPacked(ctx, packedPage{roomID: roomID, after: after, limit: limit, wanted: isDelivered}, rows)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	previous, err := s.lastDeliveredBefore(ctx, roomID, events[0].Sequence)
	if err != nil {
		return nil, err
	}
	delivered := make([]webhook.DeliveredEvent, len(events))
	for i, e := range events {
		delivered[i] = webhook.DeliveredEvent{Event: e, Previous: previous}
		previous = e.Sequence
	}
	return delivered, nil
}

// lastDeliveredBefore returns the number of the last delivered event of a room before another one, 0 if there is none.
func (s *DB) lastDeliveredBefore(ctx context.Context, roomID string, sequence int64) (last int64, err error) {
	if sequence == 1 {
		return 0, nil
	}
	err = s.Query(ctx, `SELECT sequence FROM events WHERE room_id = $1 AND sequence < $2 AND type <> $3
		ORDER BY sequence DESC LIMIT 1`, []any{roomID, sequence, event.AttendanceMarked},
		func(row db.Row) error { return row.Scan(&last) })
	if err != nil || last > 0 {
		return last, err
	}
	e, err := s.lastPacked(ctx, roomID, sequence, isDelivered)
	return e.Sequence, err
}

// FirstEvent reads the ends of the room's indexes on events.
func (s *DB) FirstEvent(ctx context.Context, roomID string) (first int64, err error) {
	err = s.QueryRow(ctx, room.ErrNotFound, `SELECT coalesce(
			(SELECT p.first_sequence FROM packed_events p WHERE p.room_id = r.id ORDER BY p.last_sequence LIMIT 1),
			(SELECT e.sequence FROM events e WHERE e.room_id = r.id ORDER BY e.sequence LIMIT 1), r.event_sequence + 1)
		FROM rooms r WHERE r.id = $1`, []any{roomID}, &first)
	return first, err
}
