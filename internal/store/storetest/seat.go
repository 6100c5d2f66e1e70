package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
)

func newSeat(roomID string, state room.SeatState, at int) room.Seat {
	s := room.Seat{
		ID:        NewID(),
		RoomID:    roomID,
		KeyHash:   NewID(),
		Name:      "Ada",
		Role:      room.Guest,
		State:     state,
		CreatedAt: testTime(at),
	}
	if state == room.Reserved {
		s.HeldUntil = testTime(at + 60)
	}
	return s
}

func (s *suite) insertSeats(t *testing.T, seats ...room.Seat) {
	t.Helper()
	s.write(t, func(ctx context.Context) error {
		for _, seat := range seats {
			if err := s.db.InsertSeat(ctx, seat); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *suite) testSeat(t *testing.T) {
	ctx := patient()
	r, elsewhere := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	for i, text := range trickyTexts {
		seat := newSeat(r.ID, room.Reserved, i)
		seat.Name = text
		s.insertSeats(t, seat)
		got, err := s.db.Seat(ctx, r.ID, seat.ID)
		requireEqual(t, got, err, seat)

		seat.Name, seat.Role, seat.State = text+"!", room.Host, room.Joined
		seat.Connection, seat.HeldUntil = "PA_"+text, time.Time{}
		seat.HandOrder, seat.Invited, seat.Rating = i+1, true, room.RatedGood
		update := seat
		update.RoomID, update.CreatedAt = elsewhere.ID, testTime(99) // UpdateSeat ignores these
		s.write(t, func(ctx context.Context) error { return s.db.UpdateSeat(ctx, update) })
		got, err = s.db.SeatByKey(ctx, r.ID, seat.KeyHash)
		requireEqual(t, got, err, seat)

		_, err = s.db.Seat(ctx, elsewhere.ID, seat.ID)
		requireFault(t, err, fault.NotFound, "seat_not_found")
		_, err = s.db.SeatByKey(ctx, elsewhere.ID, seat.KeyHash)
		requireFault(t, err, fault.NotFound, "seat_not_found")

		twin := room.Seat{
			ID:        NewID(),
			RoomID:    r.ID,
			KeyHash:   seat.KeyHash,
			State:     room.Free,
			CreatedAt: testTime(1),
		}
		requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertSeat(ctx, twin) }))
		twin.RoomID = elsewhere.ID // the same browser in another room
		s.insertSeats(t, twin)
	}
	err := s.db.Write(ctx, func(ctx context.Context) error { return s.db.UpdateSeat(ctx, newSeat(r.ID, room.Free, 1)) })
	requireFault(t, err, fault.NotFound, "seat_not_found")
}

func (s *suite) testHands(t *testing.T) {
	ctx := patient()
	r, elsewhere := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	first, second, down := newSeat(r.ID, room.Joined, 3), newSeat(r.ID, room.Reserved, 1), newSeat(r.ID, room.Joined, 2)
	free, other := newSeat(r.ID, room.Free, 0), newSeat(elsewhere.ID, room.Joined, 0)
	first.HandOrder, second.HandOrder, free.HandOrder, other.HandOrder = 2, 7, 1, 3
	s.insertSeats(t, second, free, down, other, first)
	got, err := s.db.RaisedHands(ctx, r.ID)
	requireEqual(t, got, err, []room.Seat{first, second})
}

