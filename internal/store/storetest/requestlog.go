package storetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"parley/internal/requestlog"
)

// newBlock returns a block of calls of a project and an API with these numbers.
func newBlock(projectID, api string, numbers ...int64) requestlog.Block {
	b := requestlog.Block{ProjectID: projectID, API: api}
	for _, n := range numbers {
		b.Calls = append(b.Calls, requestlog.NumberedCall{N: n, Call: requestlog.Call{
			RequestID:    "req",
			ProjectID:    projectID,
			API:          api,
			ReceivedAt:   testTime(int(n)),
			Method:       "GET",
			Path:         "/api/v4/rooms/1/events",
			Route:        "/api/v4/rooms/{room_id}/events",
			Status:       401,
			Micros:       40,
			KeySlot:      "current",
			Cause:        requestlog.CauseBadSignature,
			Hint:         requestlog.HintQuery,
			ClockSkew:    -n,
			HasTimestamp: true,
			Address:      "192.0.2.1",
			UserAgent:    trickyTexts[2],
		}})
	}
	return b
}

// newAcceptedBlock is newBlock with accepted calls.
func newAcceptedBlock(projectID, api string, numbers ...int64) requestlog.Block {
	b := newBlock(projectID, api, numbers...)
	for i := range b.Calls {
		b.Calls[i].Status, b.Calls[i].Cause = 200, ""
	}
	return b
}

// readBlock is a stored block with all its calls, the earliest first.
type readBlock struct {
	First, Last int64
	Calls       []requestlog.NumberedCall
}

// readBlocks returns the blocks that q selects, the latest first.
func (s *suite) readBlocks(q requestlog.BlockQuery) (blocks []readBlock, err error) {
	err = s.db.Calls(patient(), q, func(b requestlog.StoredBlock) error {
		read := readBlock{First: b.First, Last: b.Last}
		for c, err := range b.Calls {
			if err != nil {
				return err
			}
			read.Calls = append(read.Calls, c)
		}
		slices.Reverse(read.Calls)
		blocks = append(blocks, read)
		return nil
	})
	return blocks, err
}

// testCalls_Rejected lists the rejected calls without the blocks of accepted ones, and trims them so that accepted ones
// never displace them.
func (s *suite) testCalls_Rejected(t *testing.T) {
	ctx := patient()
	p := Project(t, s.db).ID
	rejected, accepted, mixed := newBlock(p, "v5", 1, 4), newAcceptedBlock(p, "v5", 2, 3, 5), newBlock(p, "v5", 6, 7)
	mixed.Calls[1].Status, mixed.Calls[1].Cause = 200, "" // as earlier releases stored calls
	odd, late, other := newAcceptedBlock(p, "v5", 8), newAcceptedBlock(p, "v5", 9), newBlock(p, "v3", 10)
	odd.Calls[0].Cause = requestlog.CauseBadSignature // with a status below 400
	if err := s.db.InsertCalls(ctx, []requestlog.Block{rejected, accepted, mixed, odd, late, other}); err != nil {
		t.Fatal(err)
	}
	list := func(api string, rejected bool, lastBelow int64, want ...requestlog.Block) {
		t.Helper()
		var stored []readBlock
		for _, b := range want {
			stored = append(stored, readBlock{First: b.First(), Last: b.Last(), Calls: b.Calls})
		}
		got, err := s.readBlocks(requestlog.BlockQuery{
			ProjectID:  p,
			API:        api,
			FirstBelow: math.MaxInt64,
			LastBelow:  lastBelow,
			Limit:      10,
			Rejected:   rejected,
		})
		requireEqual(t, got, err, stored)
	}
	list("", false, math.MaxInt64, other, late, odd, mixed, accepted, rejected)
	list("", true, math.MaxInt64, other, odd, mixed, rejected)
	list("v5", true, math.MaxInt64, odd, mixed, rejected)
	list("v5", true, 7, rejected)
	for _, tc := range []struct {
		latest int
		left   []requestlog.Block
	}{
		{9, []requestlog.Block{late, odd, mixed, accepted, rejected}}, // four accepted calls, and five others
		{8, []requestlog.Block{late, odd, mixed, accepted}},
		{7, []requestlog.Block{late, odd, mixed, accepted}},
		{6, []requestlog.Block{late, odd, mixed}},
		{4, []requestlog.Block{late, odd, mixed}}, // more than half are rejected, because there is room
		{3, []requestlog.Block{late, odd}},
		{1, []requestlog.Block{late}},
	} {
		if err := s.db.TrimCalls(ctx, p, "v5", tc.latest); err != nil {
			t.Fatal(err)
		}
		list("v5", false, math.MaxInt64, tc.left...)
	}
	list("v3", false, math.MaxInt64, other)
}

