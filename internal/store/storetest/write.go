package storetest

import (
	"context"
	"errors"
	"testing"

	"parley/internal/fault"
	"parley/internal/room"
)

func (s *suite) testWrite_ErrorRollsBack(t *testing.T) {
	ctx := patient()
	r := Room(s.project.ID)
	errWork := errors.New("work failed")
	err := s.db.Write(ctx, func(ctx context.Context) error {
		if err := s.db.InsertRoom(ctx, r); err != nil {
			return err
		}
		return errWork
	})
	if err != errWork {
		t.Fatalf("got %v, want %v", err, errWork)
	}
	_, err = s.db.Room(ctx, r.ID)
	requireFault(t, err, fault.NotFound, "room_not_found")
}

// A transaction reads its own writes, also those that the engine has only queued.
// Other connections do not see them before the commit.
func (s *suite) testWrite_ReadsOwnWrites(t *testing.T) {
	r := Room(s.project.ID)
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertRoom(ctx, r); err != nil {
			return err
		}
		got, err := s.db.LockRoom(ctx, r.ID)
		requireEqual(t, got, err, r)
		_, err = s.db.Room(patient(), r.ID)
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

func (s *suite) testWrite_NestedJoins(t *testing.T) {
	ctx := patient()
	outer, inner := Room(s.project.ID), Room(s.project.ID)
	errWork := errors.New("work failed")
	err := s.db.Write(ctx, func(ctx context.Context) error {
		if err := s.db.InsertRoom(ctx, outer); err != nil {
			return err
		}
		err := s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertRoom(ctx, inner) })
		if err != nil {
			return err
		}
		return errWork
	})
	if err != errWork {
		t.Fatalf("got %v, want %v", err, errWork)
	}
	for _, r := range []*room.Room{outer, inner} {
		_, err := s.db.Room(ctx, r.ID)
		requireFault(t, err, fault.NotFound, "room_not_found")
	}
}

func (s *suite) testInsert_OutsideWrite(t *testing.T) {
	if err := s.db.InsertRoom(patient(), Room(s.project.ID)); err == nil {
		t.Fatal("InsertRoom outside Write: got no error, want one")
	}
}

// Work that ignores the error of a statement is rolled back on both engines,
// because PostgreSQL accepts no statement after one that failed.
func (s *suite) testWrite_IgnoredFailureRollsBack(t *testing.T) {
	ctx := patient()
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
		t.Fatal("Write of work that ignored an error: got no error, want one")
	}
	for _, r := range []*room.Room{before, after} {
		_, err := s.db.Room(ctx, r.ID)
		requireFault(t, err, fault.NotFound, "room_not_found")
	}
}

// A missing row is not a failed statement.
func (s *suite) testWrite_IgnoredMissCommits(t *testing.T) {
	r := Room(s.project.ID)
	s.write(t, func(ctx context.Context) error {
		_, err := s.db.Room(ctx, r.ID)
		requireFault(t, err, fault.NotFound, "room_not_found")
		return s.db.InsertRoom(ctx, r)
	})
}
