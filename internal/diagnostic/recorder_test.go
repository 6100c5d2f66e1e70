package diagnostic

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// shelf is a database of calls, which may be gone.
type shelf struct {
	mu      sync.Mutex
	blocks  []Block
	inserts int
	gone    error
	below   int64
	kept    map[string]int
}

// InsertCalls implements Store.
func (s *shelf) InsertCalls(_ context.Context, blocks []Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.inserts++
		s.blocks = append(s.blocks, blocks...)
	}
	return s.gone
}

// Calls implements Store.
func (s *shelf) Calls(_ context.Context, projectID string, firstBelow, lastBelow int64, limit int) ([]Block, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Block
	for _, b := range s.blocks {
		if b.ProjectID == projectID && b.First() < firstBelow && b.Last() < lastBelow {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b Block) int { return cmp.Compare(b.Last(), a.Last()) })
	return found[:min(limit, len(found))], s.gone
}

func (s *shelf) size() (n int) {
	for _, b := range s.blocks {
		n += len(b.Calls)
	}
	return n
}

// all returns every call, the earliest block first.
func (s *shelf) all() (calls []Numbered) {
	for _, b := range s.blocks {
		calls = append(calls, b.Calls...)
	}
	return calls
}

// PruneCalls implements Store.
func (s *shelf) PruneCalls(_ context.Context, below int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.below = below
	return s.gone
}

// KeepCalls implements Store.
func (s *shelf) KeepCalls(_ context.Context, projectID string, latest int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[projectID] = latest
	for size := s.size(); size > latest; s.blocks = s.blocks[1:] {
		size -= len(s.blocks[0].Calls)
	}
	return s.gone
}

// CallProjects implements Store.
func (s *shelf) CallProjects(context.Context) ([]string, error) { return []string{"p"}, s.gone }

func newShelf() *shelf { return &shelf{kept: map[string]int{}} }

// start runs a Recorder; stop ends it and waits for its last write.
func start(t *testing.T, s *shelf) (r *Recorder, stop func()) {
	t.Helper()
	r = NewRecorder(s, time.Now)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { r.Run(ctx, func(error) {}); close(done) }()
	return r, func() { cancel(); <-done }
}

func call(i int) Call {
	return Call{RequestID: strconv.Itoa(i), ProjectID: "p", ReceivedAt: time.Now()}
}

func TestCallsAreListedWithinASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		r, stop := start(t, s)
		defer stop()
		for i := range 2500 { // all at the same moment
			r.Record(call(i))
		}
		time.Sleep(999 * time.Millisecond)
		if s.inserts != 3 {
			t.Errorf("%d transactions", s.inserts)
		}
		calls, more, err := r.List(t.Context(), "p", 1<<62, 100)
		if err != nil || !more || len(calls) != 100 || calls[0].RequestID != "2499" || calls[99].RequestID != "2400" {
			t.Fatalf("%d %v %v", len(calls), more, err)
		}
		calls, more, err = r.List(t.Context(), "p", calls[99].N, 2400)
		if err != nil || more || len(calls) != 2400 || calls[0].RequestID != "2399" {
			t.Errorf("%d %v %v", len(calls), more, err)
		}
	})
}