// testCalls_Filter reads the calls that match each filter.
func (s *suite) testCalls_Filter(t *testing.T) {
	ctx := patient()
	project := Project(t, s.db).ID
	const tricky = `<a "b" & \'c'>`
	call := func(n int64, api string, change func(c *requestlog.Call)) requestlog.NumberedCall {
		b := newBlock(project, api, n)
		if change != nil {
			change(&b.Calls[0].Call)
		}
		return b.Calls[0]
	}
	blocks := []requestlog.Block{
		{ProjectID: project, API: "v4", Calls: []requestlog.NumberedCall{
			call(1, "v4", nil),
			call(2, "v4", func(c *requestlog.Call) { c.RequestID = tricky }),
			call(3, "v4", func(c *requestlog.Call) { c.Status, c.Cause = 200, "" }),
			call(4, "v4", func(c *requestlog.Call) { c.Status, c.UserAgent = 404, `"status":5 [{` }),
		}},
		{ProjectID: project, API: "v4", Calls: []requestlog.NumberedCall{
			call(5, "v4", func(c *requestlog.Call) { c.KeySlot = "" }),
			call(6, "v4", func(c *requestlog.Call) { c.Route = "" }),
			call(7, "v4", func(c *requestlog.Call) { c.Cause = tricky }),
		}},
		{ProjectID: project, API: requestlog.ManagementAPI, Calls: []requestlog.NumberedCall{
			call(8, requestlog.ManagementAPI, func(c *requestlog.Call) { c.TokenID = "token-1" }),
			call(9, requestlog.ManagementAPI, func(c *requestlog.Call) { c.TokenID = "token-2" }),
		}},
	}
	if err := s.db.InsertCalls(ctx, blocks); err != nil {
		t.Fatal(err)
	}
	first := blocks[0].Calls[0]
	for _, tc := range []struct {
		filter requestlog.Filter
		want   []int64
	}{
		{requestlog.Filter{}, []int64{8, 9, 5, 6, 7, 1, 2, 3, 4}},
		{requestlog.Filter{RequestID: new(tricky)}, []int64{2}},
		{requestlog.Filter{RequestID: new("no call has it")}, nil},
		{requestlog.Filter{Cause: new(tricky)}, []int64{7}},
		{requestlog.Filter{Cause: new("")}, []int64{3}},
		{requestlog.Filter{KeySlot: new("")}, []int64{5}},
		{requestlog.Filter{Route: new(first.Path)}, []int64{6}},
		{requestlog.Filter{Route: new(first.Route)}, []int64{8, 9, 5, 7, 1, 2, 3, 4}},
		{requestlog.Filter{MinStatus: 404, MaxStatus: 404}, []int64{4}},
		{requestlog.Filter{MinStatus: 400, MaxStatus: 499}, []int64{8, 9, 5, 6, 7, 1, 2, 4}},
		{requestlog.Filter{MinStatus: 150, MaxStatus: 350}, []int64{3}},
		{requestlog.Filter{MinStatus: 500, MaxStatus: 599}, nil},
		{requestlog.Filter{MinStatus: 404, MaxStatus: 404, Cause: new(first.Cause)}, []int64{4}},
		{requestlog.Filter{ManagementToken: "token-2", KeySlot: new("current")}, []int64{9, 6, 7, 1, 2, 3, 4}},
	} {
		got, err := s.readBlocks(requestlog.BlockQuery{
			ProjectID:  project,
			FirstBelow: math.MaxInt64,
			LastBelow:  math.MaxInt64,
			Limit:      10,
			Filter:     tc.filter,
		})
		if err != nil {
			t.Fatal(err)
		}
		var numbers []int64
		for i, b := range got {
			if want := blocks[len(blocks)-1-i]; b.First != want.First() || b.Last != want.Last() {
				t.Errorf("filter %+v: got a block from %d to %d, want %d to %d", tc.filter, b.First, b.Last,
					want.First(), want.Last())
			}
			for _, c := range b.Calls {
				numbers = append(numbers, c.N)
			}
		}
		if len(got) != len(blocks) || !slices.Equal(numbers, tc.want) {
			t.Errorf("filter %+v: got %d blocks with the calls %d, want %d blocks with the calls %d", tc.filter, len(got),
				numbers, len(blocks), tc.want)
		}
	}
}

