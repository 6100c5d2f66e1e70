package usage

import (
	"context"
	"sync"
	"time"
)

// maxRecent is the largest number of histories that are kept. The next one replaces them all.
const maxRecent = 1000

// recentHistories keeps the histories that were read since anything was stored, so that many reads cost few
// queries. It keeps nothing if other processes can change the ledger, see Ledger.Changes.
type recentHistories struct {
	mu        sync.Mutex
	changes   uint64 // Ledger.Changes when the histories were read
	histories map[historyKey]history
}

type historyKey struct {
	scope      Scope
	start, end time.Time
}

// get returns the history of a scope for the period from start to end, as of now.
func (r *recentHistories) get(ctx context.Context, l Ledger, scope Scope, start, end time.Time) (history, error) {
	key := historyKey{scope, start, end}
	changes, complete := l.Changes()
	if h, found := r.find(key, changes); complete && found {
		return h, nil
	}
	progress, err := l.UsageProgress(ctx, scope.OrganizationID)
	if err != nil {
		return history{}, err
	}
	h, err := readHistory(ctx, l, progress, scope, []time.Time{start, end})
	if err == nil && complete {
		r.keep(key, h, changes, l)
	}
	return h, err
}

func (r *recentHistories) find(key historyKey, changes uint64) (history, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes != changes {
		return history{}, false
	}
	h, found := r.histories[key]
	return h, found
}

// keep keeps a history whose reading began when the ledger had this number of changes, unless it has more by now.
func (r *recentHistories) keep(key historyKey, h history, changes uint64, l Ledger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now, _ := l.Changes(); now != changes {
		return
	}
	if r.histories == nil || r.changes != changes || len(r.histories) >= maxRecent {
		r.histories = map[historyKey]history{}
	}
	r.changes = changes
	r.histories[key] = h
}
