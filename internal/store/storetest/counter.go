package storetest

import (
	"sync"
	"testing"
	"time"

	"parley/internal/counter"
)

func (s *suite) testCounters(t *testing.T) {
	ctx := patient()
	a, b := counter.Key{Subject: NewID(), Period: "2026-11-21"}, counter.Key{Subject: NewID(), Period: ""}
	if got, err := s.db.LoadCount(ctx, a); err != nil || got != (counter.Count{}) {
		t.Errorf("LoadCount of a new counter: got %v, %v, want 0", got, err)
	}
	batch := counter.Batch{Process: NewID(), Keys: []counter.Key{a, b}}
	add := func(n int64, at time.Time, want ...counter.Count) {
		t.Helper()
		batch.Number++
		batch.Add = []counter.Count{{N: n, Last: at}, {N: 1, Last: testTime(9)}}
		got, err := s.db.AddCounts(ctx, batch)
		requireEqual(t, got, err, want)
	}
	add(2, testTime(5), counter.Count{N: 2, Last: testTime(5)}, counter.Count{N: 1, Last: testTime(9)})
	// the later time remains
	add(3, testTime(4), counter.Count{N: 5, Last: testTime(5)}, counter.Count{N: 2, Last: testTime(9)})
	add(1, testTime(6), counter.Count{N: 6, Last: testTime(6)}, counter.Count{N: 3, Last: testTime(9)})
	got, err := s.db.LoadCount(ctx, a)
	requireEqual(t, got, err, counter.Count{N: 6, Last: testTime(6)})
}

// A batch that is added again, as after a commit whose outcome was unknown, changes nothing.
func (s *suite) testCounters_SameBatch(t *testing.T) {
	ctx := patient()
	a, b := counter.Key{Subject: NewID()}, counter.Key{Subject: NewID()}
	batch := func(process string, number int64) counter.Batch {
		return counter.Batch{
			Process: process,
			Number:  number,
			Keys:    []counter.Key{b, a},
			Add:     []counter.Count{{N: 1, Last: testTime(1)}, {N: 10, Last: testTime(2)}},
		}
	}
	one, two := NewID(), NewID()
	times := int64(0) // that a batch was added
	for _, c := range []struct {
		process string
		number  int64
		added   bool
	}{{one, 1, true}, {one, 1, false}, {two, 1, true}, {one, 1, false}, {one, 2, true}, {one, 2, false}, {two, 1, false}} {
		if c.added {
			times++
		}
		got, err := s.db.AddCounts(ctx, batch(c.process, c.number))
		requireEqual(t, got, err, []counter.Count{{N: times, Last: testTime(1)}, {N: 10 * times, Last: testTime(2)}})
	}
}

// The same batch is added at the same time, as when the first transaction is still running.
func (s *suite) testCounters_SameBatchConcurrent(t *testing.T) {
	ctx := patient()
	b := counter.Batch{Process: NewID(), Number: 1, Keys: []counter.Key{{Subject: NewID()}},
		Add: []counter.Count{{N: 3, Last: testTime(1)}}}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := s.db.AddCounts(ctx, b); err != nil || got[0] != b.Add[0] {
				t.Errorf("got %v, %v, want %v", got, err, b.Add)
			}
		})
	}
	wg.Wait()
}

// The numbers of the batches of processes that ended more than 30 days ago are deleted when a process adds its first
// batch.
func (s *suite) testCounters_EndedProcesses(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	k := counter.Key{Subject: NewID()}
	add := func(process string, number int64, seconds int) {
		t.Helper()
		_, err := db.AddCounts(ctx, counter.Batch{Process: process, Number: number, Keys: []counter.Key{k},
			Add: []counter.Count{{N: 1, Last: testTime(seconds)}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	require := func(process string, want int64) {
		t.Helper()
		got, err := db.LoadCount(ctx, counter.Key{Subject: "batch", Period: process})
		if err != nil || got.N != want {
			t.Errorf("number of the last batch of process %s: got %d, %v, want %d", process, got.N, err, want)
		}
	}
	const day = 24 * 60 * 60
	add("ended", 1, 0)
	add("running", 1, 0)
	add("running", 2, day)
	add("running", 3, 30*day+1) // no first batch
	add("at 30 days", 1, 30*day)
	require("ended", 1)
	add("later", 1, 30*day+1)
	require("ended", 0)
	require("running", 3)
	require("at 30 days", 1)
	require("later", 1)
	got, err := db.LoadCount(ctx, k)
	requireEqual(t, got, err, counter.Count{N: 6, Last: testTime(30*day + 1)})
}

// Several nodes add to the same counters at the same time, in any order.
func (s *suite) testCounters_Concurrent(t *testing.T) {
	ctx := patient()
	a, b := counter.Key{Subject: NewID()}, counter.Key{Subject: NewID()}
	one := []counter.Count{{N: 1, Last: testTime(1)}, {N: 1, Last: testTime(1)}}
	var wg sync.WaitGroup
	const each = 50
	for range each {
		for _, order := range [][]counter.Key{{a, b}, {b, a}} {
			wg.Go(func() {
				b := counter.Batch{Process: NewID(), Number: 1, Keys: order, Add: one}
				if _, err := s.db.AddCounts(ctx, b); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for _, c := range []counter.Key{a, b} {
		got, err := s.db.LoadCount(ctx, c)
		requireEqual(t, got, err, counter.Count{N: 2 * each, Last: testTime(1)})
	}
}
