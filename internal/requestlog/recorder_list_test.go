package requestlog

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

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
