package live

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxRates bounds the memory: some 100 bytes each.
const maxRates = 100_000

// Rate bounds how often each caller may call: so many in a time, with bursts.
// It is the generic cell rate algorithm: one number for each caller, moved
// without a lock.
type Rate struct {
	every time.Duration // between calls
	burst time.Duration // that a caller may be ahead
	now   func() time.Time

	mu      sync.RWMutex
	callers map[string]*spending
	shared  *sharing // nil unless other nodes bound the same callers
}

// spending is what one caller has spent.
type spending struct {
	until  atomic.Int64 // when all is used up: Unix nanoseconds
	untold atomic.Int64 // calls that the other nodes have not heard of
}

// NewRate allows perSecond calls a second for each caller, and bursts of twice
// that.
func NewRate(perSecond int, now func() time.Time) *Rate {
	return newRate(time.Second/time.Duration(perSecond), 2*time.Second, now)
}

func newRate(every, burst time.Duration, now func() time.Time) *Rate {
	return &Rate{every: every, burst: burst, now: now, callers: map[string]*spending{}}
}

// Allow reports whether a caller may call now, and if not, when again.
func (r *Rate) Allow(caller string) (ok bool, retryAfter time.Duration) {
	now := r.now().UnixNano()
	spent := r.caller(caller, now)
	for {
		before := spent.until.Load()
		after := max(before, now) + int64(r.every)
		if ahead := time.Duration(after - now); ahead > r.burst {
			return false, ahead - r.burst
		}
		if spent.until.CompareAndSwap(before, after) {
			break
		}
	}
	if r.shared != nil && spent.untold.Add(1) == 1 {
		r.shared.tell(caller, spent)
	}
	return true, 0
}

func (r *Rate) caller(caller string, now int64) *spending {
	r.mu.RLock()
	spent, known := r.callers[caller]
	r.mu.RUnlock()
	if known {
		return spent
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if spent, known = r.callers[caller]; known {
		return spent
	}
	if len(r.callers) >= maxRates {
		r.prune(now)
	}
	spent = &spending{}
	r.callers[caller] = spent
	return spent
}

// prune forgets who has been quiet long enough to have everything again, and
// everybody if that frees less than half: it must run rarely.
func (r *Rate) prune(now int64) {
	for caller, spent := range r.callers {
		if spent.until.Load() <= now {
			delete(r.callers, caller)
		}
	}
	if len(r.callers) > maxRates/2 {
		clear(r.callers)
	}
}