// testCalls inserts, reads, trims and prunes blocks.
func (s *suite) testCalls(t *testing.T) {
	ctx := patient()
	one, two := Project(t, s.db).ID, Project(t, s.db).ID
	early, middle, late := newBlock(one, "v5", 1, 3), newBlock(one, "v5", 2, 4, 5), newBlock(one, "v5", 6)
	other, otherAPI := newBlock(two, "v5", 2), newBlock(one, "v3", 7)
	// The second insert of a block changes nothing.
	for range 2 {
		if err := s.db.InsertCalls(ctx, []requestlog.Block{early, middle, late, other, otherAPI}); err != nil {
			t.Fatal(err)
		}
	}
	list := func(project, api string, since, firstBelow, lastBelow int64, limit int, want ...requestlog.Block) {
		t.Helper()
		var stored []readBlock
		for _, b := range want {
			stored = append(stored, readBlock{First: b.First(), Last: b.Last(), Calls: b.Calls})
		}
		got, err := s.readBlocks(requestlog.BlockQuery{
			ProjectID:  project,
			API:        api,
			Since:      since,
			FirstBelow: firstBelow,
			LastBelow:  lastBelow,
			Limit:      limit,
		})
		requireEqual(t, got, err, stored)
	}
	const all = math.MaxInt64
	list(one, "v5", 0, all, all, 10, late, middle, early)
	list(one, "v5", 0, all, all, 2, late, middle)
	list(one, "v5", 0, all, 6, 10, middle, early)
	list(one, "v5", 0, 2, all, 10, early)
	list(one, "v5", 4, all, all, 10, late, middle)
	list(one, "v3", 0, all, all, 10, otherAPI)
	list(one, "", 0, all, all, 2, otherAPI, late)
	list(two, "v5", 0, all, all, 10, other)
	for api, want := range map[string][]string{"v5": {one, two}, "v3": {one}} {
		projects, err := s.db.CallProjects(ctx, api)
		for _, id := range []string{one, two} {
			if err != nil || slices.Contains(projects, id) != slices.Contains(want, id) {
				t.Errorf("CallProjects of %s: got %v, %v, want of our projects %s", api, projects, err, want)
			}
		}
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
		if err := s.db.TrimCalls(ctx, one, "v5", tc.latest); err != nil {
			t.Fatal(err)
		}
		list(one, "v5", 0, all, all, 10, tc.left...)
	}
	list(one, "v3", 0, all, all, 10, otherAPI)
	for project, want := range map[string]int{one: 0, two: 1} {
		s.write(t, func(ctx context.Context) error {
			calls, n, err := s.db.DeleteCalls(ctx, project, time.Unix(0, 6), 10)
			if n != want || calls != want*len(other.Calls) {
				t.Errorf("DeleteCalls before 6 of project %s: got %d calls in %d blocks deleted, want %d in %d", project, calls, n,
					want*len(other.Calls), want)
			}
			return err
		})
	}
	list(one, "v5", 0, all, all, 10, late)
	list(two, "v5", 0, all, all, 10)
}

