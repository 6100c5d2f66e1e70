package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/conncheck"
	"parley/internal/fault"
)

// A check is started once by its code and finished once by its key, while they are valid.
func (s *suite) testConnectionChecks(t *testing.T) {
	ctx := patient()
	c := conncheck.Check{ID: NewID(), CodeHash: NewID(), CreatedAt: testTime(0), ExpiresAt: testTime(5)}
	insert := func(c conncheck.Check, deleteBefore time.Time) {
		t.Helper()
		s.write(t, func(ctx context.Context) error { return s.db.InsertConnectionCheck(ctx, c, deleteBefore) })
	}
	try := func(work func(ctx context.Context) error) error { return s.db.Write(ctx, work) }
	start := func(codeHash, keyHash string, at time.Time) error {
		return try(func(ctx context.Context) error {
			return s.db.StartConnectionCheck(ctx, codeHash, keyHash, at, testTime(9))
		})
	}
	paths := conncheck.Paths{{Name: "udp", Offered: true, Works: true, Address: "203.0.113.7:7882"}, {Name: "ice_tcp"}}
	finish := func(keyHash string, at time.Time) error {
		return try(func(ctx context.Context) error { return s.db.FinishConnectionCheck(ctx, keyHash, paths, at) })
	}
	insert(c, testTime(-100))
	got, err := s.db.ConnectionCheck(ctx, c.ID)
	requireEqual(t, got, err, c)
	got, err = s.db.ConnectionCheckByCode(ctx, c.CodeHash)
	requireEqual(t, got, err, c)
	_, err = s.db.ConnectionCheck(ctx, NewID())
	requireFault(t, err, fault.NotFound, "check_not_found")

	key := NewID()
	requireFault(t, start(NewID(), NewID(), testTime(1)), fault.NotFound, "check_not_found")
	requireFault(t, start(c.CodeHash, NewID(), testTime(5)), fault.NotFound, "check_not_found") // expired
	requireEqual(t, nil, start(c.CodeHash, key, testTime(4)), error(nil))
	requireFault(t, start(c.CodeHash, NewID(), testTime(4)), fault.NotFound, "check_not_found") // used
	c.KeyHash, c.StartedAt, c.ExpiresAt = key, testTime(4), testTime(9)
	got, err = s.db.ConnectionCheckByKey(ctx, key)
	requireEqual(t, got, err, c)

	requireFault(t, finish(NewID(), testTime(5)), fault.NotFound, "check_not_found")
	requireFault(t, finish(key, testTime(9)), fault.NotFound, "check_not_found") // expired
	requireEqual(t, nil, finish(key, testTime(6)), error(nil))
	requireFault(t, finish(key, testTime(7)), fault.NotFound, "check_not_found") // finished
	c.Paths, c.FinishedAt = paths, testTime(6)
	got, err = s.db.ConnectionCheck(ctx, c.ID)
	requireEqual(t, got, err, c)

	// A new check deletes old ones.
	insert(conncheck.Check{ID: NewID(), CodeHash: NewID(), CreatedAt: testTime(8), ExpiresAt: testTime(12)}, testTime(9))
	_, err = s.db.ConnectionCheck(ctx, c.ID)
	requireEqual(t, nil, err, error(nil))
	insert(conncheck.Check{ID: NewID(), CodeHash: NewID(), CreatedAt: testTime(8), ExpiresAt: testTime(12)}, testTime(10))
	_, err = s.db.ConnectionCheck(ctx, c.ID)
	requireFault(t, err, fault.NotFound, "check_not_found")
}
