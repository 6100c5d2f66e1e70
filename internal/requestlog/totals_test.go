package requestlog

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"
)

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