// testSearchCalls reads the calls of all projects in the order of their blocks. The numbers are far in the future,
// because the tests share the database.
func (s *suite) testSearchCalls(t *testing.T) {
	ctx := patient()
	one, two := Project(t, s.db).ID, Project(t, s.db).ID
	if one > two {
		one, two = two, one
	}
	const n = math.MaxInt64 - 1000
	early, late := newBlock(two, "v4", n+1, n+4), newBlock(one, "v3", n+6)
	same, ours := newBlock(two, "v5", n+6), newBlock("", requestlog.ManagementAPI, n+7)
	if err := s.db.InsertCalls(ctx, []requestlog.Block{ours, same, late, early}); err != nil {
		t.Fatal(err)
	}
	calls := func(blocks ...requestlog.Block) (all []requestlog.NumberedCall) {
		for _, b := range blocks {
			all = append(all, b.Calls...)
		}
		return all
	}
	position := func(b requestlog.Block) requestlog.BlockPosition {
		return requestlog.BlockPosition{Last: b.Last(), ProjectID: b.ProjectID}
	}
	for _, tc := range []struct {
		after requestlog.BlockPosition
		below int64
		limit int
		want  []requestlog.NumberedCall
		last  requestlog.BlockPosition
	}{
		{requestlog.BlockPosition{Last: n}, math.MaxInt64, 10, calls(early, late, same, ours), requestlog.BlockPosition{}},
		{requestlog.BlockPosition{Last: n}, math.MaxInt64, 2, calls(early, late), position(late)},
		{position(late), math.MaxInt64, 1, calls(same), position(same)},
		{position(same), math.MaxInt64, 2, calls(ours), requestlog.BlockPosition{}},
		{requestlog.BlockPosition{Last: n}, n + 6, 10, calls(early), requestlog.BlockPosition{}},
	} {
		got, last, err := s.db.SearchCalls(ctx, tc.after, tc.below, requestlog.Filter{}, tc.limit)
		requireEqual(t, got, err, tc.want)
		if last != tc.last {
			t.Errorf("SearchCalls after %+v: got the last position %+v, want %+v", tc.after, last, tc.last)
		}
	}
	got, _, err := s.db.SearchCalls(ctx, requestlog.BlockPosition{Last: n}, math.MaxInt64,
		requestlog.Filter{RequestID: new("no call has it")}, 10)
	requireEqual(t, got, err, nil)
}

// testRejections adds, reads and deletes. Their times are far in the future, because the
// tests share the database.
func (s *suite) testRejections(t *testing.T) {
	ctx := patient()
	day := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	rejections := func(address string, calls int64, hour int) requestlog.RejectionCount {
		return requestlog.RejectionCount{
			Day:     day,
			API:     "v3",
			Cause:   requestlog.CauseUnknownProject,
			Address: address,
			Calls:   calls,
			LastAt:  day.Add(time.Duration(hour) * time.Hour),
		}
	}
	for _, added := range [][]requestlog.RejectionCount{
		{rejections("192.0.2.1", 2, 1), rejections("", 1, 2)},
		{rejections("192.0.2.1", 3, 3)},
	} {
		if err := s.db.AddRejections(ctx, added); err != nil {
			t.Fatal(err)
		}
	}
	var first requestlog.RejectionCount
	list := func(since time.Time, after requestlog.RejectionCount, limit int, want ...requestlog.RejectionCount) {
		t.Helper()
		got, err := s.db.Rejections(ctx, since, after, limit)
		requireEqual(t, got, err, want)
	}
	ours, beyond := rejections("192.0.2.1", 5, 3), rejections("", 1, 2)
	list(day, first, 10, ours, beyond)
	list(day, first, 1, ours)
	list(day, ours, 10, beyond)
	list(day, beyond, 10)
	list(day.Add(3*time.Hour), first, 10, ours)
	s.write(t, func(ctx context.Context) error {
		_, err := s.db.DeleteRejections(ctx, day, 100)
		return err
	})
	list(day, first, 10, ours, beyond)
	for _, want := range []int{1, 1, 0} {
		s.write(t, func(ctx context.Context) error {
			n, err := s.db.DeleteRejections(ctx, day.Add(time.Hour), 1)
			if n != want {
				t.Errorf("DeleteRejections with limit 1: got %d, want %d", n, want)
			}
			return err
		})
	}
}

func (s *suite) testCallTotals(t *testing.T) {
	ctx := patient()
	p := NewID()
	day := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	total := func(minute int, accepted, rejected int64) requestlog.CallTotal {
		return requestlog.CallTotal{ProjectID: p, At: day.Add(time.Duration(minute) * time.Minute), Accepted: accepted,
			Rejected: rejected}
	}
	for _, added := range [][]requestlog.CallTotal{{total(5, 1, 2), total(0, 10, 20)}, {total(5, 3, 4)}} {
		if err := s.db.AddCallTotals(ctx, added); err != nil {
			t.Fatal(err)
		}
	}
	for minute, want := range map[int]requestlog.CallTotal{0: total(0, 14, 26), 5: total(5, 4, 6), 6: total(6, 0, 0)} {
		got, err := s.db.CallTotals(ctx, p, total(minute, 0, 0).At)
		requireEqual(t, got, err, want)
	}
	other, quiet := total(0, 9, 27), total(5, 9, 0)
	other.ProjectID, quiet.ProjectID = NewID(), NewID()
	if err := s.db.AddCallTotals(ctx, []requestlog.CallTotal{other, quiet, {At: day, Rejected: 99}}); err != nil {
		t.Fatal(err)
	}
	for minute, want := range map[int][]requestlog.CallTotal{0: {other, total(0, 14, 26)}, 5: {total(5, 4, 6)}, 6: nil} {
		got, err := s.db.MostRejected(ctx, total(minute, 0, 0).At, 2)
		requireEqual(t, got, err, want)
	}
	first, err := s.db.MostRejected(ctx, day, 1)
	requireEqual(t, first, err, []requestlog.CallTotal{other})
	if err := s.db.DeleteCallTotals(ctx, total(5, 0, 0).At); err != nil {
		t.Fatal(err)
	}
	got, err := s.db.CallTotals(ctx, p, day)
	requireEqual(t, got, err, requestlog.CallTotal{ProjectID: p, At: day, Accepted: 4, Rejected: 6})
}

