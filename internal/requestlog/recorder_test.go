package requestlog

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// startRecorder runs a Recorder. stop ends Run and waits for its last flush.
func startRecorder(t *testing.T, s *fakeStore) (r *Recorder, stop func()) {
	t.Helper()
	r = NewRecorder(s, time.Now)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { r.Run(ctx, []string{"v5"}, func(error) {}, func(error) {}); close(done) }()
	return r, func() { cancel(); <-done }
}

func newCall(i int) Call {
	return Call{RequestID: strconv.Itoa(i), ProjectID: "p", API: "v5", ReceivedAt: time.Now()}
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

// uncountedStore is a database that stores calls, but not their totals.
type uncountedStore struct {
	*fakeStore
	err atomic.Pointer[error]
}

func (s *uncountedStore) AddCallTotals(ctx context.Context, totals []CallTotal) error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return s.fakeStore.AddCallTotals(ctx, totals)
}

// The totals are stored every five seconds. While that fails, Run reports the error also after the attempts to store
// calls in between.
func TestRecorder_ReportsTotals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &uncountedStore{fakeStore: newFakeStore()}
		s.err.Store(new(errors.New("no totals")))
		r := NewRecorder(s, time.Now)
		var changes []error
		var last error
		stored := func(err error) {
			if (err == nil) != (last == nil) {
				changes = append(changes, err)
			}
			last = err
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { r.Run(ctx, nil, stored, func(error) {}); close(done) }()
		r.Record(newCall(1), nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(changes) != 1 || s.size() != 1 {
			t.Errorf("got the changes %v and %d calls, want one failure and one call", changes, s.size())
		}
		s.err.Store(nil)
		time.Sleep(time.Minute)
		cancel()
		<-done
		if len(changes) != 2 || last != nil {
			t.Errorf("got the changes %v and then %v, want a failure and a success", changes, last)
		}
	})
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
