package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/fault"
)

func (s *suite) testACMEFiles(t *testing.T) {
	ctx, folder := patient(), NewID()
	paths := []string{folder + "/a/b.crt", folder + "/a/b.key", folder + "/c", folder + "0"}
	s.write(t, func(ctx context.Context) error {
		for i, path := range paths {
			if err := s.db.SaveACMEFile(ctx, path, []byte(path), testTime(i)); err != nil {
				return err
			}
		}
		return s.db.SaveACMEFile(ctx, paths[0], []byte{0, 255}, testTime(9))
	})
	value, at, err := s.db.ACMEFile(ctx, paths[0])
	requireEqual(t, string(value), err, "\x00\xff")
	requireEqual(t, at, nil, testTime(9))
	below, err := s.db.ACMEFilesBelow(ctx, folder)
	requireEqual(t, below, err, paths[:3])
	s.write(t, func(ctx context.Context) error { return s.db.DeleteACMEFiles(ctx, folder+"/a") })
	below, err = s.db.ACMEFilesBelow(ctx, folder)
	requireEqual(t, below, err, paths[2:3])
	s.write(t, func(ctx context.Context) error { return s.db.DeleteACMEFiles(ctx, folder+"/c") })
	_, _, err = s.db.ACMEFile(ctx, folder+"/c")
	requireFault(t, err, fault.NotFound, "acme_file_not_found")
	_, _, err = s.db.ACMEFile(ctx, paths[3])
	requireEqual(t, nil, err, error(nil))
}

// A lock has one holder until it is released or expires.
func (s *suite) testACMELocks(t *testing.T) {
	name := NewID()
	do := func(work func(ctx context.Context) (bool, error)) (locked bool) {
		t.Helper()
		s.write(t, func(ctx context.Context) (err error) {
			locked, err = work(ctx)
			return err
		})
		return locked
	}
	lock := func(holder string, now, until time.Time) bool {
		t.Helper()
		return do(func(ctx context.Context) (bool, error) { return s.db.LockACME(ctx, name, holder, now, until) })
	}
	renew := func(holder string, until time.Time) bool {
		t.Helper()
		return do(func(ctx context.Context) (bool, error) { return s.db.RenewACMELock(ctx, name, holder, until) })
	}
	got := []bool{
		lock("a", testTime(0), testTime(2)), // free
		lock("a", testTime(0), testTime(2)), // as after a commit whose result was lost
		lock("b", testTime(1), testTime(3)), // held
		renew("a", testTime(4)),
		renew("b", testTime(4)),
		lock("b", testTime(3), testTime(5)), // renewed
		lock("b", testTime(5), testTime(7)), // expired
		renew("a", testTime(9)),
	}
	requireEqual(t, got, nil, []bool{true, true, false, true, false, false, true, false})
	s.write(t, func(ctx context.Context) error { return s.db.UnlockACME(ctx, name, "a") })
	requireEqual(t, lock("a", testTime(6), testTime(8)), nil, false)
	s.write(t, func(ctx context.Context) error { return s.db.UnlockACME(ctx, name, "b") })
	requireEqual(t, lock("a", testTime(6), testTime(8)), nil, true)
}