// keyCaller returns a caller with a credential of a project.
func keyCaller(projectID, slot string, at int, address, userAgent string) requestlog.KeyCaller {
	return requestlog.KeyCaller{
		ProjectID: projectID,
		KeySlot:   slot,
		Address:   address,
		UserAgent: userAgent,
		At:        testTime(at),
	}
}

func (s *suite) testKeyCallers(t *testing.T) {
	ctx := patient()
	p, other := Project(t, s.db).ID, Project(t, s.db).ID
	tricky := trickyTexts[2]
	latest, old := keyCaller(p, "overlap", 3, "192.0.2.3", tricky), keyCaller(p, "current", 1, "192.0.2.1", "")
	second, third := keyCaller(p, "overlap", 2, "192.0.2.3", ""), keyCaller(p, "overlap", 2, "192.0.2.4", "")
	for _, set := range [][]requestlog.KeyCaller{
		{old, keyCaller(p, "overlap", 2, "192.0.2.3", tricky), keyCaller(other, "overlap", 9, "192.0.2.9", "")},
		{latest, third}, {keyCaller(p, "overlap", 1, "192.0.2.3", tricky), second},
	} {
		if err := s.db.SetKeyCallers(ctx, set); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.db.KeyCallers(ctx, p)
	requireEqual(t, got, err, []requestlog.KeyCaller{old, latest, second, third})
	s.write(t, func(ctx context.Context) error {
		_, _, err := s.db.DeleteCalls(ctx, p, testTime(3), 9)
		return err
	})
	got, err = s.db.KeyCallers(ctx, p)
	requireEqual(t, got, err, []requestlog.KeyCaller{latest})
	s.write(t, func(ctx context.Context) error {
		_, _, err := s.db.DeleteCalls(ctx, p, testTime(4), 9)
		return err
	})
	got, err = s.db.KeyCallers(ctx, p)
	requireEqual(t, got, err, nil)
}

// The callers of a credential are bounded. The earliest ones go first, but a client with many addresses does not
// displace the others.
func (s *suite) testKeyCallers_Bounded(t *testing.T) {
	ctx := patient()
	p := Project(t, s.db).ID
	const most = requestlog.MaxKeyCallers
	set := func(callers ...requestlog.KeyCaller) {
		t.Helper()
		if err := s.db.SetKeyCallers(ctx, callers); err != nil {
			t.Fatal(err)
		}
	}
	otherSlot := keyCaller(p, "current", 1, "192.0.2.1", "nightly")
	nightly := keyCaller(p, "overlap", 1, "192.0.2.1", "nightly")
	set(otherSlot, nightly)
	var agents, addresses []requestlog.KeyCaller
	for i := range 2 * most {
		c := keyCaller(p, "overlap", 2+i, fmt.Sprint("198.51.100.", i), "cloud")
		addresses = append(addresses, c)
		set(c)
	}
	latestFirst := func(of []requestlog.KeyCaller, n int) []requestlog.KeyCaller {
		of = slices.Clone(of[len(of)-n:])
		slices.Reverse(of)
		return of
	}
	got, err := s.db.KeyCallers(ctx, p)
	want := append([]requestlog.KeyCaller{otherSlot}, latestFirst(addresses, most-1)...)
	requireEqual(t, got, err, append(want, nightly))
	for i := range most {
		agents = append(agents, keyCaller(p, "overlap", 200+i, "192.0.2.1", fmt.Sprint("app/", i)))
	}
	set(agents...)
	got, err = s.db.KeyCallers(ctx, p)
	requireEqual(t, got, err, append([]requestlog.KeyCaller{otherSlot}, latestFirst(agents, most)...))
}
