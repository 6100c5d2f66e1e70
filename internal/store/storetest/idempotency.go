package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
)

func (s *suite) testIdempotencyRecord(t *testing.T) {
	ctx := patient()
	first := room.IdempotencyRecord{
		ID: NewID(), BodyHash: "hash", SavedResult: "https://meet.example.org/r/1#t=token", ExpiresAt: testTime(60),
	}
	if !s.saveIdempotencyRecord(t, first, testTime(0)) {
		t.Error("first record: got not saved, want saved")
	}
	second := room.IdempotencyRecord{ID: first.ID, BodyHash: "other", ExpiresAt: testTime(90)}
	if s.saveIdempotencyRecord(t, second, testTime(59)) {
		t.Error("second record before the first expires: got saved, want not saved")
	}
	got, err := s.db.IdempotencyRecord(ctx, first.ID, testTime(59))
	requireEqual(t, got, err, first)
	_, err = s.db.IdempotencyRecord(ctx, first.ID, testTime(60))
	requireFault(t, err, fault.NotFound, "idempotency_record_not_found")
	_, err = s.db.IdempotencyRecord(ctx, NewID(), testTime(0))
	requireFault(t, err, fault.NotFound, "idempotency_record_not_found")

	next := room.IdempotencyRecord{ID: first.ID, BodyHash: "other", ExpiresAt: testTime(120)}
	if !s.saveIdempotencyRecord(t, next, testTime(60)) {
		t.Error("second record after the first expired: got not saved, want saved")
	}
	got, err = s.db.IdempotencyRecord(ctx, next.ID, testTime(60))
	requireEqual(t, got, err, next)

	old := room.IdempotencyRecord{ID: NewID(), BodyHash: "hash", ExpiresAt: testTime(100)}
	s.saveIdempotencyRecord(t, old, testTime(60))
	for more := true; more; { // other tests may have left records that have expired
		s.write(t, func(ctx context.Context) error {
			n, err := s.db.DeleteExpiredIdempotencyRecords(ctx, testTime(100), 1)
			more = n == 1
			if n > 1 {
				t.Errorf("deleted records: got %d, want at most 1", n)
			}
			return err
		})
	}
	_, err = s.db.IdempotencyRecord(ctx, old.ID, testTime(0))
	requireFault(t, err, fault.NotFound, "idempotency_record_not_found")
	got, err = s.db.IdempotencyRecord(ctx, next.ID, testTime(60))
	requireEqual(t, got, err, next)
}

// Only one of many concurrent inserts with the same id succeeds.
func (s *suite) testIdempotencyRecord_Concurrent(t *testing.T) {
	id := NewID()
	var fresh atomic.Int32
	var work sync.WaitGroup
	for range 32 {
		work.Go(func() {
			record := room.IdempotencyRecord{ID: id, BodyHash: "hash", ExpiresAt: testTime(60)}
			if s.saveIdempotencyRecord(t, record, testTime(0)) {
				fresh.Add(1)
			}
		})
	}
	work.Wait()
	if n := fresh.Load(); n != 1 {
		t.Errorf("got %d successful inserts, want 1", n)
	}
}

func (s *suite) testIdempotencyRecord_OutsideTransaction(t *testing.T) {
	record := room.IdempotencyRecord{ID: NewID(), ExpiresAt: testTime(60)}
	if _, err := s.db.InsertIdempotencyRecord(patient(), record, testTime(0)); err == nil {
		t.Error("InsertIdempotencyRecord outside Write: got no error, want one")
	}
}

func (s *suite) saveIdempotencyRecord(t *testing.T, r room.IdempotencyRecord, now time.Time) (fresh bool) {
	t.Helper()
	err := s.db.Write(patient(), func(ctx context.Context) (err error) {
		fresh, err = s.db.InsertIdempotencyRecord(ctx, r, now)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return fresh
}
