package requestlog

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
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
	callers   []KeyCaller
	mu        sync.Mutex
	blocks    []Block
	inserts   int
	err       error
	trimmedTo map[string]int // by project and API
	rejected  []RejectionCount
	totals    []CallTotal
}

func (s *fakeStore) InsertCalls(_ context.Context, blocks []Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.inserts++
		for _, b := range blocks {
			b.Calls = slices.Clone(b.Calls)
			s.blocks = append(s.blocks, b)
		}
	}
	return s.err
}

func (s *fakeStore) Calls(_ context.Context, q BlockQuery, each func(StoredBlock) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []StoredBlock
	for _, b := range s.blocks {
		if b.ProjectID == q.ProjectID && (q.API == "" || b.API == q.API) && b.First() < q.FirstBelow &&
			b.Last() < q.LastBelow && b.Last() >= q.Since && !(q.Rejected && b.IsAccepted()) {
			matching := slices.DeleteFunc(slices.Clone(b.Calls), func(c NumberedCall) bool {
				return !q.Filter.Matches(&c.Call)
			})
			latestFirst := func(yield func(NumberedCall, error) bool) {
				for _, c := range slices.Backward(matching) {
					if !yield(c, nil) {
						return
					}
				}
			}
			found = append(found, StoredBlock{First: b.First(), Last: b.Last(), Calls: latestFirst})
		}
	}
	slices.SortFunc(found, func(a, b StoredBlock) int { return cmp.Compare(b.Last, a.Last) })
	for _, b := range found[:min(q.Limit, len(found))] {
		if err := each(b); err != nil {
			return err
		}
	}
	return s.err
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

func (s *fakeStore) TrimCalls(_ context.Context, projectID, api string, latest int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trimmedTo[projectID+" "+api] = latest
	size := map[bool]int{} // by whether the blocks are accepted
	for _, b := range s.blocks {
		size[b.IsAccepted()] += len(b.Calls)
	}
	trim := func(accepted bool, latest int) (size int) {
		for i := len(s.blocks) - 1; i >= 0; i-- {
			switch n := len(s.blocks[i].Calls); {
			case s.blocks[i].IsAccepted() != accepted:
			case size+n > latest:
				s.blocks = slices.Delete(s.blocks, i, i+1)
			default:
				size += n
			}
		}
		return size
	}
	trim(true, latest-trim(false, max(latest/2, latest-size[true])))
	return s.err
}

func (s *fakeStore) CallProjects(_ context.Context, api string) ([]string, error) {
	if api == "v5" {
		return []string{"p"}, s.err
	}
	return nil, s.err
}

func (s *fakeStore) AddRejections(_ context.Context, r []RejectionCount) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.rejected = append(s.rejected, r...)
	}
	return s.err
}

func (s *fakeStore) Rejections(_ context.Context, since time.Time, after RejectionCount, limit int) (
	[]RejectionCount, error,
) {
	compare := func(a, b RejectionCount) int {
		return cmp.Or(b.LastAt.Compare(a.LastAt), b.Day.Compare(a.Day), cmp.Compare(b.API, a.API),
			cmp.Compare(b.Cause, a.Cause), cmp.Compare(b.Address, a.Address))
	}
	found := slices.DeleteFunc(slices.Clone(s.rejected), func(c RejectionCount) bool {
		return c.LastAt.Before(since) || !after.LastAt.IsZero() && compare(c, after) <= 0
	})
	slices.SortFunc(found, compare)
	return found[:min(limit, len(found))], s.err
}

func (s *fakeStore) AddCallTotals(_ context.Context, totals []CallTotal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.totals = append(s.totals, totals...)
	}
	return s.err
}

func (s *fakeStore) CallTotals(context.Context, string, time.Time) (CallTotal, error) {
	return CallTotal{}, s.err
}

func (s *fakeStore) MostRejected(context.Context, time.Time, int) ([]CallTotal, error) {
	return nil, s.err
}

func (s *fakeStore) SetKeyCallers(_ context.Context, callers []KeyCaller) error {
	if s.err == nil {
		s.callers = append(s.callers, callers...)
	}
	return s.err
}

