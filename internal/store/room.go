package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/internal/db"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/webhook"
)

var errRoomNotFound = fault.New(fault.NotFound, "room_not_found", "there is no such room")

// roomTable inserts constants in the columns that sessions change, because a new
// room has never had a session.
var roomTable = db.NewTable("rooms",
	db.Text("id", func(r *room.Room) *string { return &r.ID }),
	db.Text("project_id", func(r *room.Room) *string { return &r.ProjectID }),
	db.OptionalText("client_room_id", func(r *room.Room) *string { return &r.ClientRoomID }),
	db.Text("type", func(r *room.Room) *room.Type { return &r.Type }),
	db.Text("state", func(r *room.Room) *room.State { return &r.State }),
	db.Text("end_reason", func(r *room.Room) *room.EndReason { return &r.EndReason }).InsertedAs("''"),
	db.Text("title", func(r *room.Room) *string { return &r.Title }),
	db.Text("welcome_message", func(r *room.Room) *string { return &r.WelcomeMessage }),
	db.Text("creator_name", func(r *room.Room) *string { return &r.CreatorName }),
	db.Number("max_participants", func(r *room.Room) *int { return &r.MaxParticipants }),
	db.Duration("empty_timeout", time.Second, func(r *room.Room) *time.Duration { return &r.EmptyTimeout }),
	db.Duration("duration", time.Second, func(r *room.Room) *time.Duration { return &r.Duration }),
	db.Text("creator_link_hash", func(r *room.Room) *string { return &r.CreatorLinkHash }),
	db.Text("creator_link_claim", func(r *room.Room) *string { return &r.CreatorLinkRedeemedBy }).InsertedAs("''"),
	db.Number("session", func(r *room.Room) *int { return &r.Session }).InsertedAs("0"),
	db.Boolean("session_live", func(r *room.Room) *bool { return &r.SessionLive }).InsertedAs("FALSE"),
	db.Number("last_session", func(r *room.Room) *int { return &r.LastSession }).InsertedAs("0"),
	db.Number("event_sequence", func(r *room.Room) *int64 { return &r.EventSequence }),
	db.Timestamp("created_at", func(r *room.Room) *time.Time { return &r.CreatedAt }),
	db.Timestamp("opened_at", func(r *room.Room) *time.Time { return &r.OpenedAt }),
	db.Timestamp("started_at", func(r *room.Room) *time.Time { return &r.StartedAt }).InsertedAs("NULL"),
	db.Timestamp("empty_since", func(r *room.Room) *time.Time { return &r.EmptySince }).InsertedAs("NULL"),
	db.Timestamp("ended_at", func(r *room.Room) *time.Time { return &r.EndedAt }).InsertedAs("NULL"),
	db.Timestamp("due_at", func(r *room.Room) *time.Time { return &r.DueAt }),
	db.Timestamp("start_at", func(r *room.Room) *time.Time { return &r.StartAt }),
	db.Text("external_user_id", func(r *room.Room) *string { return &r.ExternalUserID }),
	db.Text("logout_url", func(r *room.Room) *string { return &r.LogoutURL }),
	db.Text("webhook_url", func(r *room.Room) *string { return &r.WebhookURL }),
	db.Number("breakout_rooms", func(r *room.Room) *int { return &r.BreakoutRooms }),
	db.Parsed("features", room.ParseFeatures, func(r *room.Room) *room.Features { return &r.Features }),
	db.Parsed("locks", room.ParseLocks, func(r *room.Room) *room.Locks { return &r.Locks }),
)

var (
	selectRoom = roomTable.SelectFrom + "WHERE id = $1"
	insertRoom = db.NewInsertStmt(roomTable, db.BulkOptions{
		TableOrder: 1, ParentColumn: "project_id", ParentTable: "projects",
	})
	updateRoom = roomTable.NewUpdateStmt("state", "end_reason", "creator_link_claim", "session", "session_live",
		"last_session", "event_sequence", "opened_at", "started_at", "empty_since", "ended_at", "due_at", "locks")
	updateRoomSpec = roomTable.NewUpdateStmt("title", "welcome_message", "creator_name", "max_participants",
		"empty_timeout", "duration", "start_at", "external_user_id", "logout_url", "webhook_url", "breakout_rooms")
)

// InsertRoom ignores the fields of r that sessions change, for example EndedAt,
// and stores them as they are in a new room.
func (s *Store) InsertRoom(ctx context.Context, r *room.Room) error {
	err := s.Insert(ctx, insertRoom, roomTable.Values(r)...)
	if db.IsUniqueViolation(err, "rooms_client_room_id", "rooms.project_id, rooms.client_room_id") {
		return fault.New(fault.Conflict, "client_room_id_taken",
			"client_room_id is already taken by another room of this project")
	}
	return err
}

