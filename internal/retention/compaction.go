package retention

import (
	"context"
	"time"
)

// Compaction says whether the files of the database still contain what was erased.
type Compaction string

// States of a compaction after an erasure.
const (
	CompactionDone    Compaction = "done"    // the files contain no copy any more
	CompactionRunning Compaction = "running" // the compaction did not finish in time and continues
	CompactionFailed  Compaction = "failed"  // the files were not rewritten; a later sweep tries again
	CompactionLater   Compaction = "later"   // the engine overwrites what was erased when it reuses the space
)

const (
	// compactionWait is how long a request waits for the files to be rewritten.
	compactionWait = 20 * time.Second
	// minCompactionDelay and maxCompactionDelay bound the time after a failed compaction in which sweeps do not compact.
	minCompactionDelay = time.Hour
	maxCompactionDelay = 24 * time.Hour
)

// resumeCompaction compacts the files of the database if they still contain what an erasure or a deletion has removed,
// because its compaction was interrupted or has failed. After a failed attempt of a sweep it waits, because each
// attempt blocks writes.
func (s *Service) resumeCompaction(ctx context.Context) error {
	due, err := s.store.CompactionDue(ctx)
	if err == nil && !due {
		s.compactError = nil // an erasure has compacted them
	}
	if err != nil || !due || s.now().Before(s.compactAfter) {
		return err
	}
	s.log.Info("repeat the compaction of the database, which still contains erased data")
	s.compactInSweep(ctx)
	return ctx.Err()
}

// compactInSweep is compact for a sweep, which waits for the end. After each failure it doubles the time until the next
// attempt.
func (s *Service) compactInSweep(ctx context.Context) Compaction {
	compaction, err := s.compact(ctx)
	switch s.compactError = err; {
	case ctx.Err() != nil:
	case compaction == CompactionFailed:
		s.compactDelay = min(max(minCompactionDelay, 2*s.compactDelay), maxCompactionDelay)
		s.compactAfter = s.now().Add(s.compactDelay)
	default:
		s.compactDelay, s.compactAfter = 0, time.Time{}
	}
	return compaction
}

// compactFor compacts like compact, but waits no longer than wait.
func (s *Service) compactFor(ctx context.Context, wait time.Duration) Compaction {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	compaction, _ := s.compact(ctx) // the store logs the error
	return compaction
}

// compact rewrites the files of the database. If ctx ends first, compact returns CompactionRunning, and the rewriting
// continues. The store logs the error of CompactionFailed.
func (s *Service) compact(ctx context.Context) (Compaction, error) {
	done, err := s.store.Compact(ctx, s.log)
	switch {
	case err == nil && done:
		return CompactionDone, nil
	case err == nil:
		return CompactionLater, nil
	case ctx.Err() != nil:
		return CompactionRunning, nil
	default:
		return CompactionFailed, err
	}
}
