package requestlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The callers with each credential are stored, with the time of their latest call. A call with a wrong signature
// counts for none.
func TestRecorder_StoresKeyCallers(t *testing.T) {
	store := &fakeStore{err: errors.New("away")}
	at := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	r := NewRecorder(store, func() time.Time { return at })
	call := func(second int, slot, cause, agent string) {
		r.Record(Call{
			ProjectID:  "p",
			API:        "v4",
			ReceivedAt: at.Add(time.Duration(second) * time.Second),
			Cause:      cause,
			KeySlot:    slot,
			Address:    "192.0.2.1",
			UserAgent:  agent,
		}, nil)
	}
	call(1, "current", "", "a")
	call(3, "current", "invalid_request", "b\x00")
	if err := r.Flush(t.Context()); err == nil {
		t.Error("flush without a database: got no error, want one")
	}
	store.err = nil
	call(2, "current", "", "late")
	call(5, "current", "", "a")
	call(4, "current", CauseBadSignature, "wrong signature")
	call(5, "current", CauseStaleTimestamp, "wrong clock")
	call(6, SlotToken, "", "operator")
	call(6, "overlap", "", "old")
	r.Record(Call{
		ProjectID:  "p",
		API:        "v4",
		ReceivedAt: at.Add(7 * time.Second),
		KeySlot:    "current",
		SignerSlot: SlotOverlapSecret,
		Address:    "192.0.2.1",
		UserAgent:  "a",
	}, nil)
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := r.KeyCallers(t.Context(), "p")
	caller := func(second int, slot, agent string) KeyCaller {
		return KeyCaller{
			ProjectID: "p",
			KeySlot:   slot,
			Address:   "192.0.2.1",
			UserAgent: agent,
			At:        at.Add(time.Duration(second) * time.Second),
		}
	}
	want := map[string][]KeyCaller{
		"current": {caller(7, "current", "a"), caller(3, "current", Sanitize("b\x00")), caller(2, "current", "late")},
		"overlap": {caller(6, "overlap", "old")},

		SlotOverlapSecret: {caller(7, SlotOverlapSecret, "a")},
	}
	latestFirst := cmpopts.SortSlices(func(a, b KeyCaller) bool { return a.At.After(b.At) })
	if diff := cmp.Diff(want, got, latestFirst); err != nil || diff != "" {
		t.Errorf("callers differ, %v (-want +got):\n%s", err, diff)
	}
}

// limitedStore refuses more callers at a time than fit in one transaction, and everything after some transactions.
type limitedStore struct {
	*fakeStore
	left int // number of transactions until it refuses all
}

func (s *limitedStore) SetKeyCallers(ctx context.Context, callers []KeyCaller) error {
	if s.left == 0 || len(callers) > 200 {
		return errors.New("too many callers, or away")
	}
	s.left--
	return s.fakeStore.SetKeyCallers(ctx, callers)
}

// After an outage, the callers with thousands of credentials are stored in several transactions. An interruption
// leaves only the others for the next flush.
func TestRecorder_StoresKeyCallersAfterOutage(t *testing.T) {
	const credentials, perCredential = 5000, 3
	store := &limitedStore{fakeStore: newFakeStore()}
	at := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	r := NewRecorder(store, func() time.Time { return at })
	for i := range credentials * perCredential {
		r.Record(Call{
			ProjectID:  fmt.Sprintf("p%d", i%credentials),
			API:        "v4",
			ReceivedAt: at,
			KeySlot:    "current",
			Address:    fmt.Sprintf("192.0.2.%d", i/credentials),
		}, nil)
	}
	for _, transactions := range []int{0, 10, credentials} {
		store.left = transactions
		err := r.Flush(t.Context())
		if done := transactions == credentials; (err == nil) != done {
			t.Errorf("flush with %d transactions: got %v, want an error: %t", transactions, err, !done)
		}
	}
	stored := map[KeyCaller]bool{}
	for _, c := range store.callers {
		stored[c] = true
	}
	if all := credentials * perCredential; len(stored) != all || len(store.callers) != all {
		t.Errorf("got %d callers in %d rows, want each of %d once", len(stored), len(store.callers), all)
	}
}

// Between two flushes, a client with many addresses does not displace the others.
func TestRecorder_StoresRareKeyCaller(t *testing.T) {
	store := newFakeStore()
	at := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	r := NewRecorder(store, func() time.Time { return at })
	for i := range 1000 {
		c := Call{
			ProjectID:  "p",
			API:        "v4",
			ReceivedAt: at.Add(time.Duration(i) * time.Second),
			KeySlot:    "overlap",
			Address:    fmt.Sprintf("198.51.100.%d", i%250),
			UserAgent:  "cloud",
		}
		if i == 0 {
			c.Address, c.UserAgent = "192.0.2.1", "nightly"
		}
		r.Record(c, nil)
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	isAt := func(second int) func(KeyCaller) bool {
		return func(c KeyCaller) bool { return c.At.Equal(at.Add(time.Duration(second) * time.Second)) }
	}
	rare, latest := slices.ContainsFunc(store.callers, isAt(0)), slices.ContainsFunc(store.callers, isAt(999))
	if !rare || !latest || len(store.callers) > MaxKeyCallers {
		t.Errorf("got %d callers, want at most %d, with the first one and the latest one: %+v",
			len(store.callers), MaxKeyCallers, store.callers)
	}
}
