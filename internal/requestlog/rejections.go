package requestlog

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"parley/internal/network"
)

const (
	// maxRejections limits the counts of a day that have an address, in one process. Further
	// rejected calls are counted together.
	maxRejections = 10_000
	// maxAnonymousPerMinute limits how many calls without a valid credential are recorded in
	// the project that they name, because a stranger may know the ID of a project or a room.
	// Further calls are only counted.
	maxAnonymousPerMinute = 20
)

// rejectionCounter counts rejected calls that are not recorded.
type rejectionCounter struct {
	waiting chan rejection

	mu          sync.Mutex
	unstored    map[rejectionKey]*RejectionCount
	day         time.Time
	withAddress map[rejectionKey]bool // counts of the day that have an address
	minute      time.Time
	anonymous   map[string]int // calls without a credential in the minute, by project
}

type rejectionKey struct {
	day                 time.Time
	api, cause, address string
}

// rejection is a rejected call that is not counted yet.
type rejection struct {
	api, cause string
	address    netip.Addr
	at         time.Time
}

func newRejectionCounter() rejectionCounter {
	return rejectionCounter{waiting: make(chan rejection, maxUnexplained), unstored: map[rejectionKey]*RejectionCount{}}
}

// CountRejected counts a rejected call that is not recorded. Another goroutine does the work,
// as in Record, so that the response time does not reveal whether a key exists.
func (r *Recorder) CountRejected(api, cause string, address netip.Addr) {
	c := rejection{api, cause, address, r.now()}
	r.totals.add(api, "", false, c.at)
	select {
	case r.rejections.waiting <- c:
	default:
		r.rejections.count(c)
	}
}

// AllowAnonymous reports whether a rejected call that shows no credential of a project may be
// recorded in it, and counts it against the limit of the project.
func (r *Recorder) AllowAnonymous(projectID string) bool {
	c := &r.rejections
	minute := r.now().Truncate(time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !minute.Equal(c.minute) {
		c.minute, c.anonymous = minute, map[string]int{}
	}
	c.anonymous[projectID]++
	return c.anonymous[projectID] <= maxAnonymousPerMinute
}

// RejectionQuery selects counts of rejected calls. Empty fields match everything.
type RejectionQuery struct {
	Since   time.Time // the last call was at this time or later
	Before  time.Time // the day began before this time
	API     string
	Cause   string
	Address netip.Addr     // address of the caller; of an IPv6 address, its /64
	After   RejectionCount // the page begins after it; zero for the first page
	Limit   int            // maximum number of counts, at least 1
}

// maxScannedRejections is how many counts Rejections reads for a page.
const maxScannedRejections = 1000

// Rejections returns a page of the counts that match, that of the latest call first, and the count after which
// the next page begins; zero if there is none. With a filter, a page that is not full may have a next one, because
// Rejections limits how many counts it reads.
func (r *Recorder) Rejections(ctx context.Context, q RejectionQuery) (
	page []RejectionCount, next RejectionCount, err error,
) {
	const day = 24 * time.Hour
	if q.After.LastAt.IsZero() && !q.Before.IsZero() {
		q.After.LastAt = q.Before.Add(day - 1).UTC().Truncate(day) // the last call is on the day of its count
	}
	address := ""
	if q.Address.IsValid() {
		address = addressText(network.ClientPrefix(q.Address))
	}
	limit := maxScannedRejections
	if q.API == "" && q.Cause == "" && address == "" {
		limit = q.Limit + 1
	}
	read, err := r.store.Rejections(ctx, q.Since, q.After, limit)
	if err != nil {
		return nil, RejectionCount{}, err
	}
	for _, c := range read {
		if q.API != "" && c.API != q.API || q.Cause != "" && c.Cause != q.Cause || address != "" && c.Address != address {
			continue
		}
		if len(page) == q.Limit {
			return page, page[q.Limit-1], nil
		}
		page = append(page, c)
	}
	if len(read) == limit {
		next = read[len(read)-1]
	}
	return page, next, nil
}

func (c *rejectionCounter) count(rejected rejection) {
	prefix := network.ClientPrefix(rejected.address)
	c.mu.Lock()
	defer c.mu.Unlock()
	if day := rejected.at.UTC().Truncate(24 * time.Hour); !day.Equal(c.day) {
		c.day, c.withAddress = day, map[rejectionKey]bool{}
	}
	k := rejectionKey{day: c.day, api: rejected.api, cause: rejected.cause}
	if prefix.IsValid() {
		k.address = addressText(prefix)
		if !c.withAddress[k] && len(c.withAddress) >= maxRejections {
			k.address = ""
		} else {
			c.withAddress[k] = true
		}
	}
	count := c.unstored[k]
	if count == nil {
		count = &RejectionCount{Day: k.day, API: k.api, Cause: k.cause, Address: k.address}
		c.unstored[k] = count
	}
	count.Calls++
	count.LastAt = rejected.at
}

// flush stores the counts since the last time, in batches.
func (c *rejectionCounter) flush(ctx context.Context, store Store) error {
	c.mu.Lock()
	taken := c.unstored
	if len(taken) > 0 {
		c.unstored = map[rejectionKey]*RejectionCount{}
	}
	c.mu.Unlock()
	counts := make([]RejectionCount, 0, len(taken))
	for _, count := range taken {
		counts = append(counts, *count)
	}
	for batch := range slices.Chunk(counts, insertBatch) {
		if err := store.AddRejections(ctx, batch); err != nil {
			c.requeue(taken)
			return err
		}
		for _, count := range batch {
			delete(taken, rejectionKey{count.Day, count.API, count.Cause, count.Address})
		}
	}
	return nil
}

// requeue adds counts that were not stored to those since.
func (c *rejectionCounter) requeue(counts map[rejectionKey]*RejectionCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, count := range counts {
		if since := c.unstored[k]; since != nil {
			since.Calls += count.Calls
		} else {
			c.unstored[k] = count
		}
	}
}

// addressText returns an IPv4 address as itself, and an IPv6 prefix with its length.
func addressText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}