func (s *Store) Room(ctx context.Context, id string) (*room.Room, error) {
	return db.QueryOne(ctx, s.DB, roomTable, errRoomNotFound, selectRoom, id)
}

func (s *Store) LockRoom(ctx context.Context, id string) (*room.Room, error) {
	lock, err := s.ForUpdate(ctx)
	if err != nil {
		return nil, err
	}
	return db.QueryOne(ctx, s.DB, roomTable, errRoomNotFound, selectRoom+lock, id)
}

// UpdateRoom stores the fields of r that sessions change and ignores those of the
// creation, because they never change.
func (s *Store) UpdateRoom(ctx context.Context, r *room.Room) error {
	return s.ExecOne(ctx, errRoomNotFound, updateRoom.Query, updateRoom.Values(r)...)
}

func (s *Store) UpdateRoomSpec(ctx context.Context, r *room.Room) error {
	return s.ExecOne(ctx, errRoomNotFound, updateRoomSpec.Query, updateRoomSpec.Values(r)...)
}

func (s *Store) DueRooms(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return s.QueryStrings(ctx, `SELECT id FROM rooms WHERE due_at <= $1 ORDER BY due_at LIMIT $2`,
		now.UnixMilli(), limit)
}

// eventTable lacks the column data, which is the JSON of event.Event.Data.
var eventTable = db.NewTable("events",
	db.Text("id", func(e *event.Event) *string { return &e.ID }),
	db.Text("project_id", func(e *event.Event) *string { return &e.ProjectID }),
	db.Text("room_id", func(e *event.Event) *string { return &e.RoomID }),
	db.Number("sequence", func(e *event.Event) *int64 { return &e.Sequence }),
	db.Text("type", func(e *event.Event) *event.Type { return &e.Type }),
	db.Timestamp("at", func(e *event.Event) *time.Time { return &e.At }),
)

var (
	selectEvents = "SELECT " + eventTable.List + `, data FROM events
		WHERE room_id = $1 AND sequence > $2 ORDER BY sequence`
	insertEvent = db.NewInsertStmt(eventTable, db.BulkOptions{
		TableOrder: 2, ParentColumn: "room_id", ParentTable: "rooms",
		Extra: []db.ExtraColumn{{Name: "data", SQLType: "text"}},
	})
	selectDeliveredEvents = "SELECT " + eventTable.List + `, data, coalesce((SELECT p.sequence FROM events p
			WHERE p.room_id = e.room_id AND p.sequence < e.sequence AND p.type <> $3
			ORDER BY p.sequence DESC LIMIT 1), 0)
		FROM events e WHERE room_id = $1 AND sequence > $2 AND type <> $3 ORDER BY sequence LIMIT $4`
)

func (s *Store) AppendEvents(ctx context.Context, events []event.Event) error {
	for i := range events {
		e := &events[i]
		data, err := json.Marshal(e.Data)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.Type, err)
		}
		if err := s.Insert(ctx, insertEvent, eventTable.Values(e, string(data))...); err != nil {
			return err
		}
	}
	return nil
}

// Events returns the events of a room after a sequence number, ordered by
// sequence number.
func (s *Store) Events(ctx context.Context, roomID string, after int64) ([]event.Event, error) {
	var events []event.Event
	err := s.Query(ctx, selectEvents, []any{roomID, after}, func(scan func(...any) error) error {
		e, err := scanEvent(scan, nil)
		events = append(events, e)
		return err
	})
	return events, err
}

func (s *Store) DeliveredEvents(
	ctx context.Context, roomID string, after int64, limit int,
) ([]webhook.DeliveredEvent, error) {
	var events []webhook.DeliveredEvent
	err := s.Query(ctx, selectDeliveredEvents, []any{roomID, after, event.AttendanceMarked, limit},
		func(scan func(...any) error) (err error) {
			var e webhook.DeliveredEvent
			e.Event, err = scanEvent(scan, &e.Previous)
			events = append(events, e)
			return err
		})
	return events, err
}

// scanEvent scans an event, its data and, unless it is nil, previous.
func scanEvent(scan func(...any) error, previous *int64) (e event.Event, err error) {
	var data string
	var dests []any
	if previous == nil {
		dests = eventTable.Dests(&e, &data)
	} else {
		dests = eventTable.Dests(&e, &data, previous)
	}
	if err := scan(dests...); err != nil {
		return event.Event{}, err
	}
	if err := json.Unmarshal([]byte(data), &e.Data); err != nil {
		return event.Event{}, fmt.Errorf("event %s: %w", e.ID, err)
	}
	return e, nil
}
