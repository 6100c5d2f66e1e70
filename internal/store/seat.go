package store

import (
	"context"

	"parley/internal/fault"
	"parley/internal/room"
)

func (db *DB) Occupancy(ctx context.Context, roomID string) (room.Occupancy, error) {
	var o room.Occupancy
	err := db.queryRow(ctx, nil, `SELECT count(CASE WHEN NOT hidden THEN 1 END), count(CASE WHEN state = 'joined' AND NOT hidden THEN 1 END),
			count(CASE WHEN hidden THEN 1 END), count(CASE WHEN state = 'reserved' AND connection = '' AND NOT hidden THEN 1 END), min(held_until)
		FROM seats WHERE room_id = $1 AND state <> 'free'`, []any{roomID},
		&o.Taken, &o.Joined, &o.Hidden, &o.Unused, nullTime{&o.NextRelease})
	return o, err
}

const seatColumns = `id, room_id, key_hash, name, user_id, role, hidden, breakout, hand, state, connection, held_until, created_at, removed_at, demoted, invited`

func scanSeat(scan func(...any) error) (room.Seat, error) {
	var s room.Seat
	err := scan(&s.ID, &s.RoomID, &s.KeyHash, &s.Name, &s.UserID, &s.Role, &s.Hidden, &s.Breakout, &s.HandOrder, &s.State, &s.Connection, nullTime{&s.HeldUntil}, nullTime{&s.CreatedAt},
		nullTime{&s.RemovedAt}, &s.Demoted, &s.Invited)
	return s, err
}

var errSeatNotFound = fault.New(fault.NotFound, "seat_not_found", "there is no such seat")

func (db *DB) Seat(ctx context.Context, roomID, id string) (room.Seat, error) {
	return scanSeat(func(dest ...any) error {
		return db.queryRow(ctx, errSeatNotFound, `SELECT `+seatColumns+` FROM seats WHERE room_id = $1 AND id = $2`, []any{roomID, id}, dest...)
	})
}

func (db *DB) SeatByKey(ctx context.Context, roomID, keyHash string) (room.Seat, error) {
	return scanSeat(func(dest ...any) error {
		return db.queryRow(ctx, errSeatNotFound, `SELECT `+seatColumns+` FROM seats WHERE room_id = $1 AND key_hash = $2`, []any{roomID, keyHash}, dest...)
	})
}

func (db *DB) SeatByUser(ctx context.Context, roomID, userID string) (room.Seat, error) {
	return scanSeat(func(dest ...any) error {
		return db.queryRow(ctx, errSeatNotFound, `SELECT `+seatColumns+` FROM seats WHERE room_id = $1 AND user_id = $2 AND user_id <> ''`, []any{roomID, userID}, dest...)
	})
}

func (db *DB) Seats(ctx context.Context, roomID string) ([]room.Seat, error) {
	return db.querySeats(ctx, `state <> 'free' ORDER BY created_at, id`, roomID)
}

func (db *DB) RemovedSeats(ctx context.Context, roomID string) ([]room.Seat, error) {
	return db.querySeats(ctx, `removed_at IS NOT NULL ORDER BY created_at, id`, roomID)
}

func (db *DB) RaisedHands(ctx context.Context, roomID string) ([]room.Seat, error) {
	return db.querySeats(ctx, `hand > 0 AND state <> 'free' ORDER BY hand`, roomID)
}

func (db *DB) querySeats(ctx context.Context, which, roomID string) ([]room.Seat, error) {
	var seats []room.Seat
	err := db.query(ctx, `SELECT `+seatColumns+` FROM seats WHERE room_id = $1 AND `+which, []any{roomID},
		func(scan func(...any) error) error {
			s, err := scanSeat(scan)
			if err == nil {
				seats = append(seats, s)
			}
			return err
		})
	return seats, err
}

func (db *DB) InsertSeat(ctx context.Context, s room.Seat) error {
	return db.exec(ctx, `INSERT INTO seats (`+seatColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		s.ID, s.RoomID, s.KeyHash, s.Name, s.UserID, s.Role, s.Hidden, s.Breakout, s.HandOrder, s.State, s.Connection, nullMillis(s.HeldUntil), nullMillis(s.CreatedAt),
		nullMillis(s.RemovedAt), s.Demoted, s.Invited)
}

func (db *DB) UpdateSeat(ctx context.Context, s room.Seat) error {
	return db.execOne(ctx, errSeatNotFound, `UPDATE seats SET name = $2, role = $3, state = $4, connection = $5, held_until = $6,
			key_hash = $7, user_id = $8, hidden = $9, breakout = $10, hand = $11, removed_at = $12, demoted = $13, invited = $14 WHERE id = $1`,
		s.ID, s.Name, s.Role, s.State, s.Connection, nullMillis(s.HeldUntil), s.KeyHash, s.UserID, s.Hidden, s.Breakout, s.HandOrder, nullMillis(s.RemovedAt), s.Demoted, s.Invited)
}

func (db *DB) DeleteUnusedSeat(ctx context.Context, id string) (deleted bool, err error) {
	err = db.execOne(ctx, errSeatNotFound, `DELETE FROM seats WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM attendance WHERE seat_id = $1)`, id)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}