func (s *fakeStore) KeyCallers(context.Context, string) ([]KeyCaller, error) { return s.callers, s.err }

func (s *fakeStore) DeleteCallTotals(context.Context, time.Time) error { return s.err }

func newFakeStore() *fakeStore { return &fakeStore{trimmedTo: map[string]int{}} }

// startRecorder runs a Recorder. stop ends Run and waits for its last flush.
func startRecorder(t *testing.T, s *fakeStore) (r *Recorder, stop func()) {
	t.Helper()
	r = NewRecorder(s, time.Now)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { r.Run(ctx, []string{"v5"}, func(error) {}); close(done) }()
	return r, func() { cancel(); <-done }
}

func newCall(i int) Call {
	return Call{RequestID: strconv.Itoa(i), ProjectID: "p", API: "v5", ReceivedAt: time.Now()}
}

func TestRecorder_ListsWithinOneSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore()
		r, stop := startRecorder(t, s)
		defer stop()
		for i := range 2500 { // all at the same moment
			r.Record(newCall(i), nil)
		}
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if s.inserts != 3 {
			t.Errorf("got %d transactions, want 3", s.inserts)
		}
		page, err := r.List(t.Context(), Query{ProjectID: "p", Limit: 100})
		if err != nil || page.Next == (Cursor{}) || len(page.Calls) != 100 ||
			page.Calls[0].RequestID != "2499" || page.Calls[99].RequestID != "2400" {
			t.Fatalf("first page: got %d calls, next %+v, %v, want 100 from 2499 to 2400", len(page.Calls), page.Next, err)
		}
		page, err = r.List(t.Context(), Query{ProjectID: "p", After: page.Next, Limit: 2400})
		if err != nil || page.Next != (Cursor{}) || len(page.Calls) != 2400 || page.Calls[0].RequestID != "2399" {
			t.Errorf("second page: got %d calls, next %+v, %v, want 2400 from 2399", len(page.Calls), page.Next, err)
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
		r.Record(c, nil)
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

// Two processes store the calls of one project in blocks whose numbers overlap. All pages
// together have all calls that match, in order, and a page that is not full is the last one
// unless a filter stopped it.
func TestRecorder_ListsSeveralWriters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newFakeStore()
		filtered := rapid.Bool().Draw(t, "filtered")
		oneNumber := rapid.Bool().Draw(t, "one number")
		since := rapid.Int64Range(0, 40).Draw(t, "since")
		before := rapid.SampledFrom([]int64{0, 20, 100, 500}).Draw(t, "before")
		var want []int64
		n := int64(0)
		for range rapid.IntRange(0, 300).Draw(t, "rounds") {
			blocks := []Block{{ProjectID: "p"}, {ProjectID: "p"}}
			for range rapid.IntRange(1, 6).Draw(t, "calls") {
				n++
				status := rapid.SampledFrom([]int{200, 200, 200, 401}).Draw(t, "status")
				b := &blocks[rapid.IntRange(0, 1).Draw(t, "writer")]
				b.Calls = append(b.Calls, NumberedCall{N: n, Call: Call{Status: status}})
				if n >= since && (before == 0 || n < before) && (!filtered || status == 401) {
					want = append(want, n)
				}
			}
			for _, b := range blocks {
				if len(b.Calls) > 0 {
					s.blocks = append(s.blocks, b)
				}
			}
		}
		slices.Reverse(want)
		q := Query{ProjectID: "p", Limit: rapid.IntRange(1, 40).Draw(t, "limit")}
		if since > 0 {
			q.Since = time.Unix(0, since)
		}
		if before > 0 {
			q.Before = time.Unix(0, before)
		}
		if filtered {
			q.Filter = Filter{MinStatus: 401, MaxStatus: 401}
		}
		var got []int64
		for more := true; more; {
			page, err := NewRecorder(s, time.Now).List(context.Background(), q)
			more = page.Next != (Cursor{})
			if err != nil || len(page.Calls) > q.Limit || more && !filtered && len(page.Calls) < q.Limit {
				t.Fatalf("List %+v: got %d calls, next %+v, %v", q, len(page.Calls), page.Next, err)
			}
			if more && q.After.Below != 0 && page.Next.Below >= q.After.Below {
				t.Fatalf("List %+v: got the next page %+v, want one below", q, page.Next)
			}
			for _, c := range page.Calls {
				got = append(got, c.N)
			}
			q.After = page.Next
			if oneNumber {
				q.After.BlocksBelow = 0 // as the cursor of version 5
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
		r.Record(newCall(1), nil)
		r.Record(newCall(2), SignedCall{HeadersWrong: true}.Explain)
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
		r.Record(newCall(i), nil)
	}
	if err := r.Flush(t.Context()); !errors.Is(err, s.err) || r.Dropped() != 10 {
		t.Fatalf("got %v, %d dropped, want %v, 10 dropped", err, r.Dropped(), s.err)
	}
	for i := range insertBatch + 1 { // the batch that was tried has left its place
		r.Record(newCall(i), nil)
	}
	if r.Dropped() != 11 {
		t.Errorf("got %d dropped, want 11", r.Dropped())
	}
	s.err = nil
	err := r.Flush(t.Context())
	const want = maxPending/insertBatch + 1
	if err != nil || s.inserts != want || s.size() > maxCallsPerProject {
		t.Errorf("got %v, %d transactions, %d stored, want %d transactions, at most %d stored",
			err, s.inserts, s.size(), want, maxCallsPerProject)
	}
	if err := r.Flush(t.Context()); err != nil || s.inserts != want {
		t.Errorf("second flush: got %v, %d transactions, want %d", err, s.inserts, want)
	}
}

// lateStore is a database that stores calls and then does not say so in time.
type lateStore struct {
	*fakeStore
	late bool
}

func (s *lateStore) InsertCalls(ctx context.Context, blocks []Block) error {
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b Block) bool { // as the primary key does
		return slices.ContainsFunc(s.blocks, func(o Block) bool { return o.ProjectID == b.ProjectID && o.Last() == b.Last() })
	})
	if err := s.fakeStore.InsertCalls(ctx, blocks); err != nil {
		return err
	}
	if s.late {
		return errors.New("the commit took too long")
	}
	return nil
}

