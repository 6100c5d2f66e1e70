package webhook_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/webhook"
)

// A pending delivery is sent at once, whatever its next attempt is.
func TestRetry_SendsNow(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		var broken atomic.Bool
		broken.Store(true)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if broken.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		f.run(f.sender)
		ids := f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened, event.RoomEnded)
		r.waitForMessages(t, 1)
		d := f.waitForAttempts(ids[0], 1)
		listed, _, err := f.List(ctx, webhook.Filter{EventID: ids[0], Limit: 1}, "")
		if err != nil || len(listed) != 1 || !listed[0].NextAttemptAt.After(f.now()) {
			t.Fatalf("list the delivery: got %+v, %v, want a next attempt in the future", listed, err)
		}
		broken.Store(false)
		for name, q := range map[string]webhook.Retry{
			"another project": {ProjectID: storetest.NewID()}, "another target": {ProjectID: f.project.ID, URL: r.URL + "/x"},
			"later":              {ProjectID: f.project.ID, Since: f.now().Add(time.Hour)},
			"of another project": {DeliveryID: d.ID, ProjectID: storetest.NewID()},
		} {
			if n, err := f.Retry(ctx, q); n != (webhook.Retried{}) || !fault.Is(err, fault.NotFound) {
				t.Errorf("retry, %s: got %+v, %v, want NotFound", name, n, err)
			}
		}
		for _, q := range []webhook.Retry{{}, {Since: f.now()}, {Before: f.now()}} {
			if n, err := f.Retry(ctx, q); n != (webhook.Retried{}) || !fault.Is(err, fault.Invalid) {
				t.Errorf("retry %+v: got %+v, %v, want Invalid", q, n, err)
			}
		}
		n, err := f.Retry(ctx, webhook.Retry{Since: d.CreatedAt, Before: d.CreatedAt.Add(time.Hour)})
		if want := (webhook.Retried{Deliveries: 2, Streams: 1}); n != want || err != nil {
			t.Fatalf("retry: got %+v, %v, want %+v", n, err, want)
		}
		f.waitForState(ids[0], webhook.Delivered)
		f.waitForState(ids[1], webhook.Delivered)
		if n, err = f.Retry(ctx, webhook.Retry{DeliveryID: d.ID}); n != (webhook.Retried{}) ||
			!fault.Is(err, fault.Conflict) {
			t.Errorf("retry a delivery that is done: got %+v, %v, want Conflict", n, err)
		}
	})
}

// Retries of a broken receiver use up none of the attempts of the schedule.
func TestRetry_KeepsSchedule(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
		f.run(f.sender)
		ids := f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened)
		d := f.waitForAttempts(ids[0], 1)
		const retries = 15 // more than the schedule has attempts
		for n := range retries {
			if retried, err := f.Retry(t.Context(), webhook.Retry{DeliveryID: d.ID}); retried.Deliveries != 1 || err != nil {
				t.Fatalf("retry %d: got %+v, %v, want 1", n, retried, err)
			}
			d = f.waitForAttempts(ids[0], n+2)
		}
		if d.State != webhook.Pending || d.Step != 1 {
			t.Errorf("after %d retries: got state %s, step %d, want pending, 1", retries, d.State, d.Step)
		}
	})
}

func TestRetry_PausedTarget(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
		f.run(f.sender)
		ids := f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened, event.RoomEnded)
		f.waitForState(ids[0], webhook.Gone)
		f.waitForSweep()
		n, err := f.Retry(t.Context(), webhook.Retry{URL: r.URL})
		if n != (webhook.Retried{}) || !fault.Is(err, fault.Conflict) {
			t.Errorf("retry a paused target: got %+v, %v, want Conflict", n, err)
		}
	})
}

// waitForAttempts waits until the delivery of an event has a number of attempts, and returns
// it. Its stream is released in the transaction that records an attempt.
func (f *fixture) waitForAttempts(eventID string, n int) webhook.Delivery {
	f.t.Helper()
	var d webhook.Delivery
	testkit.Eventually(f.t, "the attempts are recorded", func() bool {
		d, _ = f.delivery(eventID)
		return d.Attempts >= n
	})
	return d
}
