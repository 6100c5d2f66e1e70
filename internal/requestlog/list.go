package requestlog

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"
)

// maxScannedBlocks is the number of blocks after which a filtered List, and Find, start no further query. The last
// query may exceed it.
const maxScannedBlocks = 150

// errPageFull ends a query when its page is full.
var errPageFull = errors.New("the page is full")

// searchTime is how long after its arrival Find looks for a call. The number of a call is later than its arrival
// if calls that arrived after it were stored first, because it took long.
const searchTime = time.Minute

// Query selects calls of a project.
type Query struct {
	ProjectID string    // empty for the management API
	API       string    // empty for all
	Since     time.Time // earliest time at which a call was received; zero for all
	Before    time.Time // time before which all calls were received; zero for all
	After     Cursor    // position at which the page begins; zero for the first page
	Limit     int       // maximum number of calls, at least 1
	Filter    Filter
}

// Cursor is the position at which a page of calls begins.
type Cursor struct {
	Below int64 // calls of the page have numbers below it; 0 for all calls
	// BlocksBelow is a second bound, with which List skips the blocks of earlier pages: calls of
	// this page are only in blocks whose last number is below it. 0 means no bound.
	BlocksBelow int64
}

// Page is a part of a list of calls, the latest first.
type Page struct {
	Calls []NumberedCall
	// Next is the cursor of the next page; zero if there is none. With a filter, a page that
	// is not full may have a next one, because List limits how many calls it reads.
	Next Cursor
}

// List returns a page of the calls of a project.
func (r *Recorder) List(ctx context.Context, q Query) (Page, error) {
	stored := BlockQuery{
		ProjectID:  q.ProjectID,
		API:        q.API,
		FirstBelow: cmp.Or(q.After.Below, math.MaxInt64),
		LastBelow:  cmp.Or(q.After.BlocksBelow, math.MaxInt64),
		Filter:     q.Filter,
		Rejected:   q.Filter.onlyRejected(),
	}
	if !q.Since.IsZero() {
		stored.Since = unixNano(q.Since)
	}
	if !q.Before.IsZero() {
		before := unixNano(q.Before)
		stored.FirstBelow = min(stored.FirstBelow, before)
		if before < math.MaxInt64-int64(blockSpan) { // the later blocks are skipped by the index
			stored.LastBelow = min(stored.LastBelow, before+int64(blockSpan))
		}
	}
	var calls []NumberedCall
	var blocks []StoredBlock // that were read
	next := func(below int64) Cursor {
		c := Cursor{Below: below, BlocksBelow: stored.LastBelow}
		for _, b := range blocks {
			if b.First < below {
				c.BlocksBelow = max(c.BlocksBelow, b.Last+1)
			}
		}
		return c
	}
	full := func() Page { return Page{Calls: calls[:q.Limit], Next: next(calls[q.Limit-1].N)} }
	add := func(b StoredBlock) error {
		stored.LastBelow = b.Last
		blocks = append(blocks, StoredBlock{First: b.First, Last: b.Last}) // without the text that its calls are in
		if len(calls) > q.Limit && b.Last < calls[q.Limit].N {
			return errPageFull // this block and all further ones are earlier
		}
		ofBlock := 0
		for c, err := range b.Calls {
			if err != nil {
				return err
			}
			if c.N < stored.Since || ofBlock > q.Limit { // the page and the first call after it are known
				break
			}
			if c.N < stored.FirstBelow {
				calls = append(calls, c)
				ofBlock++
			}
		}
		slices.SortFunc(calls, func(a, b NumberedCall) int { return cmp.Compare(b.N, a.N) })
		return nil
	}
	// Two full blocks are a page. Small blocks, written while calls were rare, need
	// more queries.
	for stored.Limit = 2; ; stored.Limit *= 4 {
		before := len(blocks)
		err := r.store.Calls(ctx, stored, add)
		if errors.Is(err, errPageFull) {
			return full(), nil
		}
		if err != nil {
			return Page{}, err
		}
		if len(blocks)-before < stored.Limit {
			if len(calls) > q.Limit {
				return full(), nil
			}
			return Page{Calls: calls}, nil
		}
		if q.Filter != (Filter{}) && len(blocks) > maxScannedBlocks && stored.LastBelow < stored.FirstBelow {
			// Calls of the blocks that were not read are earlier than LastBelow. Those that were
			// read and are earlier too belong to the next page.
			calls = slices.DeleteFunc(calls, func(c NumberedCall) bool { return c.N < stored.LastBelow })
			if len(calls) > q.Limit {
				return full(), nil
			}
			return Page{Calls: calls, Next: next(stored.LastBelow)}, nil
		}
	}
}

// Find searches all projects for the calls that match a query, which names none, by the time at in their request ID.
// On a busy server, it may miss a call that took longer than searchTime. It reads a bounded number of blocks: those
// after a position, and from the beginning if after is zero. Find also returns the position at which to continue; zero
// if it has found a call, or there is none.
func (r *Recorder) Find(ctx context.Context, q Query, at time.Time, after BlockPosition) (
	[]NumberedCall, BlockPosition, error,
) {
	first, below := searchBounds(at)
	if after == (BlockPosition{}) {
		after.Last = first - 1
	}
	// The call is usually in one of the first blocks.
	for limit, scanned := 2, 0; scanned < maxScannedBlocks; limit *= 4 {
		calls, last, err := r.store.SearchCalls(ctx, after, below, q.Filter, limit)
		calls = slices.DeleteFunc(calls, func(c NumberedCall) bool {
			return q.API != "" && c.API != q.API || c.ReceivedAt.Before(q.Since) ||
				!q.Before.IsZero() && !c.ReceivedAt.Before(q.Before)
		})
		if err != nil || len(calls) > 0 || last == (BlockPosition{}) {
			return calls, BlockPosition{}, err
		}
		after = last
		scanned += limit
	}
	return nil, after, nil
}

// searchBounds returns the numbers between which Find looks for a call: the first one, and the first one that is too
// large.
func searchBounds(at time.Time) (first, below int64) {
	return unixNano(at), unixNano(at.Add(searchTime))
}

// IsOfSearch reports whether Find can continue at the position when it looks for a call with the time at.
func (p BlockPosition) IsOfSearch(at time.Time) bool {
	first, below := searchBounds(at)
	return first <= p.Last && p.Last < below
}

// unixNano is UnixNano for any time: those that it cannot represent are its minimum or maximum.
func unixNano(t time.Time) int64 {
	switch year := t.Year(); {
	case year < 1679:
		return math.MinInt64
	case year > 2261:
		return math.MaxInt64
	}
	return t.UnixNano()
}
