package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/retention"
	"parley/internal/webhook"
)

// personEventTypes are the types of events that may name people.
var personEventTypes = []event.Type{event.ParticipantJoined, event.ParticipantLeft, event.ParticipantJoinFailed,
	event.AttendanceMarked, event.ParticipantReported, event.FeedbackGiven}

var (
	personSeatTable = newTable("seats",
		text("id", func(s *retention.Seat) *string { return &s.ID }),
		text("room_id", func(s *retention.Seat) *string { return &s.RoomID }),
		text("name", func(s *retention.Seat) *string { return &s.Name }),
		text("user_id", func(s *retention.Seat) *string { return &s.UserID }),
		text("role", func(s *retention.Seat) *string { return &s.Role }),
		timestamp("created_at", func(s *retention.Seat) *time.Time { return &s.CreatedAt }),
		text("key_hash", func(s *retention.Seat) *string { return &s.KeyHash }),
	)
	personLinkTable = newTable("links",
		text("id", func(l *retention.Link) *string { return &l.ID }),
		text("room_id", func(l *retention.Link) *string { return &l.RoomID }),
		text("name", func(l *retention.Link) *string { return &l.Name }),
		text("user_id", func(l *retention.Link) *string { return &l.UserID }),
		text("role", func(l *retention.Link) *string { return &l.Role }),
		text("redeemed_by", func(l *retention.Link) *string { return &l.RedeemedBy }),
	)
	personRoomTable = newTable("rooms",
		text("id", func(r *retention.PersonRoom) *string { return &r.ID }),
		text("title", func(r *retention.PersonRoom) *string { return &r.Title }),
		timestamp("created_at", func(r *retention.PersonRoom) *time.Time { return &r.CreatedAt }),
		text("creator_name", func(r *retention.PersonRoom) *string { return &r.CreatorName }),
		text("external_user_id", func(r *retention.PersonRoom) *string { return &r.ExternalUserID }),
		text("creator_link_redeemed_by", func(r *retention.PersonRoom) *string { return &r.RedeemedBy }),
	)
	connectionTable = newTable("attendance",
		text("seat_id", func(c *retention.Connection) *string { return &c.SeatID }),
		number("session", func(c *retention.Connection) *int { return &c.Session }),
		timestamp("joined_at", func(c *retention.Connection) *time.Time { return &c.JoinedAt }),
		timestamp("left_at", func(c *retention.Connection) *time.Time { return &c.LeftAt }),
	)
	selectSeatsOfRoom  = "SELECT " + personSeatTable.selectList + ", state <> 'free' FROM seats WHERE room_id = $1"
	selectLinksOfRoom  = personLinkTable.selectFrom + "WHERE (name <> '' OR user_id <> '') AND room_id = $1"
	selectConnections  = connectionTable.selectFrom + "WHERE seat_id IN %s ORDER BY joined_at, id"
	selectPersonEvents = selectEvents + ` FROM events WHERE type IN ` + typeList(personEventTypes) +
		` AND room_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`
	selectDeliveriesOfEvents = deliveryTable.selectFrom + "WHERE event_id IN "

	// Each branch reads an index in the order of the rooms. The conditions on empty IDs
	// repeat those of the partial indexes.
	selectRoomsOfUser = "SELECT " + personRoomTable.qualified("r.") + ` FROM (
			SELECT room_id AS id FROM seats WHERE user_id = $1 AND user_id <> '' AND room_id > $2
			UNION SELECT room_id FROM links WHERE user_id = $1 AND user_id <> '' AND room_id > $2
			UNION SELECT id FROM rooms
				WHERE project_id = $3 AND external_user_id = $1 AND external_user_id <> '' AND id > $2
		) AS found JOIN rooms r ON r.id = found.id WHERE r.project_id = $3 ORDER BY r.id LIMIT $4`
	selectRoomOfSeat = "SELECT " + personRoomTable.qualified("r.") +
		" FROM seats s JOIN rooms r ON r.id = s.room_id WHERE s.id = $1 AND r.project_id = $2"
)

func (s *DB) SeatsOfRoom(ctx context.Context, roomID string) ([]retention.Seat, error) {
	more := func(seat *retention.Seat) []any { return []any{&seat.Taken} }
	return queryAllMore(ctx, s, personSeatTable, more, selectSeatsOfRoom, roomID)
}

func (s *DB) LinksOfRoom(ctx context.Context, roomID string) ([]retention.Link, error) {
	return queryAll(ctx, s, personLinkTable, selectLinksOfRoom, roomID)
}

