package webhook

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"parley/internal/fault"
)

const (
	sweepEvery = time.Second
	// batchDelay is how long a sweep waits after the one before, so that what is
	// committed meanwhile shares it.
	batchDelay = 3 * time.Millisecond
	// shutdownTimeout is what attempts under way get when the process stops.
	shutdownTimeout = 3 * time.Second

	pruneEvery = time.Hour
	pruneBatch = 500
)

// Run delivers what is due until ctx ends. Then attempts under way get a
// moment, and what they were at is given back.
func (s *Service) Run(ctx context.Context) {
	attempts, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var work sync.WaitGroup
	work.Go(func() { s.runPruner(ctx) })
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		s.sweep(ctx, attempts, &work)
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-s.wake:
			time.Sleep(batchDelay)
		}
	}
	defer time.AfterFunc(shutdownTimeout, cut).Stop()
	work.Wait()
}

// runPruner deletes, now and then, what is kept no longer.
func (s *Service) runPruner(ctx context.Context) {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		s.logFailure("forget old deliveries", s.Prune(ctx))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Prune deletes what is kept no longer, a few at a time so that nobody waits.
func (s *Service) Prune(ctx context.Context) error {
	before := s.now().Add(-deliveryRetention)
	for pruned := pruneBatch; pruned == pruneBatch; {
		err := s.store.Write(ctx, func(ctx context.Context) (err error) {
			if pruned, err = s.store.PruneDeliveries(ctx, before, pruneBatch); err != nil {
				return err
			}
			return s.store.PruneStreams(ctx, before, pruneBatch)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep starts as many attempts as are due and there is room for.
func (s *Service) sweep(ctx, attempts context.Context, work *sync.WaitGroup) {
	due, err := s.store.DueBuckets(ctx, s.now())
	if s.logFailure("look for due webhooks", err) {
		return
	}
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	places := map[string]int{}
	for _, lane := range due {
		if n := s.buckets.acquire(lane); n > 0 {
			places[lane] = n
		}
	}
	if len(places) == 0 {
		return
	}
	var all []job
	err = s.store.Write(ctx, func(ctx context.Context) error {
		all = all[:0]
		for lane, n := range places {
			jobs, err := s.lease(ctx, lane, n)
			if err != nil {
				return err
			}
			all = append(all, jobs...)
		}
		return nil
	})
	if s.logFailure("claim due webhooks", err) {
		all = nil
	}
	for _, j := range all {
		places[j.stream.Bucket]--
		work.Go(func() {
			s.deliver(ctx, attempts, j)
			s.buckets.release(j.stream.Bucket, 1)
			s.Wake()
		})
	}
	for lane, n := range places {
		s.buckets.release(lane, n)
	}
}

// job is a stream that this process has claimed, and what is to be sent of it.
type job struct {
	stream      Stream
	delivery    Delivery
	target      Target
	probe       bool      // the target is paused, and this is to see whether it is back
	leaseEndsAt time.Time // when others may claim it
}

// lease takes streams of a lane. Those with nothing to send, and those whose
// target is paused, are given back at once.
func (s *Service) lease(ctx context.Context, lane string, n int) ([]job, error) {
	now := s.now()
	until := now.Add(leaseDuration)
	streams, err := s.store.LeaseStreams(ctx, lane, n, s.node+"."+s.newID(), now, until)
	if err != nil {
		return nil, err
	}
	var jobs []job
	for _, stream := range streams {
		j := job{stream: stream, leaseEndsAt: until}
		j.delivery, j.target, err = s.store.NextDelivery(ctx, stream.ID)
		if fault.Is(err, fault.NotFound) {
			err = s.store.ReleaseStream(ctx, stream, time.Time{}, now)
			if err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if j.target.Paused() {
			if j.probe, err = s.acquireProbe(ctx, j, now); err != nil {
				return nil, err
			}
			if !j.probe {
				continue
			}
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// acquireProbe reports whether it is a job's turn to try a paused target. If not, all
// that is due to it waits for the next turn.
func (s *Service) acquireProbe(ctx context.Context, j job, now time.Time) (bool, error) {
	t := j.target
	if !t.ProbeAt.IsZero() {
		turn, err := s.store.AcquireProbe(ctx, t.ProjectID, t.URL, now, now.Add(probeInterval))
		if turn || err != nil {
			return turn, err
		}
	}
	until := t.ProbeAt
	switch {
	case until.IsZero():
		until = now.Add(pausedRetryInterval)
	case !until.After(now): // somebody else has just had the turn
		until = now.Add(probeInterval)
	}
	if err := s.store.ReleaseStream(ctx, j.stream, until, now); err != nil {
		return false, err
	}
	return false, s.store.Postpone(ctx, t.ProjectID, t.URL, now, until)
}

// logFailure logs a failure of the background and reports whether there was one.
func (s *Service) logFailure(what string, err error) bool {
	if err == nil {
		return false
	}
	if fault.Is(err, fault.Unavailable) {
		s.log.Warn("could not "+what, "error", err)
	} else {
		s.log.Error("could not "+what, "error", err)
	}
	return true
}
