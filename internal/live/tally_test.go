package live

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ledger is a database of counts, which may be gone.
type ledger struct {
	mu     sync.Mutex
	counts map[Counted]Count
	gone   error
	writes int
	reads  int
}

// Tally implements TallyStore.
func (l *ledger) Tally(_ context.Context, c Counted) (Count, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	return l.counts[c], l.gone
}

// AddTallies implements TallyStore.
func (l *ledger) AddTallies(_ context.Context, counted []Counted, add []Count) ([]Count, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone != nil {
		return nil, l.gone
	}
	l.writes++
	out := make([]Count, len(counted))
	for i, c := range counted {
		out[i] = Count{N: l.counts[c].N + add[i].N, Last: add[i].Last}
		l.counts[c] = out[i]
	}
	return out, nil
}

// count counts once more and returns what it is then.
func count(t *Tally, c Counted) (int64, error) {
	n, known := t.Next(c.Subject, c.Period)
	if known {
		return n, nil
	}
	return t.Number(context.Background(), c.Subject, c.Period, n)
}

func TestTallyIsKeptOverARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &ledger{counts: map[Counted]Count{}}
		today, other := Counted{"org", "2026-11-21"}, Counted{"org", "2026-11-22"}
		for run := range 3 {
			tally := NewTally(db, time.Now)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { tally.Run(ctx, func(err error) { t.Error(err) }); close(done) }()
			for i := range 5 {
				if n, err := count(tally, today); err != nil || n != int64(run*5+i+1) {
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
		if n, last, err := NewTally(db, time.Now).Count(t.Context(), other.Subject, other.Period); err != nil || n != 0 || !last.IsZero() {
			t.Errorf("%v %v %v", n, last, err)
		}
	})
}

func TestTallyWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	c := Counted{"org", "day"}
	db := &ledger{counts: map[Counted]Count{c: {N: 7, Last: time.UnixMilli(1)}}, gone: gone}
	now := time.Now()
	tally := NewTally(db, func() time.Time { return now })
	for range 2 {
		if _, err := count(tally, c); !errors.Is(err, gone) {
			t.Fatal(err)
		}
	}
	if db.reads != 1 {
		t.Errorf("a database that is gone was asked %d times", db.reads)
	}
	if err := tally.Flush(t.Context()); !errors.Is(err, gone) {
		t.Fatal(err)
	}
	db.gone = nil
	now = now.Add(tallyEvery)
	if n, err := count(tally, c); err != nil || n != 10 {
		t.Errorf("%d %v: the count goes on, with what was counted meanwhile", n, err)
	}
	db.gone = gone
	if n, err := count(tally, c); err != nil || n != 11 {
		t.Errorf("%d %v: what memory holds is still told", n, err)
	}
	db.gone = nil
	if err := tally.Flush(t.Context()); err != nil || db.counts[c].N != 11 {
		t.Errorf("%v %v", err, db.counts)
	}
}

func TestTallyOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	c := Counted{"org", "day"}
	db := &ledger{counts: map[Counted]Count{}}
	one, two := NewTally(db, time.Now), NewTally(db, time.Now)
	for _, tally := range []*Tally{one, two, one} {
		if _, err := count(tally, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(one.Flush(t.Context()), two.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if n, err := count(two, c); err != nil || n != 4 {
		t.Errorf("%d %v", n, err)
	}
}

func TestTallyForgetsWhatIsOver(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	tally := NewTally(&ledger{counts: map[Counted]Count{}}, func() time.Time { return now })
	for _, wait := range []time.Duration{0, 0, tallyKept + time.Second} {
		now = now.Add(wait)
		if wait == 0 {
			if _, err := count(tally, Counted{"org", now.String()}); err != nil {
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

func TestTallyAtOnce(t *testing.T) {
	t.Parallel()
	tally := NewTally(&ledger{counts: map[Counted]Count{}}, time.Now)
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

func BenchmarkTally(b *testing.B) {
	tally := NewTally(&ledger{counts: map[Counted]Count{}}, time.Now)
	b.ReportAllocs()
	for b.Loop() {
		tally.Add("organization", "2026-11-21")
	}
}
