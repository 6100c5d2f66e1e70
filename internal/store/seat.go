package store

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
)

// Occupancy implements room.Store.
func (db *DB) Occupancy(ctx context.Context, roomID string) (room.Occupancy, error) {
	var o room.Occupancy
	err := db.one(ctx, nil, `SELECT count(*), count(CASE WHEN state = 'joined' THEN 1 END), min(held_until)
		FROM seats WHERE room_id = $1 AND state <> 'free'`, []any{roomID},
		&o.Taken, &o.Joined, moment{&o.NextRelease})
	return o, err
}

const seatColumns = `id, room_id, key_hash, name, role, state, connection, held_until, created_at`

func scanSeat(scan func(...any) error) (room.Seat, error) {
	var s room.Seat
	err := scan(&s.ID, &s.RoomID, &s.KeyHash, &s.Name, &s.Role, &s.State, &s.Connection, moment{&s.HeldUntil}, moment{&s.CreatedAt})
	return s, err
}

var noSeat = fault.New(fault.NotFound, "seat_not_found", "there is no such seat")

// Seat implements room.Store.
func (db *DB) Seat(ctx context.Context, roomID, id string) (room.Seat, error) {
	return scanSeat(func(dest ...any) error {
		return db.one(ctx, noSeat, `SELECT `+seatColumns+` FROM seats WHERE room_id = $1 AND id = $2`, []any{roomID, id}, dest...)
	})
}

// SeatByKey implements room.Store.
func (db *DB) SeatByKey(ctx context.Context, roomID, keyHash string) (room.Seat, error) {
	return scanSeat(func(dest ...any) error {
		return db.one(ctx, noSeat, `SELECT `+seatColumns+` FROM seats WHERE room_id = $1 AND key_hash = $2`, []any{roomID, keyHash}, dest...)
	})
}

// Seats implements room.Store.
func (db *DB) Seats(ctx context.Context, roomID string) ([]room.Seat, error) {
	var seats []room.Seat
	err := db.each(ctx, `SELECT `+seatColumns+` FROM seats WHERE room_id = $1 AND state <> 'free' ORDER BY created_at, id`, []any{roomID},
		func(scan func(...any) error) error {
			s, err := scanSeat(scan)
			if err == nil {
				seats = append(seats, s)
			}
			return err
		})
	return seats, err
}

// InsertSeat implements room.Store.
func (db *DB) InsertSeat(ctx context.Context, s room.Seat) error {
	return db.must(ctx, `INSERT INTO seats (`+seatColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		s.ID, s.RoomID, s.KeyHash, s.Name, s.Role, s.State, s.Connection, millis(s.HeldUntil), millis(s.CreatedAt))
}

// UpdateSeat implements room.Store.
func (db *DB) UpdateSeat(ctx context.Context, s room.Seat) error {
	return db.changed(ctx, noSeat, `UPDATE seats SET name = $2, role = $3, state = $4, connection = $5, held_until = $6 WHERE id = $1`,
		s.ID, s.Name, s.Role, s.State, s.Connection, millis(s.HeldUntil))
}

// ReleaseSeats implements room.Store.
func (db *DB) ReleaseSeats(ctx context.Context, roomID string, now time.Time) error {
	return db.must(ctx, `UPDATE seats SET state = 'free', held_until = NULL
		WHERE room_id = $1 AND state = 'reserved' AND held_until <= $2`, roomID, now.UnixMilli())
}

// InsertAttendance implements room.Store.
func (db *DB) InsertAttendance(ctx context.Context, a room.Attendance) (bool, error) {
	if _, ok := txFrom(ctx); !ok {
		return false, errNoTx
	}
	fresh := false
	err := db.each(ctx, `INSERT INTO attendance (`+attendanceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (seat_id, connection) DO NOTHING RETURNING id`,
		[]any{a.ID, a.RoomID, a.Session, a.SeatID, a.Connection, millis(a.JoinedAt), millis(a.LeftAt), a.Reason},
		func(func(...any) error) error { fresh = true; return nil })
	return fresh, err
}

const attendanceColumns = `id, room_id, session, seat_id, connection, joined_at, left_at, reason`

// Present implements room.Store.
func (db *DB) Present(ctx context.Context, roomID string) ([]room.Attendance, error) {
	return db.attendance(ctx, `SELECT `+attendanceColumns+` FROM attendance WHERE room_id = $1 AND left_at IS NULL ORDER BY joined_at, id`, roomID)
}

// Attendance returns every connection there was in a room, in order.
func (db *DB) Attendance(ctx context.Context, roomID string) ([]room.Attendance, error) {
	return db.attendance(ctx, `SELECT `+attendanceColumns+` FROM attendance WHERE room_id = $1 ORDER BY joined_at, id`, roomID)
}

func (db *DB) attendance(ctx context.Context, q, roomID string) ([]room.Attendance, error) {
	var list []room.Attendance
	err := db.each(ctx, q, []any{roomID}, func(scan func(...any) error) error {
		var a room.Attendance
		if err := scan(&a.ID, &a.RoomID, &a.Session, &a.SeatID, &a.Connection, moment{&a.JoinedAt}, moment{&a.LeftAt}, &a.Reason); err != nil {
			return err
		}
		list = append(list, a)
		return nil
	})
	return list, err
}

// EndAttendance implements room.Store. An end that is written stays.
func (db *DB) EndAttendance(ctx context.Context, id string, at time.Time, reason room.LeaveReason) error {
	return db.must(ctx, `UPDATE attendance SET left_at = $2, reason = $3 WHERE id = $1 AND left_at IS NULL`, id, millis(at), reason)
}
