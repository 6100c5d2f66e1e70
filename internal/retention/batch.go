package retention

import (
	"context"
	"time"
)

const (
	// batchTime is how long a transaction should take, because other transactions wait for
	// it: during a sweep on SQLite, the 99th percentile of creating a room is 1.2 times its normal
	// value, and was 2 to 3 times with 10 ms, when a sweep was 1.4 times as fast. The number of rows
	// in a transaction follows from how long the last ones took.
	batchTime = 3 * time.Millisecond
	minRows   = 20
	maxRows   = 500
	// batchRooms is the maximum number of rooms in a transaction.
	batchRooms = 50
	// roundBatches is the number of batches of one project, before others get their turn.
	roundBatches = 20
	// idleFactor is the pause after a transaction as a multiple of its duration, so that a
	// sweep takes at most a fifth of the time of the database.
	idleFactor = 4
)

// work is the work of a transaction. It returns about how many rows it has changed.
type work func(ctx context.Context) (rows int, err error)

// transact runs a transaction of a sweep and returns its rows. After one that has changed
// rows, it adapts the size of the next one, and leaves the database to others for a while.
func (s *Service) transact(ctx context.Context, work work) (rows int, err error) {
	began := time.Now()
	err = s.store.WriteInBackground(ctx, func(ctx context.Context) (err error) {
		rows, err = work(ctx)
		return err
	})
	if err != nil {
		s.batchRows = max(minRows, s.batchRows/2)
		return 0, err
	}
	if rows == 0 {
		return 0, nil
	}
	took := time.Since(began)
	s.adjustBatch(took)
	sleep(ctx, idleFactor*took)
	return rows, ctx.Err()
}

// transactRooms is transact for work that also returns how many rooms it has finished, which
// are counted in the same transaction.
func (s *Service) transactRooms(ctx context.Context, swept *sweptRooms,
	work func(ctx context.Context) (rooms, rows int, err error)) (int, error) {
	rooms := 0
	rows, err := s.transact(ctx, func(ctx context.Context) (rows int, err error) {
		if rooms, rows, err = work(ctx); err != nil || rooms == 0 {
			return rows, err
		}
		return rows, s.count(ctx, swept, rooms)
	})
	if rows == 0 {
		return 0, err
	}
	swept.recorded = swept.recorded || rooms > 0
	return rows, err
}

// adjustBatch changes the size of the next transaction after one that took some time.
func (s *Service) adjustBatch(took time.Duration) {
	switch {
	case took > batchTime:
		s.batchRows = max(minRows, s.batchRows/2)
	case took < batchTime/2:
		s.batchRows = min(maxRows, s.batchRows*2)
	}
}

// sleep waits for a duration or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// repeat runs a batch until it has nothing to do, at most n times. It reports whether there may be
// more to do.
func (s *Service) repeat(
	ctx context.Context, n int, batch func(ctx context.Context) (done int, err error),
) (bool, error) {
	for range n {
		if done, err := batch(ctx); err != nil || done == 0 {
			return false, err
		}
	}
	return true, nil
}

// repeatToEnd runs transactions until one has nothing to do.
func (s *Service) repeatToEnd(ctx context.Context, work work) error {
	for {
		if rows, err := s.transact(ctx, work); err != nil || rows == 0 {
			return err
		}
	}
}
