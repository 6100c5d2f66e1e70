// Package counter counts events in memory and saves the counts in a database.
package counter

import (
	"context"
	"sync"
	"time"
)

// Count is how often something happened, and when last.
type Count struct {
	N    int64
	Last time.Time // zero when it never did
}

// Key is one thing that is counted: calls of an organization in a day,
// calls with a key in a slot.
type Key struct{ Subject, Period string }

// Store keeps counts over a restart.
type Store interface {
	// Tally returns a count; zero when nothing was counted yet.
	LoadCount(ctx context.Context, c Key) (Count, error)
	// AddCounts adds to counts and returns what they are then, in order.
	AddCounts(ctx context.Context, counted []Key, add []Count) ([]Count, error)
}

const (
	// FlushInterval is how often counts are written. What a killed process had
	// not written is lost.
	FlushInterval = time.Second
	// finalFlushAttempts is how often it is tried at the end.
	finalFlushAttempts = 4
	// memoryTTL is how long a count that nobody adds to stays in memory.
	memoryTTL = 48 * time.Hour
)

// Counter counts in memory and keeps the counts in a database, written in
// batches off the path. Several processes may share one database: each learns
// of the others' counts when it writes its own.
type Counter struct {
	store    Store
	now      func() time.Time
	observer Observer

	flushing sync.Mutex // held from before counts are written until that is noted
	mu       sync.RWMutex
	entries  map[Key]*entry
}

// Observer follows the counts of a Counter. Its functions must not call the
// Counter. Either of them may be nil.
type Observer struct {
	// Flushed is called after a flush has added to a count in the database,
	// which is total then.
	Flushed func(k Key, added, total int64)
	// Evicted is called when an idle count is removed from memory.
	Evicted func(k Key)
}

type entry struct {
	mu       sync.Mutex
	known    bool  // the database has told what it holds
	err      error // why it has not
	retryAt  int64 // Unix milliseconds before which it is not asked again
	n        int64 // all, those in pending included, once known
	last     int64 // Unix milliseconds; 0 for never
	pending  int64 // not written yet
	lastUsed int64 // Unix milliseconds of the last use, to forget by
}

// New returns a Counter. Run saves its counts in the store.
func New(store Store, now func() time.Time) *Counter {
	return NewObserved(store, now, Observer{})
}

// NewObserved returns a Counter that reports to an observer.
func NewObserved(store Store, now func() time.Time, observer Observer) *Counter {
	return &Counter{store: store, now: now, observer: observer, entries: map[Key]*entry{}}
}

// Add counts once more.
func (t *Counter) Add(subject, period string) { t.Increment(subject, period) }

// Increment counts once more and returns the count, this one included, if memory
// holds it; Number asks further otherwise.
func (t *Counter) Increment(subject, period string) (n int64, known bool) {
	e := t.entry(Key{subject, period})
	at := t.now().UnixMilli()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n++
	e.pending++
	e.last, e.lastUsed = max(e.last, at), at
	return e.n, e.known
}

// AwaitCount returns the count as it is after Next has returned n.
func (t *Counter) AwaitCount(ctx context.Context, subject, period string, _ int64) (int64, error) {
	c, err := t.count(ctx, Key{subject, period})
	return c.N, err
}

// Count returns how often something was counted, and when last: the zero time
// for never. It fails when memory does not hold it and the database does not
// answer.
func (t *Counter) Count(ctx context.Context, subject, period string) (n int64, last time.Time, err error) {
	c, err := t.count(ctx, Key{subject, period})
	return c.N, c.Last, err
}

func (t *Counter) count(ctx context.Context, c Key) (Count, error) {
	e := t.entry(c)
	e.mu.Lock()
	count, known := e.count(), e.known
	e.lastUsed = t.now().UnixMilli()
	e.mu.Unlock()
	if known {
		return count, nil
	}
	return t.read(ctx, c, e)
}

// read asks the database. When it does not answer, callers are told so for a
// while without waiting for it each.
func (t *Counter) read(ctx context.Context, c Key, e *entry) (Count, error) {
	e.mu.Lock()
	err, wait := e.err, t.now().UnixMilli() < e.retryAt
	e.mu.Unlock()
	if err != nil && wait {
		return Count{}, err
	}
	before, err := t.store.LoadCount(ctx, c)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err = err; err != nil {
		e.retryAt = t.now().Add(FlushInterval).UnixMilli()
		return Count{}, err
	}
	if !e.known {
		e.known = true
		e.n += before.N
		if !before.Last.IsZero() {
			e.last = max(e.last, before.Last.UnixMilli())
		}
	}
	return e.count(), nil
}

func (e *entry) count() Count {
	c := Count{N: e.n}
	if e.last != 0 {
		c.Last = time.UnixMilli(e.last).UTC()
	}
	return c
}

func (t *Counter) entry(c Key) *entry {
	t.mu.RLock()
	e, ok := t.entries[c]
	t.mu.RUnlock()
	if ok {
		return e
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok = t.entries[c]; !ok {
		e = &entry{}
		t.entries[c] = e
	}
	return e
}

// Run writes the counts every second, and a last time when ctx ends. failed is
// told of a failure, and not again before something has worked.
func (t *Counter) Run(ctx context.Context, failed func(error)) {
	failing := false
	flush := func() {
		err := t.Flush(context.WithoutCancel(ctx)) // what is under way at the end is finished
		if err != nil && !failing {
			failed(err)
		}
		failing = err != nil
	}
	tick := time.NewTicker(FlushInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			// What is not written now is lost, so a database that is slow for
			// a moment gets more than one chance.
			for try := range finalFlushAttempts {
				if flush(); !failing || try == finalFlushAttempts-1 {
					return
				}
				<-tick.C
			}
		}
		flush()
	}
}

// Flush writes what was counted since the last time. What cannot be written
// stays to be written.
func (t *Counter) Flush(ctx context.Context) error {
	t.flushing.Lock()
	defer t.flushing.Unlock()
	var counted []Key
	var add []Count
	var entries []*entry
	oldest := t.now().Add(-memoryTTL).UnixMilli()
	t.mu.Lock()
	for c, e := range t.entries {
		e.mu.Lock()
		switch {
		case e.pending > 0:
			counted, add, entries = append(counted, c), append(add, Count{N: e.pending, Last: time.UnixMilli(e.last).UTC()}), append(entries, e)
			e.pending = 0
		case e.lastUsed < oldest:
			delete(t.entries, c)
			if t.observer.Evicted != nil {
				t.observer.Evicted(c)
			}
		}
		e.mu.Unlock()
	}
	t.mu.Unlock()
	if len(counted) == 0 {
		return nil
	}
	written, err := t.store.AddCounts(ctx, counted, add)
	for i, e := range entries {
		e.mu.Lock()
		if err != nil {
			e.pending += add[i].N
		} else {
			e.n, e.known = written[i].N+e.pending, true
			e.last = max(e.last, written[i].Last.UnixMilli())
		}
		e.mu.Unlock()
		if err == nil && t.observer.Flushed != nil {
			t.observer.Flushed(counted[i], add[i].N, written[i].N)
		}
	}
	return err
}

// BetweenFlushes waits until no flush is in progress and calls f. The next
// flush begins after f has returned.
func (t *Counter) BetweenFlushes(f func()) {
	t.flushing.Lock()
	defer t.flushing.Unlock()
	f()
}
