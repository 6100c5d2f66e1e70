// Package counter counts events in memory and saves the counts in a database,
// so that they survive a restart. It imports the standard library only.
package counter

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// Count is how often an event happened, and when it last did.
type Count struct {
	N    int64
	Last time.Time // zero if the event never happened
}

// Key names one count: the calls of an organization on a day, or the calls
// with an API key in a slot.
type Key struct{ Subject, Period string }

// Store saves counts in a database.
type Store interface {
	// LoadCount returns a count. A count that was never saved is zero.
	LoadCount(ctx context.Context, k Key) (Count, error)
	// AddCounts adds a batch and returns the new counts of its keys in the same order. If the batch was added
	// before, AddCounts only returns the counts.
	AddCounts(ctx context.Context, b Batch) ([]Count, error)
}

// Batch is what a Counter adds to counts in one transaction. After an error, the Counter does not know whether the
// batch was added, and sends the same batch until AddCounts succeeds.
type Batch struct {
	Process string // random ID of the Counter
	Number  int64  // grows by one with each batch of the process, from 1
	Keys    []Key
	Add     []Count // Add[i] is added to the count of Keys[i]
}

const (
	// FlushInterval is how often counts are saved. A process that is killed
	// loses what it counted since its last flush.
	FlushInterval = time.Second
	// finalFlushAttempts is how often Run tries to save the counts at its end.
	finalFlushAttempts = 4
	// memoryTTL is how long an unused count stays in memory.
	memoryTTL = 48 * time.Hour
	// maxBatchKeys is the maximum number of keys in a batch. After an outage of the database there are thousands, and
	// one transaction for all of them could exceed the time limit of a transaction each time.
	maxBatchKeys = 200
)

// Counter counts in memory and saves the counts in batches, so that no request
// waits for the database. Several processes may share one database: each one
// learns the counts of the others when it saves its own. A Counter is safe for
// use by several goroutines.
type Counter struct {
	store    Store
	now      func() time.Time
	observer Observer
	process  string

	flushMu     sync.Mutex // held until the results of a flush are stored and observed, and guards the following
	batches     int64      // made so far
	unconfirmed *batch     // whose commit has an unknown outcome; nil if there is none

	mu      sync.RWMutex
	entries map[Key]*entry
}

// batch is a Batch with the entry of each key.
type batch struct {
	Batch
	entries []*entry
}

// Observer follows the counts of a Counter. Its functions must not call the
// Counter. Each of them may be nil.
type Observer struct {
	// Flushed is called after a flush has added to a count in the database.
	// The total is the count in the database after that.
	Flushed func(k Key, added, total int64)
	// Evicted is called when an unused count is removed from memory.
	Evicted func(k Key)
}

type entry struct {
	mu       sync.Mutex
	known    bool  // n includes the count in the database
	err      error // of the last read of the database
	retryAt  int64 // Unix milliseconds; after an error the database is not read before
	n        int64 // includes pending
	last     int64 // Unix milliseconds; 0 for never
	pending  int64 // not saved yet
	lastUsed int64 // Unix milliseconds; for eviction
}

// New returns a Counter. Run saves its counts in the store.
func New(store Store, now func() time.Time) *Counter {
	return NewObserved(store, now, Observer{})
}

// NewObserved returns a Counter that reports to an observer.
func NewObserved(store Store, now func() time.Time, observer Observer) *Counter {
	return &Counter{
		store:    store,
		now:      now,
		observer: observer,
		process:  rand.Text(),
		entries:  map[Key]*entry{},
	}
}

// Add increments a count.
func (c *Counter) Add(subject, period string) { c.Increment(subject, period) }

// Increment increments a count and returns it. If known is false, n lacks what
// the database holds, and AwaitCount returns the complete count.
func (c *Counter) Increment(subject, period string) (n int64, known bool) {
	e := c.entry(Key{subject, period})
	now := c.now().UnixMilli()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n++
	e.pending++
	e.last, e.lastUsed = max(e.last, now), now
	return e.n, e.known
}

// AwaitCount returns the complete count after an Increment that did not know
// it. It fails if the database does not answer.
func (c *Counter) AwaitCount(ctx context.Context, subject, period string, _ int64) (int64, error) {
	count, err := c.load(ctx, Key{subject, period})
	return count.N, err
}

// Count returns a count and the time of the last event, which is zero if the
// event never happened. It fails if the count is not in memory and the database
// does not answer.
func (c *Counter) Count(ctx context.Context, subject, period string) (n int64, last time.Time, err error) {
	count, err := c.load(ctx, Key{subject, period})
	return count.N, count.Last, err
}

func (c *Counter) load(ctx context.Context, k Key) (Count, error) {
	e := c.entry(k)
	e.mu.Lock()
	count, known := e.count(), e.known
	e.lastUsed = c.now().UnixMilli()
	e.mu.Unlock()
	if known {
		return count, nil
	}
	return c.read(ctx, k, e)
}

