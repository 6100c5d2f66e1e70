package requestlog

import (
	"context"
	"sync"
	"time"
)

const (
	totalPeriod = 5 * time.Minute
	// flushesPerTotals is how many flushes of calls there are for one of the totals, so that
	// nodes do not wait for each other's rows: one every five seconds.
	flushesPerTotals = int(5 * time.Second / FlushInterval)
	// keepTotals is how long totals are kept, more than the hour that Totals returns.
	keepTotals = 2 * time.Hour
)

// CallTotal is the number of calls that ended in a period.
type CallTotal struct {
	ProjectID string    // empty for all projects
	At        time.Time // start of the period, which is five minutes long
	Accepted  int64     // with a status below 400
	Rejected  int64
}

// totalCounter counts calls by project.
type totalCounter struct {
	mu       sync.Mutex
	unstored map[totalKey]*CallTotal // an empty project is that of the calls that named none
}

type totalKey struct {
	projectID string
	at        int64 // Unix time in seconds
}

// add counts a call, of an empty project for one that named none. Calls of the management
// API do not count, because a page that is open makes many.
func (t *totalCounter) add(api, projectID string, accepted bool, ended time.Time) {
	if api == ManagementAPI {
		return
	}
	at := ended.Truncate(totalPeriod)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := totalKey{projectID, at.Unix()}
	total := t.unstored[k]
	if total == nil {
		if t.unstored == nil {
			t.unstored = map[totalKey]*CallTotal{}
		}
		total = &CallTotal{ProjectID: projectID, At: at}
		t.unstored[k] = total
	}
	if accepted {
		total.Accepted++
	} else {
		total.Rejected++
	}
}

// flush stores the counts. Those that cannot be stored are kept for keepTotals.
func (t *totalCounter) flush(ctx context.Context, store Store, now time.Time) error {
	t.mu.Lock()
	taken := t.unstored
	t.unstored = nil
	t.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	err := store.AddCallTotals(ctx, withSums(taken))
	if err == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, since := range t.unstored {
		if total := taken[k]; total != nil {
			since.Accepted += total.Accepted
			since.Rejected += total.Rejected
		}
		taken[k] = since
	}
	for k := range taken {
		if now.Sub(time.Unix(k.at, 0)) > keepTotals {
			delete(taken, k)
		}
	}
	t.unstored = taken
	return err
}

// withSums returns the totals of each project, and those of all calls together.
func withSums(counted map[totalKey]*CallTotal) []CallTotal {
	sums := map[int64]*CallTotal{}
	totals := make([]CallTotal, 0, len(counted)+1)
	for k, total := range counted {
		sum := sums[k.at]
		if sum == nil {
			sum = &CallTotal{At: total.At}
			sums[k.at] = sum
		}
		sum.Accepted += total.Accepted
		sum.Rejected += total.Rejected
		if k.projectID != "" {
			totals = append(totals, *total)
		}
	}
	for _, sum := range sums {
		totals = append(totals, *sum)
	}
	return totals
}

// Totals returns the calls of versions 3, 4 and 5 of a project, or all of them for an empty ID,
// in the last 60 to 65 minutes, and the time since which they are counted. The calls of the last
// seconds may be missing.
func (r *Recorder) Totals(ctx context.Context, projectID string) (CallTotal, error) {
	return r.store.CallTotals(ctx, projectID, r.totalsSince())
}

// MostRejected returns the totals of at most limit projects with rejected calls in the same
// period, those with the most first.
func (r *Recorder) MostRejected(ctx context.Context, limit int) ([]CallTotal, error) {
	return r.store.MostRejected(ctx, r.totalsSince(), limit)
}

func (r *Recorder) totalsSince() time.Time { return r.now().Add(-time.Hour).Truncate(totalPeriod) }