func TestCallsAreListedAsTheyCameIn(t *testing.T) {
	t.Parallel()
	s := newShelf()
	r := NewRecorder(s, time.Now)
	now := time.Now()
	for i, after := range []int{0, 3, 1, 2, 2} { // milliseconds; as their answers ended
		c := call(i)
		c.ReceivedAt = now.Add(time.Duration(after) * time.Millisecond)
		r.Record(c)
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range s.all() {
		got = append(got, c.RequestID)
	}
	if want := []string{"0", "2", "3", "4", "1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestListsOfSeveralWriters has two processes write the calls of one project,
// in blocks whose numbers overlap, and turns the pages.
func TestListsOfSeveralWriters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newShelf()
		var want []int64
		n := int64(0)
		for range rapid.IntRange(0, 30).Draw(t, "rounds") {
			blocks := []Block{{ProjectID: "p"}, {ProjectID: "p"}}
			for range rapid.IntRange(1, 12).Draw(t, "calls") {
				n++
				b := &blocks[rapid.IntRange(0, 1).Draw(t, "writer")]
				b.Calls = append(b.Calls, Numbered{N: n})
				want = append(want, n)
			}
			for _, b := range blocks {
				if len(b.Calls) > 0 {
					s.blocks = append(s.blocks, b)
				}
			}
		}
		slices.Reverse(want)
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		var got []int64
		for below, more := int64(math.MaxInt64), true; more; {
			var page []Numbered
			var err error
			if page, more, err = NewRecorder(s, time.Now).List(context.Background(), "p", below, limit); err != nil || len(page) > limit || more && len(page) < limit {
				t.Fatalf("%d calls, %v %v", len(page), more, err)
			}
			for _, c := range page {
				got, below = append(got, c.N), c.N
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

func TestStopWritesWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		r, stop := start(t, s)
		r.Record(call(1))
		r.RecordRefused(call(2), Refused{Repeated: true})
		stop()
		if calls := s.all(); len(calls) != 2 || calls[0].Hint+calls[1].Hint != HintRepeated {
			t.Errorf("%+v", calls)
		}
	})
}

func TestWaitingCallsAreBounded(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.gone = errors.New("gone")
	r := NewRecorder(s, time.Now)
	for i := range MaxWaiting + 10 {
		r.Record(call(i))
	}
	if err := r.Flush(t.Context()); !errors.Is(err, s.gone) || r.Dropped() != 10 {
		t.Fatalf("%v, %d dropped", err, r.Dropped())
	}
	r.Record(call(0))
	if r.Dropped() != 11 {
		t.Errorf("%d dropped", r.Dropped())
	}
	s.gone = nil
	if err := r.Flush(t.Context()); err != nil || s.inserts != MaxWaiting/chunk || s.size() > keepLatest {
		t.Errorf("%v, %d transactions, %d kept", err, s.inserts, s.size())
	}
	if err := r.Flush(t.Context()); err != nil || s.inserts != MaxWaiting/chunk {
		t.Errorf("%v, %d transactions: the same was written again", err, s.inserts)
	}
}

func TestAProjectNeverHasTooManyCalls(t *testing.T) {
	t.Parallel()
	s := newShelf()
	r := NewRecorder(s, time.Now)
	for round := range 30 {
		for i := range 7000 {
			r.Record(call(i))
		}
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.size() > keepLatest {
			t.Fatalf("%d after %d rounds", s.size(), round)
		}
	}
	if s.kept["p"] != keepLatest-slack || s.size() < keepLatest-slack {
		t.Errorf("%d are left, %v", s.size(), s.kept)
	}
}

func TestOldCallsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		_, stop := start(t, s)
		defer stop()
		time.Sleep(24*time.Hour + time.Minute)
		if age := time.Since(time.Unix(0, s.below)); age < keepFor || age > keepFor+pruneEvery {
			t.Errorf("calls are kept for %v", age)
		}
	})
}

func TestRefusedCallsBeyondTheBoundHaveNoHint(t *testing.T) {
	t.Parallel()
	s := newShelf()
	r := NewRecorder(s, time.Now)
	for i := range maxExplaining + 5 {
		r.RecordRefused(call(i), Refused{Repeated: true})
	}
	r.Settle()
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	without := 0
	for _, c := range s.all() {
		if c.Hint == "" {
			without++
		}
	}
	if s.size() != maxExplaining+5 || without != 5 {
		t.Errorf("%d calls, %d without a hint", s.size(), without)
	}
}

func TestUserAgents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200)
	for agent, want := range map[string]string{
		"": "", "curl/8": "curl/8", "a\xffb": "a\uFFFDb", long: long[:254],
		"pk_0123": "[secret]", "x gs_abc": "[secret]", "whsec_x": "[secret]",
	} {
		if got := clean(agent); got != want {
			t.Errorf("%q: %q, want %q", agent, got, want)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	s := newShelf()
	r := NewRecorder(s, time.Now)
	c := call(1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Record(c)
		if i%chunk == 0 {
			_ = r.Flush(context.Background())
			s.blocks = nil
		}
	}
}
