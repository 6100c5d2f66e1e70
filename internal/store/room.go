package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/webhook"
)

var errRoomNotFound = fault.New(fault.NotFound, "room_not_found", "there is no such room")

const roomColumns = `id, project_id, client_room_id, type, state, end_reason, title, welcome_message, creator_name,
	max_participants, empty_timeout, duration, creator_link_hash, creator_link_claim, session, session_live,
	event_sequence, created_at, opened_at, started_at, empty_since, ended_at, due_at,
	start_at, external_user_id, logout_url, webhook_url, breakout_rooms, features, locks, last_session`

// insertRoomStmt sets the columns that sessions change to their values in a new
// room.
var insertRoomStmt = newInsertStmt(bulkTable{tableOrder: 1, table: "rooms", parentColumn: "project_id", parentTable: "projects",
	columns: `id, project_id, client_room_id, type, state, title, welcome_message, creator_name,
		max_participants, empty_timeout, duration, creator_link_hash, event_sequence, created_at, opened_at, due_at,
		start_at, external_user_id, logout_url, webhook_url, breakout_rooms, features, locks`,
	types: `text, text, text, text, text, text, text, text,
		bigint, bigint, bigint, text, bigint, bigint, bigint, bigint,
		bigint, text, text, text, bigint, text, text`,
	constantColumns: `, end_reason, creator_link_claim, session, session_live, last_session, started_at, empty_since, ended_at`,
	constantValues:  `, '', '', 0, FALSE, 0, NULL, NULL, NULL`})

// InsertRoom ignores the fields of r that sessions change, for example EndedAt,
// and stores them as they are in a new room.
func (db *DB) InsertRoom(ctx context.Context, r *room.Room) error {
	err := db.insert(ctx, insertRoomStmt,
		r.ID, r.ProjectID, nullString(r.ClientRoomID), r.Type, r.State, r.Title, r.WelcomeMessage, r.CreatorName,
		r.MaxParticipants, seconds(r.EmptyTimeout), seconds(r.Duration), r.CreatorLinkHash,
		r.EventSequence, nullMillis(r.CreatedAt), nullMillis(r.OpenedAt), nullMillis(r.DueAt),
		nullMillis(r.StartAt), r.ExternalUserID, r.LogoutURL, r.WebhookURL, r.BreakoutRooms,
		r.Features.String(), r.Locks.String())
	if isUniqueViolation(err, "rooms_client_room_id") {
		return fault.New(fault.Conflict, "client_room_id_taken", "client_room_id is already taken by another room of this project")
	}
	return err
}

func (db *DB) Room(ctx context.Context, id string) (*room.Room, error) {
	return db.queryRoom(ctx, `SELECT `+roomColumns+` FROM rooms WHERE id = $1`, id)
}

func (db *DB) LockRoom(ctx context.Context, id string) (*room.Room, error) {
	t, ok := txFrom(ctx)
	if !ok {
		return nil, errNoTx
	}
	return db.queryRoom(ctx, `SELECT `+roomColumns+` FROM rooms WHERE id = $1`+t.forUpdate(), id)
}

func (db *DB) queryRoom(ctx context.Context, q, id string) (*room.Room, error) {
	return scanRoom(func(dest ...any) error { return db.queryRow(ctx, errRoomNotFound, q, []any{id}, dest...) })
}

func scanRoom(scan func(...any) error) (*room.Room, error) {
	var r room.Room
	var clientRoomID *string
	var emptyTimeout, duration int64
	var features, locks string
	err := scan(&r.ID, &r.ProjectID, &clientRoomID, &r.Type, &r.State, &r.EndReason, &r.Title, &r.WelcomeMessage, &r.CreatorName,
		&r.MaxParticipants, &emptyTimeout, &duration, &r.CreatorLinkHash, &r.CreatorLinkRedeemedBy, &r.Session, &r.SessionLive,
		&r.EventSequence, nullTime{&r.CreatedAt}, nullTime{&r.OpenedAt}, nullTime{&r.StartedAt}, nullTime{&r.EmptySince}, nullTime{&r.EndedAt}, nullTime{&r.DueAt},
		nullTime{&r.StartAt}, &r.ExternalUserID, &r.LogoutURL, &r.WebhookURL, &r.BreakoutRooms, &features, &locks, &r.LastSession)
	if err != nil {
		return nil, err
	}
	if clientRoomID != nil {
		r.ClientRoomID = *clientRoomID
	}
	r.Features, r.Locks = room.ParseFeatures(features), room.ParseLocks(locks)
	r.EmptyTimeout, r.Duration = time.Duration(emptyTimeout)*time.Second, time.Duration(duration)*time.Second
	return &r, nil
}

