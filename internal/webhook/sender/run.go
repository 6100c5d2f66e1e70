package sender

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"parley/internal/fault"
	"parley/internal/webhook"
)

const (
	sweepEvery = time.Second
	// batchDelay is the pause before a sweep that Wake starts, so that one sweep
	// serves all transactions that commit in this time.
	batchDelay = 3 * time.Millisecond
	// shutdownTimeout is the time for attempts in flight when the process stops.
	shutdownTimeout = 3 * time.Second
)

// Run sends due deliveries until ctx ends. Attempts in flight then have
// shutdownTimeout to finish; after it they are canceled and their streams are
// released.
func (s *Service) Run(ctx context.Context) {
	attempts, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var work sync.WaitGroup
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		s.swept(s.sweep(ctx, attempts, &work))
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-s.signal.Woken():
			time.Sleep(batchDelay)
		}
	}
	defer time.AfterFunc(shutdownTimeout, cancel).Stop()
	work.Wait()
}

// sweep leases due streams, as many as there are free slots, and starts their
// attempts. It logs its error.
func (s *Service) sweep(ctx, attempts context.Context, work *sync.WaitGroup) error {
	s.buckets.forgetOld(s.now())
	due, err := s.store.DueBuckets(ctx, s.now())
	if s.logFailure("list due webhook buckets", err) {
		return err
	}
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	slots := map[string]int{} // acquired and not yet used, by bucket
	inTurn(due)
	for _, name := range due {
		if n := s.buckets.acquire(name); n > 0 {
			slots[name] = n
		}
	}
	if len(slots) == 0 {
		return nil
	}
	var all []job
	err = s.store.Write(ctx, func(ctx context.Context) error {
		all = all[:0]
		for name, n := range slots {
			jobs, err := s.lease(ctx, name, n)
			if err != nil {
				return err
			}
			all = append(all, jobs...)
		}
		return nil
	})
	if s.logFailure("lease due webhook streams", err) {
		all = nil
	}
	for _, j := range all {
		slots[j.stream.Bucket]--
		work.Go(func() {
			s.deliver(ctx, attempts, j)
			s.buckets.release(j.stream.Bucket, 1)
			s.signal.Wake()
		})
	}
	// Slots for which no stream was leased.
	for name, n := range slots {
		s.buckets.release(name, n)
	}
	return err
}

// job is a stream that this process has leased, with its next delivery.
type job struct {
	stream      webhook.Stream
	delivery    webhook.Delivery
	target      webhook.Target
	probe       bool      // the target is paused, and this attempt tests whether it has recovered
	leaseEndsAt time.Time // from then on another process may lease the stream
}

// lease leases at most n due streams of a bucket. It releases those without a
// pending delivery and those whose target is paused.
func (s *Service) lease(ctx context.Context, bucketName string, n int) ([]job, error) {
	now := s.now()
	until := now.Add(leaseDuration)
	streams, err := s.store.LeaseStreams(ctx, bucketName, n, s.node+"."+s.newID(), now, until)
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
			var postponed bool
			if j.probe, postponed, err = s.acquireProbe(ctx, j, now); err != nil {
				return nil, err
			}
			if postponed {
				continue
			}
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// acquireProbe reports whether this job may probe its paused target. If not, it
// postpones all deliveries to the target until the next probe, unless the target was
// resumed since the job was read.
func (s *Service) acquireProbe(ctx context.Context, j job, now time.Time) (acquired, postponed bool, err error) {
	t := j.target
	if !t.ProbeAt.IsZero() {
		acquired, err = s.store.AcquireProbe(ctx, t.ProjectID, t.URL, now, now.Add(probeInterval))
		if acquired || err != nil {
			return acquired, false, err
		}
	}
	paused, err := s.store.LockPausedTarget(ctx, t.ProjectID, t.URL)
	if !paused || err != nil {
		return false, false, err
	}
	until := t.ProbeAt
	switch {
	case until.IsZero():
		until = now.Add(pausedRetryInterval)
	case !until.After(now): // another job has just acquired the probe
		until = now.Add(probeInterval)
	}
	if err := s.store.ReleaseStream(ctx, j.stream, until, now); err != nil {
		return false, false, err
	}
	return false, true, s.store.Postpone(ctx, t.ProjectID, t.URL, now, until)
}

// logFailure logs the failure of a background operation, and reports whether err
// is one.
func (s *Service) logFailure(operation string, err error) bool {
	if err == nil {
		return false
	}
	if fault.Is(err, fault.Unavailable) {
		s.log.Warn(operation+" failed", "error", err)
	} else {
		s.log.Error(operation+" failed", "error", err)
	}
	return true
}