func (s *suite) testOccupancy(t *testing.T) {
	ctx := patient()
	r, elsewhere := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	occupied := func(want room.Occupancy) {
		t.Helper()
		got, err := s.db.Occupancy(ctx, r.ID)
		requireEqual(t, got, err, want)
	}
	occupied(room.Occupancy{})
	late, early := newSeat(r.ID, room.Reserved, 20), newSeat(r.ID, room.Reserved, 10)
	joined, free := newSeat(r.ID, room.Joined, 2), newSeat(r.ID, room.Free, 1)
	other := newSeat(elsewhere.ID, room.Reserved, 0)
	s.insertSeats(t, late, early, joined, free, other)
	occupied(room.Occupancy{Taken: 3, Joined: 1, Unused: 2, NextRelease: early.HeldUntil})
	got, err := s.db.Seats(ctx, r.ID)
	requireEqual(t, got, err, []room.Seat{joined, early, late})

	// A joined seat that is reserved again has a time of release too.
	joined.HeldUntil, early.State, early.HeldUntil = testTime(65), room.Free, time.Time{}
	s.write(t, func(ctx context.Context) error {
		return errors.Join(s.db.UpdateSeat(ctx, joined), s.db.UpdateSeat(ctx, early))
	})
	occupied(room.Occupancy{Taken: 2, Joined: 1, Unused: 1, NextRelease: joined.HeldUntil})

	early.RemovedAt, early.Demoted = testTime(66), true
	s.write(t, func(ctx context.Context) error { return s.db.UpdateSeat(ctx, early) })
	got, err = s.db.RemovedSeats(ctx, r.ID)
	requireEqual(t, got, err, []room.Seat{early})
	got, err = s.db.PromotedSeats(ctx, r.ID, joined.ID)
	requireEqual(t, got, err, nil)
	early.RemovedAt, early.PromotedBy = time.Time{}, joined.ID
	s.write(t, func(ctx context.Context) error { return s.db.UpdateSeat(ctx, early) })
	got, err = s.db.RemovedSeats(ctx, r.ID)
	requireEqual(t, got, err, nil)
	got, err = s.db.PromotedSeats(ctx, r.ID, joined.ID)
	requireEqual(t, got, err, []room.Seat{early})
	got, err = s.db.PromotedSeats(ctx, r.ID, "")
	requireEqual(t, got, err, nil)
}

func (s *suite) testPresentNames(t *testing.T) {
	ctx := patient()
	r, elsewhere := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	named := func(name string, role room.Role, state room.SeatState, at int) room.Seat {
		seat := newSeat(r.ID, state, at)
		seat.Name, seat.Role = name, role
		return seat
	}
	hidden := named("Hidden", room.Host, room.Joined, 0)
	hidden.Hidden = true
	other := newSeat(elsewhere.ID, room.Joined, 0)
	own := named("Own", room.Guest, room.Joined, 1)
	s.insertSeats(t, hidden, other, own, named("Gone", room.Host, room.Free, 0),
		named("Reserved", room.Host, room.Reserved, 0), named("Guest 2", room.Guest, room.Joined, 3),
		named("Guest 1", room.Guest, room.Joined, 2), named("Co-host", room.CoHost, room.Joined, 5),
		named("Host", room.Host, room.Joined, 6))
	got, err := s.db.PresentNames(ctx, r.ID, own.ID, 9)
	requireEqual(t, got, err, []string{"Host", "Co-host", "Guest 1", "Guest 2"})
	got, err = s.db.PresentNames(ctx, r.ID, "", 3)
	requireEqual(t, got, err, []string{"Host", "Co-host", "Own"})
}

func (s *suite) testAttendance(t *testing.T) {
	ctx := patient()
	r := s.insertRoom(t, Room(s.project.ID))
	ada, bob := newSeat(r.ID, room.Joined, 1), newSeat(r.ID, room.Joined, 2)
	s.insertSeats(t, ada, bob)
	connected := func(seat room.Seat, connection string, at int) room.Attendance {
		return room.Attendance{
			ID:         NewID(),
			RoomID:     r.ID,
			Session:    1,
			SeatID:     seat.ID,
			Connection: connection,
			JoinedAt:   testTime(at),
		}
	}
	insert := func(a room.Attendance) (fresh bool) {
		t.Helper()
		s.write(t, func(ctx context.Context) (err error) {
			fresh, err = s.db.InsertAttendance(ctx, a, a.JoinedAt)
			return err
		})
		return fresh
	}
	end := func(a room.Attendance, at int, reason room.LeaveReason) {
		t.Helper()
		a.LeftAt, a.Reason = testTime(at), reason
		s.write(t, func(ctx context.Context) error { return s.db.EndAttendance(ctx, a, a.LeftAt) })
	}
	second, first, third := connected(bob, "PA_1", 20), connected(ada, "PA_1", 10), connected(ada, "PA_2", 30)
	for _, a := range []room.Attendance{second, first, third} {
		if !insert(a) {
			t.Fatal("InsertAttendance of a new connection: got false, want true")
		}
		again := a
		again.ID, again.JoinedAt = NewID(), testTime(40)
		if insert(again) {
			t.Fatal("InsertAttendance of a known connection: got true, want false")
		}
	}
	got, err := s.db.CurrentAttendance(ctx, r.ID)
	requireEqual(t, got, err, []room.Attendance{first, second, third})
	latest := func(seat room.Seat, connection string, want room.Attendance) {
		t.Helper()
		seat.Connection = connection
		got, err := s.db.LatestAttendance(ctx, seat)
		requireEqual(t, got, err, want)
	}
	latest(ada, "PA_2", third)
	latest(bob, "PA_1", second)
	latest(bob, "PA_2", room.Attendance{})
	latest(bob, "", room.Attendance{})

	end(first, 50, room.LeftByChoice)
	end(first, 60, room.LeftLost) // changes nothing, because it has already ended
	first.LeftAt, first.Reason = testTime(50), room.LeftByChoice
	got, err = s.db.CurrentAttendance(ctx, r.ID)
	requireEqual(t, got, err, []room.Attendance{second, third})
	got, err = Attendance(ctx, s.db, r.ID)
	requireEqual(t, got, err, []room.Attendance{first, second, third})

	requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error {
		_, err := s.db.InsertAttendance(ctx, connected(newSeat(r.ID, room.Free, 1), "PA_3", 1), testTime(1))
		return err
	}))
	if _, err := s.db.InsertAttendance(ctx, connected(ada, "PA_4", 1), testTime(1)); err == nil {
		t.Fatal("InsertAttendance outside Write: got no error, want one")
	}
}