// UpdateRoom stores the fields of r that sessions change and ignores those of the
// creation, because they never change.
func (db *DB) UpdateRoom(ctx context.Context, r *room.Room) error {
	return db.execOne(ctx, errRoomNotFound, `UPDATE rooms SET state = $2, end_reason = $3, creator_link_claim = $4, session = $5, session_live = $6,
		event_sequence = $7, opened_at = $8, started_at = $9, empty_since = $10, ended_at = $11, due_at = $12, locks = $13, last_session = $14 WHERE id = $1`,
		r.ID, r.State, r.EndReason, r.CreatorLinkRedeemedBy, r.Session, r.SessionLive,
		r.EventSequence, nullMillis(r.OpenedAt), nullMillis(r.StartedAt), nullMillis(r.EmptySince), nullMillis(r.EndedAt), nullMillis(r.DueAt), r.Locks.String(), r.LastSession)
}

func (db *DB) UpdateRoomSpec(ctx context.Context, r *room.Room) error {
	return db.execOne(ctx, errRoomNotFound, `UPDATE rooms SET title = $2, welcome_message = $3, creator_name = $4, max_participants = $5, empty_timeout = $6,
		duration = $7, start_at = $8, external_user_id = $9, logout_url = $10, webhook_url = $11, breakout_rooms = $12 WHERE id = $1`,
		r.ID, r.Title, r.WelcomeMessage, r.CreatorName, r.MaxParticipants, seconds(r.EmptyTimeout), seconds(r.Duration), nullMillis(r.StartAt),
		r.ExternalUserID, r.LogoutURL, r.WebhookURL, r.BreakoutRooms)
}

func (db *DB) DueRooms(ctx context.Context, now time.Time, limit int) ([]string, error) {
	var ids []string
	err := db.query(ctx, `SELECT id FROM rooms WHERE due_at <= $1 ORDER BY due_at LIMIT $2`, []any{now.UnixMilli(), limit},
		func(scan func(...any) error) error {
			var id string
			if err := scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
			return nil
		})
	return ids, err
}

var insertEventStmt = newInsertStmt(bulkTable{tableOrder: 2, table: "events", parentColumn: "room_id", parentTable: "rooms",
	columns: `id, project_id, room_id, sequence, type, at, data`,
	types:   `text, text, text, bigint, text, bigint, text`})

func (db *DB) AppendEvents(ctx context.Context, events []event.Event) error {
	for _, e := range events {
		data, err := json.Marshal(e.Data)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.Type, err)
		}
		if err := db.insert(ctx, insertEventStmt,
			e.ID, e.ProjectID, e.RoomID, e.Sequence, e.Type, nullMillis(e.At), string(data)); err != nil {
			return err
		}
	}
	return nil
}

// Events returns the events of a room after a sequence number, ordered by
// sequence number.
func (db *DB) Events(ctx context.Context, roomID string, after int64) ([]event.Event, error) {
	var events []event.Event
	err := db.query(ctx, `SELECT id, project_id, sequence, type, at, data FROM events WHERE room_id = $1 AND sequence > $2 ORDER BY sequence`,
		[]any{roomID, after}, func(scan func(...any) error) error {
			e, err := scanEvent(roomID, scan)
			events = append(events, e)
			return err
		})
	return events, err
}

func (db *DB) DeliveredEvents(ctx context.Context, roomID string, after int64, limit int) ([]webhook.DeliveredEvent, error) {
	var events []webhook.DeliveredEvent
	err := db.query(ctx, `SELECT id, project_id, sequence, type, at, data, coalesce((SELECT p.sequence FROM events p
			WHERE p.room_id = e.room_id AND p.sequence < e.sequence AND p.type <> $3 ORDER BY p.sequence DESC LIMIT 1), 0)
		FROM events e WHERE room_id = $1 AND sequence > $2 AND type <> $3 ORDER BY sequence LIMIT $4`,
		[]any{roomID, after, event.AttendanceMarked, limit}, func(scan func(...any) error) (err error) {
			var e webhook.DeliveredEvent
			e.Event, err = scanEvent(roomID, scan, &e.Previous)
			events = append(events, e)
			return err
		})
	return events, err
}

// scanEvent scans an event and then more.
func scanEvent(roomID string, scan func(...any) error, more ...any) (event.Event, error) {
	e := event.Event{RoomID: roomID}
	var data string
	if err := scan(append([]any{&e.ID, &e.ProjectID, &e.Sequence, &e.Type, nullTime{&e.At}, &data}, more...)...); err != nil {
		return e, err
	}
	if err := json.Unmarshal([]byte(data), &e.Data); err != nil {
		return e, fmt.Errorf("event %s: %w", e.ID, err)
	}
	return e, nil
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
