package db

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// maxCompactionWait is the time after the start of a compaction for which writes wait for
// its end. From then on they are refused after their usual timeout.
const maxCompactionWait = 30 * time.Second

// compacter is an engine whose files keep deleted data until they are rewritten.
type compacter interface {
	// checkSpaceToCompact returns an error if the disk has too little space for compact.
	checkSpaceToCompact(ctx context.Context) error
	// compact rewrites the files without deleted data, and then runs a statement. Nothing else may write meanwhile.
	compact(ctx context.Context, finish string) error
}

// compaction is one run of the engine's compact, which all callers of Compact that wait
// for it share.
type compaction struct {
	done chan struct{} // closed when err is set
	err  error
}

// compactionState is the state of the compactions of a database.
type compactionState struct {
	mu      sync.Mutex
	current *compaction // waits for its start or runs; nil if there is none
	began   time.Time   // when the current one began to block the writer; zero if it does not
	ended   time.Time   // when the last one let the writer continue
	running sync.WaitGroup
	// copying is a semaphore that a snapshot and a compaction hold, because each reads the
	// whole file, and a snapshot keeps the write-ahead log of a compaction from shrinking.
	copying chan struct{}
}

// NeedsCompaction reports whether the files of the database keep deleted data until Compact rewrites them.
func (db *DB) NeedsCompaction() bool {
	_, ok := db.engine.(compacter)
	return ok
}

// Compact rewrites the files of the database, so that they contain no copy of data whose
// deletion was committed before the call. It returns false on PostgreSQL, where autovacuum
// frees deleted data later, because VACUUM FULL would lock every table.
//
// After a success, Compact runs the statement finish before any other write, so that the statement applies to
// exactly what was committed before the compaction.
//
// The compaction runs in the background and starts after a running snapshot. Concurrent
// callers share it, with the statement of the first. If ctx ends first, Compact returns its error and the compaction
// continues. It logs its start and its result. Writes wait meanwhile, about a second for
// each 150 MB, for at most 30 seconds; after that they return Unavailable. It fails before
// it starts if the disk has too little space for two copies of the database.
func (db *DB) Compact(ctx context.Context, log *slog.Logger, finish string) (bool, error) {
	e, ok := db.engine.(compacter)
	if !ok {
		return false, nil
	}
	c := db.joinCompaction(e, log, finish)
	select {
	case <-c.done:
		return c.err == nil, c.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// joinCompaction returns the current compaction, or starts one. A caller may share a
// compaction that already runs: because it blocks the writer, the caller's changes were
// committed before it started.
func (db *DB) joinCompaction(e compacter, log *slog.Logger, finish string) *compaction {
	s := &db.compactions
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		return s.current
	}
	c := &compaction{done: make(chan struct{})}
	select {
	case <-db.stop:
		c.err = unavailable(errClosed)
		close(c.done)
		return c
	default:
	}
	s.current = c
	s.running.Go(func() {
		c.err = db.runCompaction(e, log, finish)
		close(c.done)
	})
	return c
}

// runCompaction runs the current compaction when no snapshot is being made and the writer is
// idle. Close interrupts it.
func (db *DB) runCompaction(e compacter, log *slog.Logger, finish string) error {
	s := &db.compactions
	// It must run before the write slot is released, because a caller that commits after
	// that must not join this compaction. Deferred functions run in the reverse order.
	ended := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.began.IsZero() {
			s.ended = time.Now()
		}
		s.current, s.began = nil, time.Time{}
	}
	ctx, cancel := db.untilClosed()
	defer cancel()
	if !acquire(ctx, s.copying) {
		ended()
		return unavailable(errClosed)
	}
	defer func() { <-s.copying }()
	if err := e.checkSpaceToCompact(ctx); err != nil {
		ended()
		log.Error("compact the database skipped, it still contains erased data", "error", err)
		return translate(err)
	}
	if !acquire(ctx, db.writeSlot) {
		ended()
		return unavailable(errClosed)
	}
	defer func() { <-db.writeSlot }()
	defer ended()
	s.mu.Lock()
	s.began = time.Now()
	began := s.began
	s.mu.Unlock()
	log.Info("compact the database started, writes wait")
	if err := e.compact(ctx, finish); err != nil {
		log.Error("compact the database failed, it still contains erased data", "error", err,
			"duration", time.Since(began))
		return translate(err)
	}
	log.Info("compact the database finished", "duration", time.Since(began))
	return nil
}

// acquire waits for a semaphore. It returns false if ctx ends before.
func acquire(ctx context.Context, semaphore chan<- struct{}) bool {
	select {
	case semaphore <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// untilClosed returns a context that ends when the database is closed.
func (db *DB) untilClosed() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-db.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// compactionWait returns how much longer a caller may wait for the writer after its timeout,
// because of a compaction. While a compaction runs, this is the timeout once more, until
// maxCompactionWait after the start of the compaction. Afterwards the timeout counts from the
// end of the compaction. The caller must give up if the result is 0 or less.
func (db *DB) compactionWait(timeout time.Duration) time.Duration {
	s := &db.compactions
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		return timeout - time.Since(s.ended)
	}
	return min(timeout, maxCompactionWait-time.Since(s.began))
}