// Calls are listed once, also if the database has stored them without saying so.
func TestRecorder_StoresOnce(t *testing.T) {
	t.Parallel()
	s := &lateStore{newFakeStore(), true}
	r := NewRecorder(s, time.Now)
	for n := range 3 {
		r.Record(newCall(n), nil)
		if err := r.Flush(t.Context()); err == nil {
			t.Error("flush into a slow database: got no error, want one")
		}
	}
	s.late = false
	if err := errors.Join(r.Flush(t.Context()), r.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if calls := s.all(); len(calls) != 3 {
		t.Errorf("got %d calls, want each of the three once: %+v", len(calls), calls)
	}
}

func TestRecorder_TrimsProject(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	r := NewRecorder(s, time.Now)
	for round := range 30 {
		for i := range 7000 {
			r.Record(newCall(i), nil)
		}
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.size() > maxCallsPerProject {
			t.Fatalf("round %d: got %d calls, want at most %d", round, s.size(), maxCallsPerProject)
		}
	}
	if s.trimmedTo["p v5"] != maxCallsPerProject-trimSlack || s.size() < maxCallsPerProject-trimSlack {
		t.Errorf("got %d calls, trimmed to %v, want %d", s.size(), s.trimmedTo, maxCallsPerProject-trimSlack)
	}
}

// A busy project loses its earliest accepted calls, and keeps the rejected ones. Both are listed together.
func TestRecorder_KeepsRejectedCalls(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	r := NewRecorder(s, time.Now)
	record := func(from, to int, status int) {
		t.Helper()
		for i := from; i < to; i++ {
			c := newCall(i)
			c.Status = status
			r.Record(c, nil)
		}
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const kept = 40_000 // as the description of the API promises
	record(0, kept, 401)
	last := kept
	for ; last <= 3*maxCallsPerProject; last += 9000 {
		record(last, last+9000, 200)
	}
	record(last, last+1, 401)
	for name, tc := range map[string]struct {
		filter Filter
		want   []string
	}{
		"all":      {Filter{}, []string{strconv.Itoa(last), strconv.Itoa(last - 1)}},
		"rejected": {Filter{MinStatus: 400, MaxStatus: 599}, []string{strconv.Itoa(last), strconv.Itoa(kept - 1)}},
	} {
		page, err := r.List(t.Context(), Query{ProjectID: "p", Limit: 2, Filter: tc.filter})
		var got []string
		for _, c := range page.Calls {
			got = append(got, c.RequestID)
		}
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: got the calls %v, %v, want %v", name, got, err, tc.want)
		}
	}
	rejected := 0
	for _, b := range s.blocks {
		if !b.IsAccepted() {
			rejected += len(b.Calls)
		}
	}
	if rejected != kept+1 || s.size() > maxCallsPerProject {
		t.Errorf("got %d calls, %d of them rejected, want at most %d, and all %d rejected ones", s.size(), rejected,
			maxCallsPerProject, kept+1)
	}
}

func TestRecorder_PendingRefusalsBounded(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	r := NewRecorder(s, time.Now)
	for i := range maxUnexplained + 5 {
		r.Record(newCall(i), SignedCall{HeadersWrong: true}.Explain)
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
	if s.size() != maxUnexplained+5 || without != 5 {
		t.Errorf("got %d calls, %d without a hint, want %d, 5", s.size(), without, maxUnexplained+5)
	}
}

func TestSanitize(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200)
	for agent, want := range map[string]string{
		"": "", "curl/8": "curl/8", "a\xffb": "a\uFFFDb", "a\x00b": "a\uFFFDb", long: long[:254],
		"pk_0123": "[secret]", "x gs_abc": "[secret]", "x_pk_1": "[secret]",
		"javascript_sdk/1": "javascript_sdk/1", "whsec_x": "[secret]",
	} {
		if got := Sanitize(agent); got != want {
			t.Errorf("Sanitize(%q) = %q, want %q", agent, got, want)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, callers := range []int{1, 100} {
		b.Run(strconv.Itoa(callers)+" callers", func(b *testing.B) {
			s := newFakeStore()
			r := NewRecorder(s, time.Now)
			calls := make([]Call, callers)
			for i := range calls {
				calls[i] = newCall(i)
				calls[i].Status, calls[i].KeySlot = 200, "current"
				calls[i].Address, calls[i].UserAgent = "192.0.2."+strconv.Itoa(i), "parley-go/1.0"
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.Record(calls[i%callers], nil)
				if i%insertBatch == 0 {
					_ = r.Flush(context.Background())
					s.blocks = nil
				}
			}
		})
	}
}

// The calls of a project are counted in it and among all calls, but not those of the
// management API. Counts that could not be stored are stored later.
func TestTotals(t *testing.T) {
	store := newFakeStore()
	now := time.Unix(1_800_000_123, 0)
	r := NewRecorder(store, func() time.Time { return now })
	at := now.Truncate(totalPeriod)
	record := func(api string, status int) {
		r.Record(Call{
			ProjectID:  "p",
			API:        api,
			Status:     status,
			ReceivedAt: at.Add(-time.Second),
			Micros:     time.Minute.Microseconds(), // so that it ends in the next period
		}, nil)
	}
	record("v3", 200)
	record("v5", 401)
	record(ManagementAPI, 200)
	r.CountRejected("v4", CauseUnknownProject, netip.Addr{})
	r.CountRejected(ManagementAPI, "unauthorized", netip.Addr{})
	store.err = errors.New("down")
	if err := r.Flush(t.Context()); err == nil {
		t.Fatal("Flush while the store fails: got no error, want one")
	}
	store.err = nil
	record("v3", 201)
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(store.totals, func(a, b CallTotal) int { return cmp.Compare(a.ProjectID, b.ProjectID) })
	want := []CallTotal{{"", at, 2, 2}, {"p", at, 2, 1}}
	if !slices.Equal(store.totals, want) {
		t.Errorf("got totals %v, want %v", store.totals, want)
	}
}
