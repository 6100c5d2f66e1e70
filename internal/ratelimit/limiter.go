// Package ratelimit limits how often each caller or network address may act. It
// imports the standard library and network only.
package ratelimit

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxBuckets bounds the memory of a Limiter: a bucket takes some 100 bytes.
const maxBuckets = 100_000

// Limiter limits the rate of each caller's calls and allows bursts. It is the
// generic cell rate algorithm: one number for each caller, changed without a
// lock. A Limiter is safe for use by several goroutines.
type Limiter struct {
	interval time.Duration // that one call costs
	burst    time.Duration // that a caller may be ahead of the rate
	now      func() time.Time
	began    time.Time // from which the times of the buckets count
	exchange Exchange  // nil unless other nodes limit the same callers

	mu      sync.RWMutex
	buckets map[string]*bucket
}

// bucket is what one caller has used.
type bucket struct {
	theoreticalArrival atomic.Int64 // nanoseconds after Limiter.began at which nothing is used any more
	unpublished        atomic.Int64 // calls that the other nodes do not know yet
}

// New returns a Limiter that allows each caller perSecond calls a second, and
// bursts of twice that. With an exchange the limit holds for all nodes
// together; nil limits this process alone.
func New(perSecond int, now func() time.Time, exchange Exchange) *Limiter {
	return newLimiter(time.Second/time.Duration(perSecond), 2*time.Second, now, exchange)
}

func newLimiter(interval, burst time.Duration, now func() time.Time, exchange Exchange) *Limiter {
	return &Limiter{
		interval: interval,
		burst:    burst,
		now:      now,
		began:    now(),
		exchange: exchange,
		buckets:  map[string]*bucket{},
	}
}

// Allow reports whether a caller may call now, and if not, after which time.
// Only a call that is allowed counts.
func (l *Limiter) Allow(caller string) (ok bool, retryAfter time.Duration) {
	now := l.at(l.now())
	b := l.bucket(caller, now)
	for {
		before := b.theoreticalArrival.Load()
		after := max(before, now) + int64(l.interval)
		if ahead := time.Duration(after - now); ahead > l.burst {
			return false, ahead - l.burst
		}
		if b.theoreticalArrival.CompareAndSwap(before, after) {
			break
		}
	}
	if l.exchange != nil && b.unpublished.Add(1) == 1 {
		l.exchange.Enqueue(Usage{Caller: caller, limiter: l, bucket: b})
	}
	return true, 0
}

// at returns t as nanoseconds since the limiter was made. It uses the monotonic clock, so that a change of the wall
// clock does not delay callers.
func (l *Limiter) at(t time.Time) int64 { return int64(t.Sub(l.began)) }

func (l *Limiter) bucket(caller string, now int64) *bucket {
	l.mu.RLock()
	b, ok := l.buckets[caller]
	l.mu.RUnlock()
	if ok {
		return b
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok = l.buckets[caller]; ok {
		return b
	}
	if len(l.buckets) >= maxBuckets {
		l.prune(now)
	}
	b = &bucket{}
	l.buckets[caller] = b
	return b
}

// prune removes the callers that have used nothing, and all callers if that
// frees less than half, so that prune runs rarely. The caller holds l.mu.
func (l *Limiter) prune(now int64) {
	for caller, b := range l.buckets {
		if b.theoreticalArrival.Load() <= now {
			delete(l.buckets, caller)
		}
	}
	if len(l.buckets) > maxBuckets/2 {
		clear(l.buckets)
	}
}
