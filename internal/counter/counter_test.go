package counter

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeStore is a database of counts that fails with err unless that is nil.
type fakeStore struct {
	mu      sync.Mutex
	counts  map[Key]Count
	batches map[string]int64 // number of the last batch of each process
	err     error
	inDoubt bool // AddCounts fails after it has added the batch
	maxKeys int  // of a batch; 0 for any
	writes  int
	reads   int
}

func (l *fakeStore) LoadCount(_ context.Context, c Key) (Count, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	return l.counts[c], l.err
}

func (l *fakeStore) AddCounts(_ context.Context, b Batch) ([]Count, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	if l.maxKeys > 0 && len(b.Keys) > l.maxKeys {
		return nil, errTimeout
	}
	l.writes++
	if l.batches == nil {
		l.batches = map[string]int64{}
	}
	added := l.batches[b.Process] >= b.Number
	l.batches[b.Process] = max(l.batches[b.Process], b.Number)
	out := make([]Count, len(b.Keys))
	for i, k := range b.Keys {
		if !added {
			l.counts[k] = Count{N: l.counts[k].N + b.Add[i].N, Last: b.Add[i].Last}
		}
		out[i] = l.counts[k]
	}
	if l.inDoubt {
		return nil, errTimeout
	}
	return out, nil
}

var errTimeout = errors.New("the commit did not finish in time")

// incrementAndCount increments a count and returns it.
func incrementAndCount(c *Counter, k Key) (int64, error) {
	n, known := c.Increment(k.Subject, k.Period)
	if known {
		return n, nil
	}
	return c.AwaitCount(context.Background(), k.Subject, k.Period, n)
}

func TestCounter_SurvivesRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &fakeStore{counts: map[Key]Count{}}
		today, other := Key{"org", "2026-11-21"}, Key{"org", "2026-11-22"}
		for run := range 3 {
			counter := New(db, time.Now)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			report := func(err error) {
				if err != nil {
					t.Error(err)
				}
			}
			go func() { counter.Run(ctx, report); close(done) }()
			for i := range 5 {
				if n, err := incrementAndCount(counter, today); err != nil || n != int64(run*5+i+1) {
					t.Fatalf("run %d, increment %d: got %d, %v", run, i, n, err)
				}
				time.Sleep(300 * time.Millisecond) // of the fake clock
			}
			stop()
			<-done
		}
		if db.counts[today].N != 15 || db.writes > 9 {
			t.Errorf("saved %d in %d writes, want 15 in at most 9", db.counts[today].N, db.writes)
		}
		n, last, err := New(db, time.Now).Count(t.Context(), other.Subject, other.Period)
		if err != nil || n != 0 || !last.IsZero() {
			t.Errorf("a day without calls: got %v, %v, %v, want 0 and a zero time", n, last, err)
		}
	})
}

func TestCounter_DatabaseUnavailable(t *testing.T) {
	t.Parallel()
	errDown := errors.New("the database is down")
	c := Key{"org", "day"}
	db := &fakeStore{counts: map[Key]Count{c: {N: 7, Last: time.UnixMilli(1)}}, err: errDown}
	now := time.Now()
	counter := New(db, func() time.Time { return now })
	for range 2 {
		if _, err := incrementAndCount(counter, c); !errors.Is(err, errDown) {
			t.Fatal(err)
		}
	}
	if db.reads != 1 {
		t.Errorf("a database that is down was read %d times, want 1", db.reads)
	}
	if err := counter.Flush(t.Context()); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	db.err = nil
	now = now.Add(FlushInterval)
	if n, err := incrementAndCount(counter, c); err != nil || n != 10 {
		t.Errorf("after the outage: got %d, %v, want 10 with the calls during the outage", n, err)
	}
	db.err = errDown
	if n, err := incrementAndCount(counter, c); err != nil || n != 11 {
		t.Errorf("a count in memory during an outage: got %d, %v, want 11", n, err)
	}
	db.err = nil
	if err := counter.Flush(t.Context()); err != nil || db.counts[c].N != 11 {
		t.Errorf("after the flush: got %v, %v, want 11", db.counts, err)
	}
}

