package storetest

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/internal/counter"
	"parley/internal/requestlog"
)

// newBlock returns a block of calls of a project with these numbers.
func newBlock(projectID string, numbers ...int64) requestlog.Block {
	b := requestlog.Block{ProjectID: projectID}
	for _, n := range numbers {
		b.Calls = append(b.Calls, requestlog.NumberedCall{N: n, Call: requestlog.Call{
			RequestID: "req", ProjectID: projectID, ReceivedAt: testTime(int(n)), Method: "GET", Path: "/api/v5/keys",
			Status: 401, Code: "SVC_UNAUTHORIZED", Micros: 40, KeySlot: "current",
			AuthResult: requestlog.BadSignature, Hint: requestlog.HintQuery, ClockSkew: -n, HasTimestamp: true,
			UserAgent: trickyTexts[2],
		}})
	}
	return b
}

// TestCalls inserts, reads, trims and prunes blocks.
func (s *suite) TestCalls(t *testing.T) {
	ctx := context.Background()
	one, two := Project(t, s.db).ID, Project(t, s.db).ID
	early, middle, late, other := newBlock(one, 1, 3), newBlock(one, 2, 4, 5), newBlock(one, 6), newBlock(two, 2)
	// The second insert of a block changes nothing.
	for range 2 {
		if err := s.db.InsertCalls(ctx, []requestlog.Block{early, middle, late, other}); err != nil {
			t.Fatal(err)
		}
	}
	list := func(project string, firstBelow, lastBelow int64, limit int, want ...requestlog.Block) {
		t.Helper()
		got, err := s.db.Calls(ctx, project, firstBelow, lastBelow, limit)
		requireEqual(t, got, err, want)
	}
	list(one, math.MaxInt64, math.MaxInt64, 10, late, middle, early)
	list(one, math.MaxInt64, math.MaxInt64, 2, late, middle)
	list(one, math.MaxInt64, 6, 10, middle, early)
	list(one, 2, math.MaxInt64, 10, early)
	list(two, math.MaxInt64, math.MaxInt64, 10, other)
	projects, err := s.db.CallProjects(ctx)
	if err != nil || !slices.Contains(projects, one) || !slices.Contains(projects, two) {
		t.Errorf("CallProjects: got %v, %v, want %s and %s", projects, err, one, two)
	}
	for _, tc := range []struct {
		latest int
		left   []requestlog.Block
	}{
		{100, []requestlog.Block{late, middle, early}},
		{6, []requestlog.Block{late, middle, early}},
		{5, []requestlog.Block{late, middle}},
		{3, []requestlog.Block{late}},
	} {
		if err := s.db.TrimCalls(ctx, one, tc.latest); err != nil {
			t.Fatal(err)
		}
		list(one, math.MaxInt64, math.MaxInt64, 10, tc.left...)
	}
	if err := s.db.PruneCalls(ctx, 6); err != nil {
		t.Fatal(err)
	}
	list(one, math.MaxInt64, math.MaxInt64, 10, late)
	list(two, math.MaxInt64, math.MaxInt64, 10)
}

func (s *suite) TestCounters(t *testing.T) {
	ctx := context.Background()
	a, b := counter.Key{Subject: NewID(), Period: "2026-11-21"}, counter.Key{Subject: NewID(), Period: ""}
	if got, err := s.db.LoadCount(ctx, a); err != nil || got != (counter.Count{}) {
		t.Errorf("LoadCount of a new counter: got %v, %v, want 0", got, err)
	}
	add := func(n int64, at time.Time, want ...counter.Count) {
		t.Helper()
		counts := []counter.Count{{N: n, Last: at}, {N: 1, Last: testTime(9)}}
		got, err := s.db.AddCounts(ctx, []counter.Key{a, b}, counts)
		requireEqual(t, got, err, want)
	}
	add(2, testTime(5), counter.Count{N: 2, Last: testTime(5)}, counter.Count{N: 1, Last: testTime(9)})
	// the later time remains
	add(3, testTime(4), counter.Count{N: 5, Last: testTime(5)}, counter.Count{N: 2, Last: testTime(9)})
	add(1, testTime(6), counter.Count{N: 6, Last: testTime(6)}, counter.Count{N: 3, Last: testTime(9)})
	got, err := s.db.LoadCount(ctx, a)
	requireEqual(t, got, err, counter.Count{N: 6, Last: testTime(6)})
}

// Several nodes add to the same counters at the same time, in any order.
func (s *suite) TestCounters_Concurrent(t *testing.T) {
	ctx := context.Background()
	a, b := counter.Key{Subject: NewID()}, counter.Key{Subject: NewID()}
	one := []counter.Count{{N: 1, Last: testTime(1)}, {N: 1, Last: testTime(1)}}
	var wg sync.WaitGroup
	const each = 50
	for range each {
		for _, order := range [][]counter.Key{{a, b}, {b, a}} {
			wg.Go(func() {
				if _, err := s.db.AddCounts(ctx, order, one); err != nil {
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
