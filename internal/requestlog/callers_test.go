package requestlog

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The latest caller with each credential is stored. A call with a wrong signature is none.
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
	call(4, "current", CauseBadSignature, "wrong signature")
	call(5, "current", CauseStaleTimestamp, "wrong clock")
	call(6, SlotToken, "", "operator")
	call(6, "overlap", "", "old")
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := r.KeyCallers(t.Context(), "p")
	want := map[string]KeyCaller{
		"current": {ProjectID: "p", KeySlot: "current", At: at.Add(3 * time.Second), Address: "192.0.2.1",
			UserAgent: Sanitize("b\x00")},
		"overlap": {ProjectID: "p", KeySlot: "overlap", At: at.Add(6 * time.Second), Address: "192.0.2.1", UserAgent: "old"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("callers differ, %v (-want +got):\n%s", err, diff)
	}
}