func (s *suite) testQuality(t *testing.T) {
	ctx := patient()
	r := s.insertRoom(t, Room(s.project.ID))
	seat := newSeat(r.ID, room.Joined, 1)
	s.insertSeats(t, seat)
	a := room.Attendance{
		ID:         NewID(),
		RoomID:     r.ID,
		Session:    1,
		SeatID:     seat.ID,
		Connection: "PA_1",
		JoinedAt:   testTime(1),
	}
	update := func(q room.ConnectionQuality, poor time.Duration) {
		t.Helper()
		changed := a
		changed.Quality, changed.PoorFor = q, poor
		s.write(t, func(ctx context.Context) error { return s.db.UpdateQuality(ctx, changed) })
	}
	s.write(t, func(ctx context.Context) error {
		_, err := s.db.InsertAttendance(ctx, a, a.JoinedAt)
		return err
	})
	update(room.QualityPoor, 20*time.Second)
	a.Quality, a.PoorFor = room.QualityPoor, 20*time.Second
	got, err := s.db.CurrentAttendance(ctx, r.ID)
	requireEqual(t, got, err, []room.Attendance{a})
	a.LeftAt, a.Reason = testTime(9), room.LeftLost
	s.write(t, func(ctx context.Context) error { return s.db.EndAttendance(ctx, a, a.LeftAt) })
	update(room.QualityGood, time.Hour) // changes nothing, because it has already ended
	got, err = Attendance(ctx, s.db, r.ID)
	requireEqual(t, got, err, []room.Attendance{a})
}

func (s *suite) testDeleteUnusedSeat(t *testing.T) {
	ctx := patient()
	r := s.insertRoom(t, Room(s.project.ID))
	unused, used := newSeat(r.ID, room.Reserved, 1), newSeat(r.ID, room.Free, 2)
	s.insertSeats(t, unused, used)
	s.write(t, func(ctx context.Context) error {
		_, err := s.db.InsertAttendance(ctx, room.Attendance{
			ID:         NewID(),
			RoomID:     r.ID,
			Session:    1,
			SeatID:     used.ID,
			Connection: "PA_1",
			JoinedAt:   testTime(3),
		}, testTime(3))
		return err
	})
	for _, c := range []struct {
		id   string
		want bool
	}{{unused.ID, true}, {used.ID, false}, {unused.ID, false}, {NewID(), false}} {
		deleted := false
		s.write(t, func(ctx context.Context) (err error) {
			deleted, err = s.db.DeleteUnusedSeat(ctx, c.id)
			return err
		})
		if deleted != c.want {
			t.Errorf("DeleteUnusedSeat(%s): got %t, want %t", c.id, deleted, c.want)
		}
	}
	_, err := s.db.Seat(ctx, r.ID, unused.ID)
	requireFault(t, err, fault.NotFound, "seat_not_found")
	got, err := s.db.Seat(ctx, r.ID, used.ID)
	requireEqual(t, got, err, used)
}
