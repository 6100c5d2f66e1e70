package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/room"
)

func (s *Store) Occupancy(ctx context.Context, roomID string) (room.Occupancy, error) {
	var o room.Occupancy
	err := s.QueryRow(ctx, nil, `SELECT count(CASE WHEN NOT hidden THEN 1 END),
			count(CASE WHEN state = 'joined' AND NOT hidden THEN 1 END), count(CASE WHEN hidden THEN 1 END),
			count(CASE WHEN state = 'reserved' AND connection = '' AND NOT hidden THEN 1 END), min(held_until)
		FROM seats WHERE room_id = $1 AND state <> 'free'`, []any{roomID},
		&o.Taken, &o.Joined, &o.Hidden, &o.Unused, db.NullTime{Dest: &o.NextRelease})
	return o, err
}

var seatTable = db.NewTable("seats",
	db.Text("id", func(s *room.Seat) *string { return &s.ID }),
	db.Text("room_id", func(s *room.Seat) *string { return &s.RoomID }),
	db.Text("key_hash", func(s *room.Seat) *string { return &s.KeyHash }),
	db.Text("name", func(s *room.Seat) *string { return &s.Name }),
	db.Text("user_id", func(s *room.Seat) *string { return &s.UserID }),
	db.Text("role", func(s *room.Seat) *room.Role { return &s.Role }),
	db.Boolean("hidden", func(s *room.Seat) *bool { return &s.Hidden }),
	db.Number("breakout", func(s *room.Seat) *int { return &s.Breakout }),
	db.Number("hand", func(s *room.Seat) *int { return &s.HandOrder }),
	db.Text("state", func(s *room.Seat) *room.SeatState { return &s.State }),
	db.Text("connection", func(s *room.Seat) *string { return &s.Connection }),
	db.Timestamp("held_until", func(s *room.Seat) *time.Time { return &s.HeldUntil }),
	db.Timestamp("created_at", func(s *room.Seat) *time.Time { return &s.CreatedAt }),
	db.Timestamp("removed_at", func(s *room.Seat) *time.Time { return &s.RemovedAt }),
	db.Boolean("demoted", func(s *room.Seat) *bool { return &s.Demoted }),
	db.Boolean("invited", func(s *room.Seat) *bool { return &s.Invited }),
)

var (
	selectSeat         = seatTable.SelectFrom + "WHERE room_id = $1 AND id = $2"
	selectSeatByKey    = seatTable.SelectFrom + "WHERE room_id = $1 AND key_hash = $2"
	selectSeatByUser   = seatTable.SelectFrom + "WHERE room_id = $1 AND user_id = $2 AND user_id <> ''"
	selectSeats        = seatTable.SelectFrom + "WHERE room_id = $1 AND state <> 'free' ORDER BY created_at, id"
	selectRemovedSeats = seatTable.SelectFrom + "WHERE room_id = $1 AND removed_at IS NOT NULL ORDER BY created_at, id"
	selectRaisedHands  = seatTable.SelectFrom + "WHERE room_id = $1 AND hand > 0 AND state <> 'free' ORDER BY hand"
	insertSeat         = seatTable.InsertQuery()
	updateSeat         = seatTable.NewUpdateStmt("name", "role", "state", "connection", "held_until", "key_hash",
		"user_id", "hidden", "breakout", "hand", "removed_at", "demoted", "invited")
)

var errSeatNotFound = fault.New(fault.NotFound, "seat_not_found", "there is no such seat")

func (s *Store) Seat(ctx context.Context, roomID, id string) (room.Seat, error) {
	return s.querySeat(ctx, selectSeat, roomID, id)
}

func (s *Store) SeatByKey(ctx context.Context, roomID, keyHash string) (room.Seat, error) {
	return s.querySeat(ctx, selectSeatByKey, roomID, keyHash)
}

func (s *Store) SeatByUser(ctx context.Context, roomID, userID string) (room.Seat, error) {
	return s.querySeat(ctx, selectSeatByUser, roomID, userID)
}

func (s *Store) querySeat(ctx context.Context, q, roomID, id string) (room.Seat, error) {
	seat, err := db.QueryOne(ctx, s.DB, seatTable, errSeatNotFound, q, roomID, id)
	if err != nil {
		return room.Seat{}, err
	}
	return *seat, nil
}

func (s *Store) Seats(ctx context.Context, roomID string) ([]room.Seat, error) {
	return db.QueryAll(ctx, s.DB, seatTable, selectSeats, roomID)
}

func (s *Store) RemovedSeats(ctx context.Context, roomID string) ([]room.Seat, error) {
	return db.QueryAll(ctx, s.DB, seatTable, selectRemovedSeats, roomID)
}

func (s *Store) RaisedHands(ctx context.Context, roomID string) ([]room.Seat, error) {
	return db.QueryAll(ctx, s.DB, seatTable, selectRaisedHands, roomID)
}

func (s *Store) InsertSeat(ctx context.Context, seat room.Seat) error {
	return s.Exec(ctx, insertSeat, seatTable.Values(&seat)...)
}

func (s *Store) UpdateSeat(ctx context.Context, seat room.Seat) error {
	return s.ExecOne(ctx, errSeatNotFound, updateSeat.Query, updateSeat.Values(&seat)...)
}

func (s *Store) DeleteUnusedSeat(ctx context.Context, id string) (deleted bool, err error) {
	err = s.ExecOne(ctx, errSeatNotFound,
		`DELETE FROM seats WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM attendance WHERE seat_id = $1)`, id)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}
