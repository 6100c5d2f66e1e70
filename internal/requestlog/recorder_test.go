package requestlog

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

// fakeStore is a database of calls that fails with err unless that is nil.
type fakeStore struct {
	mu          sync.Mutex
	blocks      []Block
	inserts     int
	err         error
	prunedBelow int64
	trimmedTo   map[string]int
}

func (s *fakeStore) InsertCalls(_ context.Context, blocks []Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.inserts++
		s.blocks = append(s.blocks, blocks...)
	}
	return s.err
}

func (s *fakeStore) Calls(
	_ context.Context, projectID string, firstBelow, lastBelow int64, limit int,
) ([]Block, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Block
	for _, b := range s.blocks {
		if b.ProjectID == projectID && b.First() < firstBelow && b.Last() < lastBelow {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b Block) int { return cmp.Compare(b.Last(), a.Last()) })
	return found[:min(limit, len(found))], s.err
}

func (s *fakeStore) size() (n int) {
	for _, b := range s.blocks {
		n += len(b.Calls)
	}
	return n
}

// all returns every call, the earliest block first.
func (s *fakeStore) all() (calls []NumberedCall) {
	for _, b := range s.blocks {
		calls = append(calls, b.Calls...)
	}
	return calls
}

func (s *fakeStore) PruneCalls(_ context.Context, below int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prunedBelow = below
	return s.err
}

func (s *fakeStore) TrimCalls(_ context.Context, projectID string, latest int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trimmedTo[projectID] = latest
	for size := s.size(); size > latest; s.blocks = s.blocks[1:] {
		size -= len(s.blocks[0].Calls)
	}
	return s.err
}

func (s *fakeStore) CallProjects(context.Context) ([]string, error) { return []string{"p"}, s.err }

func newFakeStore() *fakeStore { return &fakeStore{trimmedTo: map[string]int{}} }

// startRecorder runs a Recorder. stop ends Run and waits for its last flush.
func startRecorder(t *testing.T, s *fakeStore) (r *Recorder, stop func()) {
	t.Helper()
	r = NewRecorder(s, time.Now)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { r.Run(ctx, func(error) {}); close(done) }()
	return r, func() { cancel(); <-done }
}

func newCall(i int) Call {
	return Call{RequestID: strconv.Itoa(i), ProjectID: "p", ReceivedAt: time.Now()}
}

func TestRecorder_ListsWithinOneSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		r, stop := startRecorder(t, s)
		defer stop()
		for i := range 2500 { // all at the same moment
			r.Record(newCall(i))
		}
		time.Sleep(999 * time.Millisecond)
		if s.inserts != 3 {
			t.Errorf("got %d transactions, want 3", s.inserts)
		}
		calls, more, err := r.List(t.Context(), "p", 1<<62, 100)
		if err != nil || !more || len(calls) != 100 ||
			calls[0].RequestID != "2499" || calls[99].RequestID != "2400" {
			t.Fatalf("first page: got %d calls, more %v, %v, want 100 from 2499 to 2400", len(calls), more, err)
		}
		calls, more, err = r.List(t.Context(), "p", calls[99].N, 2400)
		if err != nil || more || len(calls) != 2400 || calls[0].RequestID != "2399" {
			t.Errorf("second page: got %d calls, more %v, %v, want 2400 from 2399", len(calls), more, err)
		}
	})
}

func TestRecorder_ListsInOrderOfArrival(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	r := NewRecorder(s, time.Now)
	now := time.Now()
	for i, after := range []int{0, 3, 1, 2, 2} { // milliseconds, in the order in which the calls ended
		c := newCall(i)
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
		t.Errorf("got %v, want %v", got, want)
	}
}