// read loads a count from the database. After a failure it returns the same
// error for one FlushInterval without a query, so that callers do not queue up
// for a database that does not answer.
func (c *Counter) read(ctx context.Context, k Key, e *entry) (Count, error) {
	e.mu.Lock()
	err, wait := e.err, c.now().UnixMilli() < e.retryAt
	e.mu.Unlock()
	if err != nil && wait {
		return Count{}, err
	}
	saved, err := c.store.LoadCount(ctx, k)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err = err; err != nil {
		e.retryAt = c.now().Add(FlushInterval).UnixMilli()
		return Count{}, err
	}
	if !e.known {
		e.known = true
		e.n += saved.N
		if !saved.Last.IsZero() {
			e.last = max(e.last, saved.Last.UnixMilli())
		}
	}
	return e.count(), nil
}

func (e *entry) count() Count {
	count := Count{N: e.n}
	if e.last != 0 {
		count.Last = time.UnixMilli(e.last).UTC()
	}
	return count
}

func (c *Counter) entry(k Key) *entry {
	c.mu.RLock()
	e, ok := c.entries[k]
	c.mu.RUnlock()
	if ok {
		return e
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok = c.entries[k]; !ok {
		e = &entry{}
		c.entries[k] = e
	}
	return e
}

// Run saves the counts every FlushInterval, and a last time when ctx ends. It
// calls report with the result of each attempt.
func (c *Counter) Run(ctx context.Context, report func(error)) {
	failing := false
	flush := func() {
		err := c.Flush(context.WithoutCancel(ctx)) // a flush that has begun is finished
		report(err)
		failing = err != nil
	}
	tick := time.NewTicker(FlushInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			// Counts that are not saved now are lost, so a database that is
			// slow for a moment gets several attempts.
			for attempt := range finalFlushAttempts {
				if flush(); !failing || attempt == finalFlushAttempts-1 {
					return
				}
				<-tick.C
			}
		}
		flush()
	}
}

// Flush saves what was counted since the last flush. Counts that cannot be
// saved stay pending.
func (c *Counter) Flush(ctx context.Context) error {
	c.flushMu.Lock()
	defer c.flushMu.Unlock()
	if err := c.save(ctx); err != nil {
		return err
	}
	pending := c.takePending()
	for len(pending) > 0 {
		n := min(len(pending), maxBatchKeys)
		c.unconfirmed = c.newBatch(pending[:n])
		pending = pending[n:]
		if err := c.save(ctx); err != nil {
			putBack(pending)
			return err
		}
	}
	return nil
}

// save adds the unconfirmed batch, if there is one, to the database.
func (c *Counter) save(ctx context.Context) error {
	b := c.unconfirmed
	if b == nil {
		return nil
	}
	saved, err := c.store.AddCounts(ctx, b.Batch)
	if err != nil {
		return err
	}
	c.unconfirmed = nil
	for i, e := range b.entries {
		e.mu.Lock()
		e.n, e.known = saved[i].N+e.pending, true
		e.last = max(e.last, saved[i].Last.UnixMilli())
		e.mu.Unlock()
		if c.observer.Flushed != nil {
			c.observer.Flushed(b.Keys[i], b.Add[i].N, saved[i].N)
		}
	}
	return nil
}

func (c *Counter) newBatch(counts []pendingCount) *batch {
	c.batches++
	b := &batch{Batch: Batch{Process: c.process, Number: c.batches}}
	for _, p := range counts {
		b.Keys, b.Add, b.entries = append(b.Keys, p.key), append(b.Add, p.add), append(b.entries, p.entry)
	}
	return b
}

// pendingCount is what is to be added to a count in the database.
type pendingCount struct {
	key   Key
	entry *entry
	add   Count
}

// takePending returns what is to be added to the database, and evicts unused
// counts.
func (c *Counter) takePending() (taken []pendingCount) {
	oldest := c.now().Add(-memoryTTL).UnixMilli()
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, e := range c.entries {
		e.mu.Lock()
		switch {
		case e.pending > 0:
			taken = append(taken, pendingCount{k, e, Count{N: e.pending, Last: time.UnixMilli(e.last).UTC()}})
			e.pending = 0
		case e.lastUsed < oldest:
			delete(c.entries, k)
			if c.observer.Evicted != nil {
				c.observer.Evicted(k)
			}
		}
		e.mu.Unlock()
	}
	return taken
}

// putBack undoes takePending for counts that are in no batch.
func putBack(counts []pendingCount) {
	for _, p := range counts {
		p.entry.mu.Lock()
		p.entry.pending += p.add.N
		p.entry.mu.Unlock()
	}
}

// BetweenFlushes waits until no flush is in progress and calls f. The next
// flush begins after f has returned.
func (c *Counter) BetweenFlushes(f func()) {
	c.flushMu.Lock()
	defer c.flushMu.Unlock()
	f()
}
