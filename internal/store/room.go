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
	text("creator_link_claim", func(r *room.Room) *string { return &r.CreatorLinkRedeemedBy }).withConstant("''"),
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
	updateRoom = roomTable.newUpdateStmt("state", "end_reason", "creator_link_claim", "session", "session_live",
		"last_session", "event_sequence", "opened_at", "started_at", "empty_since", "ended_at", "due_at", "locks")
	updateRoomSpec = roomTable.newUpdateStmt("title", "welcome_message", "creator_name", "max_participants",
		"empty_timeout", "duration", "start_at", "external_user_id", "logout_url", "webhook_url", "breakout_rooms")
)

// InsertRoom stores a new room. It ignores the fields of r whose columns have a
// constant in roomTable, for example EndedAt.
func (s *DB) InsertRoom(ctx context.Context, r *room.Room) error {
	err := s.Insert(ctx, insertRoom, roomTable.values(r)...)
	if db.IsUniqueViolation(err, "rooms_client_room_id", "rooms.project_id, rooms.client_room_id") {
		return fault.New(fault.Conflict, "client_room_id_taken",
			"client_room_id is already taken by another room of this project")
	}
	return err
}

func (s *DB) Room(ctx context.Context, id string) (*room.Room, error) {
	return queryOne(ctx, s, roomTable, errRoomNotFound, selectRoom, id)
}

func (s *DB) LockRoom(ctx context.Context, id string) (*room.Room, error) {
	forUpdate, err := s.ForUpdate(ctx)
	if err != nil {
		return nil, err
	}
	return queryOne(ctx, s, roomTable, errRoomNotFound, selectRoom+forUpdate, id)
}

// UpdateRoom stores the fields that change during the life of a room: its state,
// times, locks and sessions. UpdateRoomSpec stores the fields of Spec.
func (s *DB) UpdateRoom(ctx context.Context, r *room.Room) error {
	return s.ExecOne(ctx, errRoomNotFound, updateRoom.query, updateRoom.values(r)...)
}

func (s *DB) UpdateRoomSpec(ctx context.Context, r *room.Room) error {
	return s.ExecOne(ctx, errRoomNotFound, updateRoomSpec.query, updateRoomSpec.values(r)...)
}

func (s *DB) DueRooms(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return s.queryStrings(ctx, `SELECT id FROM rooms WHERE due_at <= $1 ORDER BY due_at LIMIT $2`,
		now.UnixMilli(), limit)
}

// eventTable lacks the column data, which is the JSON of event.Event.Data.
var eventTable = newTable("events",
	text("id", func(e *event.Event) *string { return &e.ID }),
	text("project_id", func(e *event.Event) *string { return &e.ProjectID }),
	text("room_id", func(e *event.Event) *string { return &e.RoomID }).withParent("rooms"),
	number("sequence", func(e *event.Event) *int64 { return &e.Sequence }),
	text("type", func(e *event.Event) *event.Type { return &e.Type }),
	timestamp("at", func(e *event.Event) *time.Time { return &e.At }),
)

var (
	insertEvent           = eventTable.newInsertStmt(2, db.InsertColumn{Name: "data", Type: "text"})
	selectDeliveredEvents = "SELECT " + eventTable.selectList + `, data, coalesce((SELECT p.sequence FROM events p
			WHERE p.room_id = e.room_id AND p.sequence < e.sequence AND p.type <> $3
			ORDER BY p.sequence DESC LIMIT 1), 0)
		FROM events e WHERE room_id = $1 AND sequence > $2 AND type <> $3 ORDER BY sequence LIMIT $4`
)

func (s *DB) AppendEvents(ctx context.Context, events []event.Event) error {
	for i := range events {
		e := &events[i]
		data, err := json.Marshal(e.Data)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.Type, err)
		}
		if err := s.Insert(ctx, insertEvent, eventTable.values(e, string(data))...); err != nil {
			return err
		}
	}
	return nil
}

func (s *DB) DeliveredEvents(
	ctx context.Context, roomID string, after int64, limit int,
) ([]webhook.DeliveredEvent, error) {
	var events []webhook.DeliveredEvent
	err := s.Query(ctx, selectDeliveredEvents, []any{roomID, after, event.AttendanceMarked, limit},
		func(row db.Row) error {
			var e webhook.DeliveredEvent
			var data string
			if err := row.Scan(eventTable.dests(&e.Event, &data, &e.Previous)...); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(data), &e.Data); err != nil {
				return fmt.Errorf("event %s: %w", e.ID, err)
			}
			events = append(events, e)
			return nil
		})
	return events, err
}
