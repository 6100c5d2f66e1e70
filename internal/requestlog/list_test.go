package requestlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

func (s *fakeStore) SearchCalls(_ context.Context, after BlockPosition, below int64, f Filter, limit int) (
	calls []NumberedCall, last BlockPosition, err error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	compare := func(a, b BlockPosition) int {
		return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.ProjectID, b.ProjectID))
	}
	position := func(b Block) BlockPosition { return BlockPosition{b.Last(), b.ProjectID} }
	found := slices.DeleteFunc(slices.Clone(s.blocks), func(b Block) bool {
		return compare(position(b), after) <= 0 || b.Last() >= below
	})
	slices.SortFunc(found, func(a, b Block) int { return compare(position(a), position(b)) })
	if len(found) >= limit {
		found = found[:limit]
		last = position(found[limit-1])
	}
	for _, b := range found {
		for _, c := range b.Calls {
			if f.Matches(&c.Call) {
				calls = append(calls, c)
			}
		}
	}
	return calls, last, s.err
}

// TestRecorder_Find looks for a call by the time of its request ID, which may have been stored behind calls
// that arrived later. Each page reads a bounded number of blocks.
func TestRecorder_Find(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_790_000_000_000)
	for name, tc := range map[string]struct {
		before, behind int           // blocks of other calls
		late           time.Duration // from the arrival of the call to its number
		pages          int
		found          bool
	}{
		"alone":              {0, 0, 0, 1, true},
		"among old calls":    {500, 0, 0, 1, true},
		"behind a few":       {500, 9, time.Second, 1, true},
		"behind many":        {500, 400, time.Second, 3, true},
		"the slowest":        {0, 0, searchTime - time.Millisecond, 1, true},
		"slower":             {0, 0, searchTime, 1, false},
		"slower behind many": {0, 400, searchTime, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFakeStore()
			add := func(project, id string, n time.Time) {
				s.blocks = append(s.blocks, Block{ProjectID: project, API: "v4", Calls: []NumberedCall{
					{N: n.UnixNano(), Call: Call{RequestID: id, ReceivedAt: at}}}})
			}
			for i := range tc.before {
				add(fmt.Sprint("p", i), "other", at.Add(-time.Millisecond))
			}
			for i := range tc.behind {
				add(fmt.Sprint("p", i), "other", at.Add(time.Millisecond))
			}
			add("q", "wanted", at.Add(tc.late))
			q := Query{Filter: Filter{RequestID: new("wanted")}}
			var found []NumberedCall
			pages := 0
			for next := (BlockPosition{}); pages == 0 || next != (BlockPosition{}); pages++ {
				var err error
				if found, next, err = NewRecorder(s, time.Now).Find(t.Context(), q, at, next); err != nil {
					t.Fatal(err)
				}
			}
			if pages != tc.pages || (len(found) == 1) != tc.found {
				t.Errorf("Find: got %d calls after %d pages, want found %t after %d", len(found), pages, tc.found, tc.pages)
			}
			for _, no := range []Query{
				{API: "v3", Filter: q.Filter}, {Since: at.Add(1), Filter: q.Filter}, {Before: at, Filter: q.Filter},
			} {
				found, _, err := NewRecorder(s, time.Now).Find(t.Context(), no, at, BlockPosition{})
				if err != nil || len(found) > 0 {
					t.Errorf("Find %+v: got %v, %v, want none", no, found, err)
				}
			}
		})
	}
}

// TestRecorder_FindsCallsThatWaited finds calls that were stored together after the database was unavailable for
// minutes.
func TestRecorder_FindsCallsThatWaited(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	r := NewRecorder(s, time.Now)
	began := time.UnixMilli(1_790_000_000_000)
	arrival := func(i int) time.Time { return began.Add(time.Duration(i) * 7 * time.Second) }
	const calls = 60
	for i := range calls {
		r.Record(Call{RequestID: fmt.Sprint(i), ProjectID: "p", API: "v4", ReceivedAt: arrival(i)}, nil)
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		q := Query{Filter: Filter{RequestID: new(fmt.Sprint(i))}}
		found, _, err := r.Find(t.Context(), q, arrival(i), BlockPosition{})
		if err != nil || len(found) != 1 || found[0].RequestID != fmt.Sprint(i) {
			t.Errorf("call %d: got %v, %v, want the call", i, found, err)
		}
	}
}
