package diagnostic

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// shelf is a database of calls, which may be gone.
type shelf struct {
	mu      sync.Mutex
	calls   []Numbered
	inserts int
	gone    error
	below   int64
	kept    map[string]int
}

// InsertCalls implements Store.
func (s *shelf) InsertCalls(_ context.Context, calls []Numbered) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.inserts++
		s.calls = append(s.calls, calls...)
	}
	return s.gone
}

// Calls implements Store.
func (s *shelf) Calls(_ context.Context, projectID string, below int64, limit int) ([]Numbered, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Numbered
	for _, c := range s.calls {
		if c.ProjectID == projectID && c.N < below {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b Numbered) int { return cmp.Compare(b.N, a.N) })
	return found[:min(limit, len(found))], s.gone
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
	all := s.calls
	s.calls = all[max(0, len(all)-latest):]
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

func TestStopWritesWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		r, stop := start(t, s)
		r.Record(call(1))
		r.RecordRefused(call(2), Refused{Repeated: true})
		stop()
		if len(s.calls) != 2 || s.calls[0].Hint+s.calls[1].Hint != HintRepeated {
			t.Errorf("%+v", s.calls)
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
	if err := r.Flush(t.Context()); err != nil || s.inserts != MaxWaiting/chunk || len(s.calls) > keepLatest {
		t.Errorf("%v, %d transactions, %d kept", err, s.inserts, len(s.calls))
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
		if len(s.calls) > keepLatest {
			t.Fatalf("%d after %d rounds", len(s.calls), round)
		}
	}
	if s.kept["p"] != keepLatest-slack || len(s.calls) < keepLatest-slack {
		t.Errorf("%d are left, %v", len(s.calls), s.kept)
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
	for _, c := range s.calls {
		if c.Hint == "" {
			without++
		}
	}
	if len(s.calls) != maxExplaining+5 || without != 5 {
		t.Errorf("%d calls, %d without a hint", len(s.calls), without)
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
			s.calls = s.calls[:0]
		}
	}
}
