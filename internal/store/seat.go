package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/room"
)

func (s *DB) Occupancy(ctx context.Context, roomID string) (room.Occupancy, error) {
	var o room.Occupancy
	err := s.QueryRow(ctx, nil, `SELECT count(CASE WHEN NOT hidden THEN 1 END),
			count(CASE WHEN state = 'joined' AND NOT hidden THEN 1 END), count(CASE WHEN hidden THEN 1 END),
			count(CASE WHEN state = 'reserved' AND connection = '' AND NOT hidden THEN 1 END),
			count(CASE WHEN state = 'joined' AND role <> 'guest' THEN 1 END), min(held_until)
		FROM seats WHERE room_id = $1 AND state <> 'free'`, []any{roomID},
		&o.Taken, &o.Joined, &o.Hidden, &o.Unused, &o.Hosts, db.ScanTime(&o.NextRelease))
	return o, err
}

var seatTable = newTable("seats",
	text("id", func(s *room.Seat) *string { return &s.ID }),
	text("room_id", func(s *room.Seat) *string { return &s.RoomID }),
	text("key_hash", func(s *room.Seat) *string { return &s.KeyHash }),
	text("name", func(s *room.Seat) *string { return &s.Name }),
	text("user_id", func(s *room.Seat) *string { return &s.UserID }),
	text("role", func(s *room.Seat) *room.Role { return &s.Role }),
	boolean("hidden", func(s *room.Seat) *bool { return &s.Hidden }),
	number("breakout", func(s *room.Seat) *int { return &s.Breakout }),
	number("hand_order", func(s *room.Seat) *int { return &s.HandOrder }),
	text("state", func(s *room.Seat) *room.SeatState { return &s.State }),
	text("connection", func(s *room.Seat) *string { return &s.Connection }),
	timestamp("held_until", func(s *room.Seat) *time.Time { return &s.HeldUntil }),
	timestamp("created_at", func(s *room.Seat) *time.Time { return &s.CreatedAt }),
	timestamp("removed_at", func(s *room.Seat) *time.Time { return &s.RemovedAt }),
	boolean("demoted", func(s *room.Seat) *bool { return &s.Demoted }),
	text("promoted_by", func(s *room.Seat) *string { return &s.PromotedBy }),
	boolean("invited", func(s *room.Seat) *bool { return &s.Invited }),
	text("rating", func(s *room.Seat) *room.Rating { return &s.Rating }),
	text("network", func(s *room.Seat) *string { return &s.Network }),
)

var (
	selectSeat         = seatTable.selectFrom + "WHERE room_id = $1 AND id = $2"
	selectSeatByKey    = seatTable.selectFrom + "WHERE room_id = $1 AND key_hash = $2"
	selectSeatByUser   = seatTable.selectFrom + "WHERE room_id = $1 AND user_id = $2 AND user_id <> ''"
	selectSeats        = seatTable.selectFrom + "WHERE room_id = $1 AND state <> 'free' ORDER BY created_at, id"
	selectRemovedSeats = seatTable.selectFrom + "WHERE room_id = $1 AND removed_at IS NOT NULL ORDER BY created_at, id"
	selectRaisedHands  = seatTable.selectFrom +
		"WHERE room_id = $1 AND hand_order > 0 AND state <> 'free' ORDER BY hand_order"
	selectPromotedSeats = seatTable.selectFrom +
		"WHERE room_id = $1 AND promoted_by = $2 AND promoted_by <> '' ORDER BY created_at, id"
	insertSeat = seatTable.insertQuery()
	updateSeat = seatTable.newUpdateStmt("name", "role", "state", "connection", "held_until", "key_hash",
		"user_id", "hidden", "breakout", "hand_order", "removed_at", "demoted", "promoted_by", "invited", "rating", "network")
)

var errSeatNotFound = fault.New(fault.NotFound, "seat_not_found", "there is no such seat")

func (s *DB) Seat(ctx context.Context, roomID, id string) (room.Seat, error) {
	return s.querySeat(ctx, selectSeat, roomID, id)
}

func (s *DB) SeatByKey(ctx context.Context, roomID, keyHash string) (room.Seat, error) {
	return s.querySeat(ctx, selectSeatByKey, roomID, keyHash)
}

func (s *DB) SeatByUser(ctx context.Context, roomID, userID string) (room.Seat, error) {
	return s.querySeat(ctx, selectSeatByUser, roomID, userID)
}

func (s *DB) querySeat(ctx context.Context, q, roomID, id string) (room.Seat, error) {
	seat, err := queryOne(ctx, s, seatTable, errSeatNotFound, q, roomID, id)
	if err != nil {
		return room.Seat{}, err
	}
	return *seat, nil
}

func (s *DB) Seats(ctx context.Context, roomID string) ([]room.Seat, error) {
	return queryAll(ctx, s, seatTable, selectSeats, roomID)
}

func (s *DB) PresentNames(ctx context.Context, roomID, exceptSeatID string, limit int) ([]string, error) {
	var names []string
	err := s.Query(ctx, `SELECT name FROM seats
		WHERE room_id = $1 AND id <> $2 AND state = 'joined' AND NOT hidden
		ORDER BY CASE role WHEN 'host' THEN 0 WHEN 'cohost' THEN 1 ELSE 2 END, created_at, id LIMIT $3`,
		[]any{roomID, exceptSeatID, limit}, func(row db.Row) error {
			var name string
			err := row.Scan(&name)
			names = append(names, name)
			return err
		})
	return names, err
}

func (s *DB) PromotedSeats(ctx context.Context, roomID, seatID string) ([]room.Seat, error) {
	return queryAll(ctx, s, seatTable, selectPromotedSeats, roomID, seatID)
}

func (s *DB) RemovedSeats(ctx context.Context, roomID string) ([]room.Seat, error) {
	return queryAll(ctx, s, seatTable, selectRemovedSeats, roomID)
}

func (s *DB) RaisedHands(ctx context.Context, roomID string) ([]room.Seat, error) {
	return queryAll(ctx, s, seatTable, selectRaisedHands, roomID)
}

func (s *DB) InsertSeat(ctx context.Context, seat room.Seat) error {
	return s.Exec(ctx, insertSeat, seatTable.values(&seat)...)
}

func (s *DB) UpdateSeat(ctx context.Context, seat room.Seat) error {
	return s.ExecOne(ctx, errSeatNotFound, updateSeat.query, updateSeat.values(&seat)...)
}

func (s *DB) DeleteUnusedSeat(ctx context.Context, id string) (deleted bool, err error) {
	err = s.ExecOne(ctx, errSeatNotFound,
		`DELETE FROM seats WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM attendance WHERE seat_id = $1)`, id)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}
