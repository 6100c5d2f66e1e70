package requestlog

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
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