// A commit whose outcome was unknown counts no call twice and loses none, also if further calls arrive and another
// process adds to the same count before the database responds again.
func TestCounter_CommitInDoubt(t *testing.T) {
	t.Parallel()
	k := Key{"org", "day"}
	db := &fakeStore{counts: map[Key]Count{}, inDoubt: true}
	one, two := New(db, time.Now), New(db, time.Now)
	one.Add(k.Subject, k.Period)
	for range 2 {
		if err := one.Flush(t.Context()); !errors.Is(err, errTimeout) {
			t.Fatalf("flush: got %v, want %v", err, errTimeout)
		}
		one.Add(k.Subject, k.Period)
	}
	db.inDoubt = false
	two.Add(k.Subject, k.Period)
	if err := errors.Join(two.Flush(t.Context()), one.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := db.counts[k].N; got != 4 {
		t.Errorf("saved: got %d, want 4", got)
	}
	if n, _, err := one.Count(t.Context(), k.Subject, k.Period); err != nil || n != 4 {
		t.Errorf("in memory: got %d, %v, want 4", n, err)
	}
	one.Add(k.Subject, k.Period)
	if err := one.Flush(t.Context()); err != nil || db.counts[k].N != 5 {
		t.Errorf("the next flush: got %d, %v, want 5", db.counts[k].N, err)
	}
}

// A database that adds only so many keys in time gets all of them. Those that fail stay pending.
func TestCounter_ManyKeys(t *testing.T) {
	t.Parallel()
	db := &fakeStore{counts: map[Key]Count{}, maxKeys: 200}
	counter := New(db, time.Now)
	const keys = 1700
	add := func() {
		for i := range keys {
			counter.Add(strconv.Itoa(i), "day")
		}
	}
	add()
	db.inDoubt = true
	if err := counter.Flush(t.Context()); !errors.Is(err, errTimeout) {
		t.Fatalf("flush: got %v, want %v", err, errTimeout)
	}
	add()
	db.inDoubt = false
	if err := counter.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(db.counts) != keys {
		t.Errorf("got %d keys, want %d", len(db.counts), keys)
	}
	for k, got := range db.counts {
		if got.N != 2 {
			t.Errorf("%v: got %d, want 2", k, got.N)
		}
	}
}

func TestCounter_SeveralProcesses(t *testing.T) {
	t.Parallel()
	c := Key{"org", "day"}
	db := &fakeStore{counts: map[Key]Count{}}
	one, two := New(db, time.Now), New(db, time.Now)
	for _, counter := range []*Counter{one, two, one} {
		if _, err := incrementAndCount(counter, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(one.Flush(t.Context()), two.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if n, err := incrementAndCount(two, c); err != nil || n != 4 {
		t.Errorf("the second process: got %d, %v, want 4", n, err)
	}
}

func TestCounter_EvictsIdle(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	counter := New(&fakeStore{counts: map[Key]Count{}}, func() time.Time { return now })
	for _, wait := range []time.Duration{0, 0, memoryTTL + time.Second} {
		now = now.Add(wait)
		if wait == 0 {
			if _, err := incrementAndCount(counter, Key{"org", now.String()}); err != nil {
				t.Fatal(err)
			}
		}
		if err := counter.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(counter.entries) != 0 {
		t.Errorf("%d counts are in memory, want 0", len(counter.entries))
	}
}

func TestCounter_Concurrent(t *testing.T) {
	t.Parallel()
	counter := New(&fakeStore{counts: map[Key]Count{}}, time.Now)
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range 500 {
				counter.Add("a", "b")
				_ = counter.Flush(context.Background())
			}
		})
	}
	work.Wait()
	if n, last, err := counter.Count(t.Context(), "a", "b"); err != nil || n != 4000 || last.IsZero() {
		t.Errorf("got %v, %v, %v, want 4000 and a time", n, last, err)
	}
}

func BenchmarkCounter(b *testing.B) {
	counter := New(&fakeStore{counts: map[Key]Count{}}, time.Now)
	b.ReportAllocs()
	for b.Loop() {
		counter.Add("organization", "2026-11-21")
	}
}
