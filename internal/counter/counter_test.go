package counter

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeStore is a database of counts, which may be gone.
type fakeStore struct {
	mu     sync.Mutex
	counts map[Key]Count
	err    error
	writes int
	reads  int
}

func (l *fakeStore) LoadCount(_ context.Context, c Key) (Count, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	return l.counts[c], l.err
}

func (l *fakeStore) AddCounts(_ context.Context, counted []Key, add []Count) ([]Count, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	l.writes++
	out := make([]Count, len(counted))
	for i, c := range counted {
		out[i] = Count{N: l.counts[c].N + add[i].N, Last: add[i].Last}
		l.counts[c] = out[i]
	}
	return out, nil
}

// incrementAndCount counts once more and returns what it is then.
func incrementAndCount(t *Counter, c Key) (int64, error) {
	n, known := t.Increment(c.Subject, c.Period)
	if known {
		return n, nil
	}
	return t.AwaitCount(context.Background(), c.Subject, c.Period, n)
}

func TestCounter_SurvivesRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &fakeStore{counts: map[Key]Count{}}
		today, other := Key{"org", "2026-11-21"}, Key{"org", "2026-11-22"}
		for run := range 3 {
			tally := New(db, time.Now)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { tally.Run(ctx, func(err error) { t.Error(err) }); close(done) }()
			for i := range 5 {
				if n, err := incrementAndCount(tally, today); err != nil || n != int64(run*5+i+1) {
					t.Fatalf("run %d: %d %v", run, n, err)
				}
				time.Sleep(300 * time.Millisecond)
			}
			stop()
			<-done
		}
		if db.counts[today].N != 15 || db.writes > 9 {
			t.Errorf("%d after %d writes", db.counts[today].N, db.writes)
		}
		if n, last, err := New(db, time.Now).Count(t.Context(), other.Subject, other.Period); err != nil || n != 0 || !last.IsZero() {
			t.Errorf("%v %v %v", n, last, err)
		}
	})
}

func TestCounter_DatabaseUnavailable(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	c := Key{"org", "day"}
	db := &fakeStore{counts: map[Key]Count{c: {N: 7, Last: time.UnixMilli(1)}}, err: gone}
	now := time.Now()
	tally := New(db, func() time.Time { return now })
	for range 2 {
		if _, err := incrementAndCount(tally, c); !errors.Is(err, gone) {
			t.Fatal(err)
		}
	}
	if db.reads != 1 {
		t.Errorf("a database that is gone was asked %d times", db.reads)
	}
	if err := tally.Flush(t.Context()); !errors.Is(err, gone) {
		t.Fatal(err)
	}
	db.err = nil
	now = now.Add(FlushInterval)
	if n, err := incrementAndCount(tally, c); err != nil || n != 10 {
		t.Errorf("%d %v: the count goes on, with what was counted meanwhile", n, err)
	}
	db.err = gone
	if n, err := incrementAndCount(tally, c); err != nil || n != 11 {
		t.Errorf("%d %v: what memory holds is still told", n, err)
	}
	db.err = nil
	if err := tally.Flush(t.Context()); err != nil || db.counts[c].N != 11 {
		t.Errorf("%v %v", err, db.counts)
	}
}

func TestCounter_SeveralProcesses(t *testing.T) {
	t.Parallel()
	c := Key{"org", "day"}
	db := &fakeStore{counts: map[Key]Count{}}
	one, two := New(db, time.Now), New(db, time.Now)
	for _, tally := range []*Counter{one, two, one} {
		if _, err := incrementAndCount(tally, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(one.Flush(t.Context()), two.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if n, err := incrementAndCount(two, c); err != nil || n != 4 {
		t.Errorf("%d %v", n, err)
	}
}

func TestCounter_EvictsIdle(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	tally := New(&fakeStore{counts: map[Key]Count{}}, func() time.Time { return now })
	for _, wait := range []time.Duration{0, 0, memoryTTL + time.Second} {
		now = now.Add(wait)
		if wait == 0 {
			if _, err := incrementAndCount(tally, Key{"org", now.String()}); err != nil {
				t.Fatal(err)
			}
		}
		if err := tally.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(tally.entries) != 0 {
		t.Errorf("%d counts are kept", len(tally.entries))
	}
}

func TestCounter_Concurrent(t *testing.T) {
	t.Parallel()
	tally := New(&fakeStore{counts: map[Key]Count{}}, time.Now)
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range 500 {
				tally.Add("a", "b")
				_ = tally.Flush(context.Background())
			}
		})
	}
	work.Wait()
	if n, last, err := tally.Count(t.Context(), "a", "b"); err != nil || n != 4000 || last.IsZero() {
		t.Errorf("%v %v %v", n, last, err)
	}
}

func BenchmarkCounter(b *testing.B) {
	tally := New(&fakeStore{counts: map[Key]Count{}}, time.Now)
	b.ReportAllocs()
	for b.Loop() {
		tally.Add("organization", "2026-11-21")
	}
}