// Two processes store the calls of one project in blocks whose numbers overlap.
func TestRecorder_ListsSeveralWriters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newFakeStore()
		var want []int64
		n := int64(0)
		for range rapid.IntRange(0, 30).Draw(t, "rounds") {
			blocks := []Block{{ProjectID: "p"}, {ProjectID: "p"}}
			for range rapid.IntRange(1, 12).Draw(t, "calls") {
				n++
				b := &blocks[rapid.IntRange(0, 1).Draw(t, "writer")]
				b.Calls = append(b.Calls, NumberedCall{N: n})
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
			var page []NumberedCall
			var err error
			page, more, err = NewRecorder(s, time.Now).List(context.Background(), "p", below, limit)
			if err != nil || len(page) > limit || more && len(page) < limit {
				t.Fatalf("List below %d: got %d calls, more %v, %v, limit %d", below, len(page), more, err, limit)
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

func TestRecorder_FlushesOnStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		r, stop := startRecorder(t, s)
		r.Record(newCall(1))
		r.RecordRefused(newCall(2), RefusedCall{HeadersWrong: true})
		stop()
		if calls := s.all(); len(calls) != 2 || calls[0].Hint+calls[1].Hint != HintHeaders {
			t.Errorf("got %+v, want two calls, one with HintHeaders", calls)
		}
	})
}

func TestRecorder_DropsBeyondMaxPending(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	s.err = errors.New("the database is down")
	r := NewRecorder(s, time.Now)
	for i := range maxPending + 10 {
		r.Record(newCall(i))
	}
	if err := r.Flush(t.Context()); !errors.Is(err, s.err) || r.Dropped() != 10 {
		t.Fatalf("got %v, %d dropped, want %v, 10 dropped", err, r.Dropped(), s.err)
	}
	r.Record(newCall(0))
	if r.Dropped() != 11 {
		t.Errorf("got %d dropped, want 11", r.Dropped())
	}
	s.err = nil
	err := r.Flush(t.Context())
	if err != nil || s.inserts != maxPending/insertBatch || s.size() > maxCallsPerProject {
		t.Errorf("got %v, %d transactions, %d stored, want %d transactions, at most %d stored",
			err, s.inserts, s.size(), maxPending/insertBatch, maxCallsPerProject)
	}
	if err := r.Flush(t.Context()); err != nil || s.inserts != maxPending/insertBatch {
		t.Errorf("second flush: got %v, %d transactions, want %d", err, s.inserts, maxPending/insertBatch)
	}
}

func TestRecorder_TrimsProject(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	r := NewRecorder(s, time.Now)
	for round := range 30 {
		for i := range 7000 {
			r.Record(newCall(i))
		}
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.size() > maxCallsPerProject {
			t.Fatalf("round %d: got %d calls, want at most %d", round, s.size(), maxCallsPerProject)
		}
	}
	if s.trimmedTo["p"] != maxCallsPerProject-trimSlack || s.size() < maxCallsPerProject-trimSlack {
		t.Errorf("got %d calls, trimmed to %v, want %d", s.size(), s.trimmedTo, maxCallsPerProject-trimSlack)
	}
}

func TestRecorder_PrunesOldCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		_, stop := startRecorder(t, s)
		defer stop()
		time.Sleep(24*time.Hour + time.Minute)
		if age := time.Since(time.Unix(0, s.prunedBelow)); age < retention || age > retention+pruneEvery {
			t.Errorf("calls are stored for %v, want %v to %v", age, retention, retention+pruneEvery)
		}
	})
}

func TestRecorder_PendingRefusalsBounded(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	r := NewRecorder(s, time.Now)
	for i := range maxPendingRefusals + 5 {
		r.RecordRefused(newCall(i), RefusedCall{HeadersWrong: true})
	}
	r.ExplainPending()
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	without := 0
	for _, c := range s.all() {
		if c.Hint == "" {
			without++
		}
	}
	if s.size() != maxPendingRefusals+5 || without != 5 {
		t.Errorf("got %d calls, %d without a hint, want %d, 5", s.size(), without, maxPendingRefusals+5)
	}
}

func TestSanitizeUserAgent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200)
	for agent, want := range map[string]string{
		"": "", "curl/8": "curl/8", "a\xffb": "a\uFFFDb", long: long[:254],
		"pk_0123": "[secret]", "x gs_abc": "[secret]", "whsec_x": "[secret]",
	} {
		if got := sanitizeUserAgent(agent); got != want {
			t.Errorf("sanitizeUserAgent(%q) = %q, want %q", agent, got, want)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	s := newFakeStore()
	r := NewRecorder(s, time.Now)
	c := newCall(1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Record(c)
		if i%insertBatch == 0 {
			_ = r.Flush(context.Background())
			s.blocks = nil
		}
	}
}
