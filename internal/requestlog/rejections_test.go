package requestlog

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"
)

// Rejections are counted by address, up to a number of addresses in a day, and survive a
// failure of the database.
func TestRecorder_CountsRejections(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	now := time.Date(2026, 11, 24, 23, 59, 0, 0, time.UTC)
	r := NewRecorder(s, func() time.Time { return now })
	address := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }
	for i := range maxRejections + 5 {
		r.CountRejected("v5", CauseUnknownKey, address(i))
	}
	r.CountRejected("v5", CauseUnknownKey, address(3))
	s.err = errors.New("the database is down")
	r.ExplainPending()
	if err := r.Flush(t.Context()); !errors.Is(err, s.err) {
		t.Fatalf("Flush: got %v, want %v", err, s.err)
	}
	r.CountRejected("v5", CauseUnknownKey, address(3))
	now = now.Add(time.Minute)
	r.CountRejected("v5", CauseUnknownKey, address(3))
	r.CountRejected("v5", CauseUnknownKey, netip.MustParseAddr("2001:db8::1"))
	r.CountRejected("v5", CauseUnknownKey, netip.MustParseAddr("2001:db8::2"))
	r.ExplainPending()
	s.err = nil
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	type key struct{ day, address string }
	got := map[key]int64{}
	for _, c := range s.rejected {
		got[key{c.Day.Format(time.DateOnly), c.Address}] += c.Calls
	}
	for k, want := range map[key]int64{
		{"2026-11-24", "10.0.0.3"}: 3, {"2026-11-24", "10.0.0.4"}: 1, {"2026-11-24", ""}: 5,
		{"2026-11-25", "10.0.0.3"}: 1, {"2026-11-25", "2001:db8::/64"}: 2,
	} {
		if got[k] != want {
			t.Errorf("%+v: got %d calls, want %d", k, got[k], want)
		}
	}
	if len(got) != maxRejections+3 {
		t.Errorf("got %d counts, want %d", len(got), maxRejections+3)
	}
}

// TestRecorder_Rejections filters counts, of which each page reads a bounded number.
func TestRecorder_Rejections(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	add := func(days int, api, cause, address string) {
		start := day.AddDate(0, 0, days)
		s.rejected = append(s.rejected, RejectionCount{
			Day:     start,
			API:     api,
			Cause:   cause,
			Address: address,
			Calls:   1,
			LastAt:  start.Add(time.Hour),
		})
	}
	const others = 2*maxScannedRejections + 1
	add(0, "v5", CauseUnknownKey, "192.0.2.1")
	for i := range others {
		add(1, "v5", CauseUnknownKey, fmt.Sprintf("10.0.%d.%d", i/256, i%256))
	}
	add(1, "v5", CauseUnknownKey, "2001:db8::/64")
	add(1, "v4", CauseUnknownProject, "")
	add(2, "v5", "too_many_attempts", "192.0.2.1")
	const all = others + 4
	for name, tc := range map[string]struct {
		q            RejectionQuery
		pages, found int
	}{
		"everything":         {RejectionQuery{}, (all + 99) / 100, all},
		"an address":         {RejectionQuery{Address: netip.MustParseAddr("192.0.2.1")}, 3, 2},
		"an IPv6 address":    {RejectionQuery{Address: netip.MustParseAddr("2001:db8::9")}, 3, 1},
		"an unknown address": {RejectionQuery{Address: netip.MustParseAddr("192.0.2.2")}, 3, 0},
		"a cause":            {RejectionQuery{Cause: "too_many_attempts"}, 3, 1},
		"a version":          {RejectionQuery{API: "v4"}, 3, 1},
		"since":              {RejectionQuery{Since: day.AddDate(0, 0, 2)}, 1, 1},
		"before":             {RejectionQuery{Before: day.AddDate(0, 0, 1)}, 1, 1},
		"before in a day":    {RejectionQuery{Before: day.Add(time.Second)}, 1, 1},
		"before everything":  {RejectionQuery{Before: day}, 1, 0},
	} {
		q := tc.q
		q.Limit = 100
		pages, seen := 0, map[RejectionCount]bool{}
		for pages == 0 || !q.After.LastAt.IsZero() {
			page, next, err := NewRecorder(s, time.Now).Rejections(t.Context(), q)
			if err != nil || len(page) > q.Limit {
				t.Fatalf("%s: got %d counts, %v, want at most %d", name, len(page), err, q.Limit)
			}
			for _, c := range page {
				seen[c] = true
			}
			pages++
			q.After = next
		}
		if pages != tc.pages || len(seen) != tc.found {
			t.Errorf("%s: got %d counts on %d pages, want %d on %d", name, len(seen), pages, tc.found, tc.pages)
		}
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