func (s *DB) ConnectionsOfSeats(ctx context.Context, seatIDs []string) ([]retention.Connection, error) {
	if len(seatIDs) == 0 {
		return nil, nil
	}
	list, args := inList(nil, seatIDs)
	return queryAll(ctx, s, connectionTable, fmt.Sprintf(selectConnections, list), args...)
}

func isAboutPeople(t event.Type) bool { return slices.Contains(personEventTypes, t) }

// EventsAboutPeople returns whole packs, because their events are erased together.
func (s *DB) EventsAboutPeople(
	ctx context.Context, roomID string, after int64, limit int,
) ([]event.Event, error) {
	rows, err := s.queryEvents(ctx, selectPersonEvents, roomID, after, limit)
	if err != nil {
		return nil, err
	}
	page := packedPage{roomID: roomID, after: after, limit: limit, wanted: isAboutPeople}
	page.wholePacks = true
	return s.withPacked(ctx, page, rows)
}

func (s *DB) UpdateEvents(ctx context.Context, events []event.Event) error {
	if len(events) == 0 {
		return nil
	}
	others, err := s.updatePacked(ctx, events)
	if err != nil {
		return err
	}
	for i := range others {
		e := &others[i]
		data, err := formatEventData(&e.Data, e.RoomID, e.At)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.ID, err)
		}
		err = s.Exec(ctx, `UPDATE events SET data = $3 WHERE room_id = $1 AND sequence = $2`, e.RoomID, e.Sequence, data)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *DB) DeliveriesOfEvents(ctx context.Context, eventIDs []string) ([]webhook.Delivery, error) {
	list, args := inList(nil, eventIDs)
	return queryAll(ctx, s, deliveryTable, selectDeliveriesOfEvents+list, args...)
}

func (s *DB) EraseDelivery(ctx context.Context, id, body string) error {
	if err := s.Exec(ctx, `UPDATE webhook_deliveries SET body = $2 WHERE id = $1`, id, body); err != nil {
		return err
	}
	return s.Exec(ctx, `UPDATE webhook_attempts SET response_body = '' WHERE delivery_id = $1`, id)
}

func (s *DB) EraseSeats(ctx context.Context, ids []string) error {
	return s.execForEach(ctx, `UPDATE seats SET name = '', user_id = '' WHERE id = $1`, ids)
}

func (s *DB) EraseLinks(ctx context.Context, ids []string) error {
	return s.execForEach(ctx, `UPDATE links SET name = '', user_id = '' WHERE id = $1`, ids)
}

func (s *DB) EraseCreator(ctx context.Context, roomID string) error {
	return s.Exec(ctx, `UPDATE rooms SET creator_name = '', external_user_id = '' WHERE id = $1`, roomID)
}

func (s *DB) MarkPeopleErased(ctx context.Context, roomID string, at time.Time) error {
	return s.Exec(ctx, `UPDATE rooms SET people_erased_at = $2 WHERE id = $1`, roomID, at.UnixMilli())
}

const deleteKnocks = `DELETE FROM knocks WHERE id IN (SELECT id FROM knocks WHERE room_id = $1 LIMIT $2) RETURNING id`

func (s *DB) DeleteKnocks(ctx context.Context, roomID string, limit int) (int, error) {
	return s.execCounting(ctx, deleteKnocks, roomID, limit)
}

func (s *DB) DeleteKnocksByKey(ctx context.Context, roomID, keyHash string) (int, error) {
	return s.execCounting(ctx, `DELETE FROM knocks WHERE room_id = $1 AND key_hash = $2 RETURNING id`, roomID, keyHash)
}

// execForEach runs a statement for each id.
func (s *DB) execForEach(ctx context.Context, q string, ids []string) error {
	for _, id := range ids {
		if err := s.Exec(ctx, q, id); err != nil {
			return err
		}
	}
	return nil
}

func (s *DB) RoomsOfUser(
	ctx context.Context, projectID, userID, after string, limit int,
) ([]retention.PersonRoom, error) {
	return queryAll(ctx, s, personRoomTable, selectRoomsOfUser, userID, after, projectID, limit)
}

var errSeatOfPersonNotFound = fault.New(fault.NotFound, "seat_not_found", "there is no such seat in this project")

func (s *DB) RoomOfSeat(ctx context.Context, projectID, seatID string) (retention.PersonRoom, error) {
	r, err := queryOne(ctx, s, personRoomTable, errSeatOfPersonNotFound, selectRoomOfSeat, seatID, projectID)
	if err != nil {
		return retention.PersonRoom{}, err
	}
	return *r, nil
}
