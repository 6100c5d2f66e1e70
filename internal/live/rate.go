package live

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxRates bounds the memory: some 100 bytes each.
const maxRates = 100_000

// Rate bounds how often each of those who have shown who they are may call:
// so many a second, with bursts of twice that. It is the generic cell rate
// algorithm: one number for each caller, moved without a lock.
type Rate struct {
	every int64 // nanoseconds between calls
	burst int64 // nanoseconds that a caller may be ahead
	now   func() time.Time

	mu      sync.RWMutex
	callers map[string]*atomic.Int64 // when each one's calls are used up
}

// NewRate allows perSecond calls a second for each caller.
func NewRate(perSecond int, now func() time.Time) *Rate {
	every := int64(time.Second) / int64(perSecond)
	return &Rate{every: every, burst: 2 * int64(time.Second), now: now, callers: map[string]*atomic.Int64{}}
}

// Allow reports whether a caller may call now, and if not, when again.
func (r *Rate) Allow(caller string) (ok bool, retryAfter time.Duration) {
	now := r.now().UnixNano()
	used := r.caller(caller, now)
	for {
		before := used.Load()
		after := max(before, now) + r.every
		if ahead := after - now; ahead > r.burst {
			return false, time.Duration(ahead - r.burst)
		}
		if used.CompareAndSwap(before, after) {
			return true, 0
		}
	}
}

func (r *Rate) caller(caller string, now int64) *atomic.Int64 {
	r.mu.RLock()
	used, known := r.callers[caller]
	r.mu.RUnlock()
	if known {
		return used
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if used, known = r.callers[caller]; known {
		return used
	}
	if len(r.callers) >= maxRates {
		r.prune(now)
	}
	used = &atomic.Int64{}
	r.callers[caller] = used
	return used
}

// prune forgets who has been quiet long enough to have everything again, and
// everybody if that frees less than half: it must run rarely.
func (r *Rate) prune(now int64) {
	for caller, used := range r.callers {
		if used.Load() <= now {
			delete(r.callers, caller)
		}
	}
	if len(r.callers) > maxRates/2 {
		clear(r.callers)
	}
}
