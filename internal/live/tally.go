// Package live holds what is shared while the service runs: counts, kept over
// a restart, limits on how often somebody may call or try, and word of what
// has changed. All of it is in this process, or in Redis for several. It
// imports the standard library, uuid and go-redis only.
package live

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

// Counted is one thing that is counted: calls of an organization in a day,
// calls with a key in a slot.
type Counted struct{ Subject, Period string }

// TallyStore keeps counts over a restart.
type TallyStore interface {
	// Tally returns a count; zero when nothing was counted yet.
	Tally(ctx context.Context, c Counted) (Count, error)
	// AddTallies adds to counts and returns what they are then, in order.
	AddTallies(ctx context.Context, counted []Counted, add []Count) ([]Count, error)
}

const (
	// tallyEvery is how often counts are written. What a killed process had
	// not written is lost.
	tallyEvery = time.Second
	// lastTries is how often it is tried at the end.
	lastTries = 4
	// tallyKept is how long a count that nobody adds to stays in memory.
	tallyKept = 48 * time.Hour
)

// Tally counts in memory and keeps the counts in a database, written in
// batches off the path. Several processes may share one database: each learns
// of the others' counts when it writes its own.
type Tally struct {
	store  TallyStore
	now    func() time.Time
	follow follower // nil without

	flushing sync.Mutex // held from before counts are written until that is noted
	mu       sync.RWMutex
	entries  map[Counted]*entry
}

// follower is told what became of counts: how many were added to what the
// database holds, and what it holds then; or that memory has let one go.
type follower interface {
	written(c Counted, added, sum int64)
	forgotten(c Counted)
}

type entry struct {
	mu      sync.Mutex
	known   bool  // the database has told what it holds
	err     error // why it has not
	retry   int64 // Unix milliseconds before which it is not asked again
	n       int64 // all, those in pending included, once known
	last    int64 // Unix milliseconds; 0 for never
	pending int64 // not written yet
	touched int64 // Unix milliseconds of the last use, to forget by
}

// NewTally returns a Tally. Run keeps its counts.
func NewTally(store TallyStore, now func() time.Time) *Tally {
	return &Tally{store: store, now: now, entries: map[Counted]*entry{}}
}

// Add counts once more.
func (t *Tally) Add(subject, period string) { t.Next(subject, period) }

// Next counts once more and returns the count, this one included, if memory
// holds it; Number asks further otherwise.
func (t *Tally) Next(subject, period string) (n int64, known bool) {
	e := t.entry(Counted{subject, period})
	at := t.now().UnixMilli()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n++
	e.pending++
	e.last, e.touched = max(e.last, at), at
	return e.n, e.known
}

// Number returns the count as it is after Next has returned n.
func (t *Tally) Number(ctx context.Context, subject, period string, _ int64) (int64, error) {
	c, err := t.count(ctx, Counted{subject, period})
	return c.N, err
}

// Count returns how often something was counted, and when last: the zero time
// for never. It fails when memory does not hold it and the database does not
// answer.
func (t *Tally) Count(ctx context.Context, subject, period string) (n int64, last time.Time, err error) {
	c, err := t.count(ctx, Counted{subject, period})
	return c.N, c.Last, err
}

func (t *Tally) count(ctx context.Context, c Counted) (Count, error) {
	e := t.entry(c)
	e.mu.Lock()
	count, known := e.count(), e.known
	e.touched = t.now().UnixMilli()
	e.mu.Unlock()
	if known {
		return count, nil
	}
	return t.read(ctx, c, e)
}

// read asks the database. When it does not answer, callers are told so for a
// while without waiting for it each.
func (t *Tally) read(ctx context.Context, c Counted, e *entry) (Count, error) {
	e.mu.Lock()
	err, wait := e.err, t.now().UnixMilli() < e.retry
	e.mu.Unlock()
	if err != nil && wait {
		return Count{}, err
	}
	before, err := t.store.Tally(ctx, c)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err = err; err != nil {
		e.retry = t.now().Add(tallyEvery).UnixMilli()
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

func (t *Tally) entry(c Counted) *entry {
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
func (t *Tally) Run(ctx context.Context, failed func(error)) {
	failing := false
	flush := func() {
		err := t.Flush(context.WithoutCancel(ctx)) // what is under way at the end is finished
		if err != nil && !failing {
			failed(err)
		}
		failing = err != nil
	}
	tick := time.NewTicker(tallyEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			// What is not written now is lost, so a database that is slow for
			// a moment gets more than one chance.
			for try := range lastTries {
				if flush(); !failing || try == lastTries-1 {
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
func (t *Tally) Flush(ctx context.Context) error {
	t.flushing.Lock()
	defer t.flushing.Unlock()
	var counted []Counted
	var add []Count
	var entries []*entry
	oldest := t.now().Add(-tallyKept).UnixMilli()
	t.mu.Lock()
	for c, e := range t.entries {
		e.mu.Lock()
		switch {
		case e.pending > 0:
			counted, add, entries = append(counted, c), append(add, Count{N: e.pending, Last: time.UnixMilli(e.last).UTC()}), append(entries, e)
			e.pending = 0
		case e.touched < oldest:
			delete(t.entries, c)
			if t.follow != nil {
				t.follow.forgotten(c)
			}
		}
		e.mu.Unlock()
	}
	t.mu.Unlock()
	if len(counted) == 0 {
		return nil
	}
	written, err := t.store.AddTallies(ctx, counted, add)
	for i, e := range entries {
		e.mu.Lock()
		if err != nil {
			e.pending += add[i].N
		} else {
			e.n, e.known = written[i].N+e.pending, true
			e.last = max(e.last, written[i].Last.UnixMilli())
		}
		e.mu.Unlock()
		if err == nil && t.follow != nil {
			t.follow.written(counted[i], add[i].N, written[i].N)
		}
	}
	return err
}
