package storetest

import (
	"context"
	"errors"
	"testing"

	"parley/internal/fault"
	"parley/internal/room"
)

func (s *suite) TestWrite_ErrorRollsBack(t *testing.T) {
	ctx := context.Background()
	r := Room(s.project.ID)
	mine := errors.New("mine")
	err := s.db.Write(ctx, func(ctx context.Context) error {
		if err := s.db.InsertRoom(ctx, r); err != nil {
			return err
		}
		return mine
	})
	if err != mine {
		t.Fatalf("got %v", err)
	}
	_, err = s.db.Room(ctx, r.ID)
	requireFault(t, err, fault.NotFound, "room_not_found")
}

// Inside a transaction everything that was written is there, whatever the
// engine keeps back; outside nothing is until the commit.
func (s *suite) TestWrite_ReadsOwnWrites(t *testing.T) {
	r := Room(s.project.ID)
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertRoom(ctx, r); err != nil {
			return err
		}
		got, err := s.db.LockRoom(ctx, r.ID)
		requireEqual(t, got, err, r)
		_, err = s.db.Room(context.Background(), r.ID)
		requireFault(t, err, fault.NotFound, "room_not_found")

		changed := *r
		changed.State, changed.EventSequence = room.Active, 2
		if err := s.db.UpdateRoom(ctx, &changed); err != nil {
			return err
		}
		got, err = s.db.Room(ctx, r.ID)
		requireEqual(t, got, err, &changed)

		taken := newSeat(r.ID, room.Reserved, 1)
		if err := s.db.InsertSeat(ctx, taken); err != nil {
			return err
		}
		o, err := s.db.Occupancy(ctx, r.ID)
		requireEqual(t, o, err, room.Occupancy{Taken: 1, Unused: 1, NextRelease: taken.HeldUntil})
		return nil
	})
}

func (s *suite) TestWrite_NestedJoins(t *testing.T) {
	ctx := context.Background()
	outer, inner := Room(s.project.ID), Room(s.project.ID)
	mine := errors.New("mine")
	err := s.db.Write(ctx, func(ctx context.Context) error {
		if err := s.db.InsertRoom(ctx, outer); err != nil {
			return err
		}
		if err := s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertRoom(ctx, inner) }); err != nil {
			return err
		}
		return mine
	})
	if err != mine {
		t.Fatal(err)
	}
	for _, r := range []*room.Room{outer, inner} {
		_, err := s.db.Room(ctx, r.ID)
		requireFault(t, err, fault.NotFound, "room_not_found")
	}
}

func (s *suite) TestInsert_OutsideWrite(t *testing.T) {
	if err := s.db.InsertRoom(context.Background(), Room(s.project.ID)); err == nil {
		t.Fatal("a write outside a transaction")
	}
}

// PostgreSQL takes no statement after one that failed, so on no engine may
// work go on as if nothing had happened.
func (s *suite) TestWrite_IgnoredFailureRollsBack(t *testing.T) {
	ctx := context.Background()
	before, after := Room(s.project.ID), Room(s.project.ID)
	err := s.db.Write(ctx, func(ctx context.Context) error {
		if err := s.db.InsertRoom(ctx, before); err != nil {
			return err
		}
		_ = s.db.InsertRoom(ctx, before)
		_ = s.db.InsertRoom(ctx, after)
		return nil
	})
	if err == nil {
		t.Fatal("work that lost a statement was committed")
	}
	for _, r := range []*room.Room{before, after} {
		_, err := s.db.Room(ctx, r.ID)
		requireFault(t, err, fault.NotFound, "room_not_found")
	}
}

// To find nothing is not a failure.
func (s *suite) TestWrite_IgnoredMissCommits(t *testing.T) {
	r := Room(s.project.ID)
	s.write(t, func(ctx context.Context) error {
		_, err := s.db.Room(ctx, r.ID)
		requireFault(t, err, fault.NotFound, "room_not_found")
		return s.db.InsertRoom(ctx, r)
	})
}
