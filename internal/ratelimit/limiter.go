// Package ratelimit limits how often each caller or network address may act.
package ratelimit

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxBuckets bounds the memory: some 100 bytes each.
const maxBuckets = 100_000

// Limiter bounds how often each caller may call: so many in a time, with bursts.
// It is the generic cell rate algorithm: one number for each caller, moved
// without a lock.
type Limiter struct {
	interval time.Duration // between calls
	burst    time.Duration // that a caller may be ahead
	now      func() time.Time
	exchange Exchange // nil unless other nodes limit the same callers

	mu      sync.RWMutex
	buckets map[string]*bucket
}

// bucket is what one caller has spent.
type bucket struct {
	theoreticalArrival atomic.Int64 // when all is used up: Unix nanoseconds
	unpublished        atomic.Int64 // calls that the other nodes have not heard of
}

// New allows perSecond calls a second for each caller, and bursts of twice
// that. With an exchange the limit holds for all nodes together; nil limits
// this process alone.
func New(perSecond int, now func() time.Time, exchange Exchange) *Limiter {
	return newLimiter(time.Second/time.Duration(perSecond), 2*time.Second, now, exchange)
}

func newLimiter(interval, burst time.Duration, now func() time.Time, exchange Exchange) *Limiter {
	return &Limiter{interval: interval, burst: burst, now: now, exchange: exchange, buckets: map[string]*bucket{}}
}

// Allow reports whether a caller may call now, and if not, when again.
func (r *Limiter) Allow(caller string) (ok bool, retryAfter time.Duration) {
	now := r.now().UnixNano()
	spent := r.bucketOf(caller, now)
	for {
		before := spent.theoreticalArrival.Load()
		after := max(before, now) + int64(r.interval)
		if ahead := time.Duration(after - now); ahead > r.burst {
			return false, ahead - r.burst
		}
		if spent.theoreticalArrival.CompareAndSwap(before, after) {
			break
		}
	}
	if r.exchange != nil && spent.unpublished.Add(1) == 1 {
		r.exchange.Enqueue(Usage{Caller: caller, limiter: r, bucket: spent})
	}
	return true, 0
}

func (r *Limiter) bucketOf(caller string, now int64) *bucket {
	r.mu.RLock()
	spent, known := r.buckets[caller]
	r.mu.RUnlock()
	if known {
		return spent
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if spent, known = r.buckets[caller]; known {
		return spent
	}
	if len(r.buckets) >= maxBuckets {
		r.prune(now)
	}
	spent = &bucket{}
	r.buckets[caller] = spent
	return spent
}

// prune forgets who has been quiet long enough to have everything again, and
// everybody if that frees less than half: it must run rarely.
func (r *Limiter) prune(now int64) {
	for caller, spent := range r.buckets {
		if spent.theoreticalArrival.Load() <= now {
			delete(r.buckets, caller)
		}
	}
	if len(r.buckets) > maxBuckets/2 {
		clear(r.buckets)
	}
}
