package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/project"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/webhook"
	"parley/internal/webhook/post"
	"parley/internal/webhook/sender"
)

// resumingStore resumes a paused target through another node, between the reading of a delivery and
// the decision that it waits.
type resumingStore struct {
	*store.DB
	resume func()
}

func (s resumingStore) NextDelivery(ctx context.Context, id string) (webhook.Delivery, webhook.Target, error) {
	d, target, err := s.DB.NextDelivery(ctx, id)
	if target.Paused() {
		s.resume()
	}
	return d, target, err
}

// TestTarget_ResumedDuringLease checks that a delivery is sent if its target is resumed while a node leases its stream.
// SQLite writes one transaction after another, so only PostgreSQL can do both at once.
func TestTarget_ResumedDuringLease(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	f := newFixture(t, storetest.Open(t, url, ""))
	other := webhook.NewService(storetest.Open(t, url, ""), f.now, storetest.NewID)
	r := newReceiver(t, nil)
	f.updateSettings(func(s *project.Settings) { s.DefaultWebhookURL = r.URL })
	ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService})
	if err := f.Pause(ctx, f.project.ID, r.URL); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	resumed := errors.New("the target was not paused")
	s := sender.NewService(resumingStore{f.db, func() {
		once.Do(func() { resumed = other.Resume(ctx, f.project.ID, r.URL) })
	}}, f.Service, f.keys, post.New(post.Guard{AllowPrivate: true}), f.now, storetest.NewID,
		slog.New(slog.DiscardHandler))
	id := f.enqueueEvents(storetest.NewID(), "", event.RoomOpened)[0]
	stop := f.run(s)
	f.waitForState(id, webhook.Delivered)
	if stop(); resumed != nil {
		t.Errorf("Resume during the lease: got error %v, want none", resumed)
	}
}

// TestTarget_PausedAfterFailures checks that a target that keeps failing is
// paused and probed, and that the waiting deliveries are sent when it has
// recovered.
func TestTarget_PausedAfterFailures(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		var fails atomic.Bool
		fails.Store(true)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if fails.Load() {
				w.WriteHeader(http.StatusBadGateway)
			}
		})
		f.run(f.sender)
		var ids []string
		for range 12 {
			ids = append(ids, f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened)...)
		}
		r.waitForMessages(t, 12)
		var target webhook.Target
		testkit.Eventually(t, "the target is paused", func() bool {
			f.advance(10 * time.Minute)
			f.waitForSweep()
			all, err := f.Targets(t.Context(), f.project.ID)
			if len(all) == 1 {
				target = all[0]
			}
			return err == nil && target.Paused()
		})
		if target.Failures < 20 || target.PausedAt.Sub(target.FailingSince) < time.Hour ||
			!strings.Contains(target.Notice, "attempts in a row failed") {
			t.Errorf("got target %+v, want 20 failures in at least an hour, and a notice", target)
		}
		testkit.Eventually(t, "all waiting deliveries are held", func() bool {
			listed, _, err := f.List(t.Context(),
				webhook.Filter{State: webhook.Pending, ProjectID: f.project.ID, Limit: 100}, "")
			return err == nil && len(listed) == len(ids) &&
				!slices.ContainsFunc(listed, func(d webhook.Delivery) bool { return !d.Held || d.NextAttemptAt.IsZero() })
		})
		// New deliveries wait while one at a time is used as a probe.
		ids = append(ids, f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened)...)
		testkit.Eventually(t, "all attempts are stored", func() bool {
			stored := 0
			for _, id := range ids {
				d, _ := f.delivery(id)
				stored += d.Attempts
			}
			return stored == len(r.messages())
		})
		before := len(r.messages())
		f.advance(11 * time.Minute)
		r.waitForMessages(t, before+1)
		f.waitForSweep()
		if n := len(r.messages()) - before; n != 1 {
			t.Errorf("got %d attempts for a probe, want 1", n)
		}
		fails.Store(false)
		f.advance(11 * time.Minute)
		for _, id := range ids {
			f.waitForState(id, webhook.Delivered)
		}
		if all, err := f.Targets(t.Context(), f.project.ID); err != nil || len(all) != 0 {
			t.Errorf("failing targets after the recovery: got %+v, %v, want none", all, err)
		}
		f.checkAudit(audit.WebhookTargetPaused, audit.WebhookTargetResumed)
	})
}

// checkAudit checks the entries of the audit log that the sender has made, in their order.
func (f *fixture) checkAudit(want ...audit.Action) {
	f.t.Helper()
	entries, err := f.db.AuditEntries(f.t.Context(), audit.Query{Limit: 100})
	var got []audit.Action
	for _, e := range slices.Backward(entries) {
		if e.Kind == audit.KindService {
			got = append(got, e.Action)
		}
	}
	if err != nil || !slices.Equal(got, want) {
		f.t.Errorf("the audit log: got %v, %v, want %v", got, err, want)
	}
}

// TestTarget_Resume checks that a target that answered 410 is not tried until an
// operator resumes it.
func TestTarget_Resume(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		var gone atomic.Bool
		gone.Store(true)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if gone.Load() {
				w.WriteHeader(http.StatusGone)
			}
		})
		f.run(f.sender)
		room := storetest.NewID()
		ids := f.enqueueEvents(room, r.URL, event.RoomOpened, event.RoomEnded)
		f.waitForState(ids[0], webhook.Gone)
		if all, err := f.Targets(t.Context(), f.project.ID); err != nil || len(all) != 1 ||
			all[0].Notice != "the receiver answered 410 Gone: resume the target manually" {
			t.Errorf("got targets %+v, %v, want the notice of a 410", all, err)
		}
		f.checkAudit(audit.WebhookTargetPaused)
		gone.Store(false)
		f.advance(100 * time.Hour)
		f.waitForSweep()
		if d, _ := f.delivery(ids[1]); d.State != webhook.Pending {
			t.Errorf("a delivery to a target that answered 410: got %+v, want it pending", d)
		}
		if err := f.Resume(t.Context(), f.project.ID, r.URL); err != nil {
			t.Fatal(err)
		}
		f.waitForState(ids[1], webhook.Delivered)
		if err := f.Resume(t.Context(), f.project.ID, r.URL); err == nil {
			t.Error("resume a target twice: got no error, want one")
		}
	})
}

// TestTarget_GoneProbe checks that a target that answered 410 to a probe gets no other probe, so
// that only an operator resumes it.
func TestTarget_GoneProbe(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		var status atomic.Int32
		status.Store(http.StatusBadGateway)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) })
		f.run(f.sender)
		for range 12 {
			f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened)
		}
		target := func() (out webhook.Target) {
			all, err := f.Targets(t.Context(), f.project.ID)
			if err != nil || len(all) > 1 {
				t.Errorf("got targets %+v, %v, want at most one", all, err)
			}
			return append(all, out)[0]
		}
		testkit.Eventually(t, "the target is paused", func() bool {
			f.advance(10 * time.Minute)
			f.waitForSweep()
			return target().Paused()
		})
		status.Store(http.StatusGone)
		testkit.Eventually(t, "a probe was answered with 410", func() bool {
			f.advance(11 * time.Minute)
			f.waitForSweep()
			return strings.Contains(target().Notice, "410 Gone")
		})
		status.Store(http.StatusOK)
		before := len(r.messages())
		for range 3 {
			f.advance(11 * time.Minute)
			f.waitForSweep()
		}
		if n := len(r.messages()) - before; n != 0 || !target().Paused() {
			t.Errorf("after a 410: got %d requests and target %+v, want none and a paused target", n, target())
		}
		if err := f.Resume(t.Context(), f.project.ID, r.URL); err != nil {
			t.Fatal(err)
		}
		r.waitForMessages(t, before+11)
	})
}

// TestTarget_Pause checks that nothing is sent to a target that is paused by hand, also not by
// probes, and that a delivery which succeeds meanwhile does not lift the pause.
func TestTarget_Pause(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		entered, answer, fails := make(chan struct{}, 9), make(chan struct{}), atomic.Bool{}
		fails.Store(true)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if fails.Load() {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			entered <- struct{}{}
			<-answer
		})
		f.run(f.sender)
		room := storetest.NewID()
		first := f.enqueueEvents(room, r.URL, event.RoomOpened)[0]
		checkHeld := func(when, eventID string, want bool) {
			t.Helper()
			testkit.Eventually(t, fmt.Sprintf("a delivery %s is held: %t", when, want), func() bool {
				d, _ := f.delivery(eventID)
				return d.State == webhook.Pending && d.Held == want && d.NextAttemptAt.IsZero() == want
			})
		}
		testkit.Eventually(t, "the first attempt has failed", func() bool {
			all, err := f.Targets(t.Context(), f.project.ID)
			return err == nil && len(all) == 1
		})
		checkHeld("after a failure", first, false)
		fails.Store(false)
		f.advance(time.Minute)
		<-entered
		if err := f.Pause(t.Context(), f.project.ID, r.URL); err != nil {
			t.Fatal(err)
		}
		behind := f.enqueueEvents(room, r.URL, event.RoomEnded)[0]
		if d, _ := f.delivery(first); d.Held {
			t.Errorf("a delivery that is being sent: got %+v, want it not held", d)
		}
		if d, _ := f.delivery(behind); !d.Held {
			t.Errorf("a delivery behind one that is being sent: got %+v, want it held", d)
		}
		close(answer)
		f.waitForState(first, webhook.Delivered)
		second := f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened)[0]
		checkHeld("of another room", second, true)
		checkHeld("behind the last attempt", behind, true)
		f.advance(100 * time.Hour)
		f.waitForSweep()
		d, _ := f.delivery(second)
		all, err := f.Targets(t.Context(), f.project.ID)
		if d.State != webhook.Pending || d.Attempts != 0 || err != nil || len(all) != 1 || !all[0].PausedByHand() {
			t.Errorf("while paused: got %+v, targets %+v, %v, want no attempt and the pause", d, all, err)
		}
		if err := f.Resume(t.Context(), f.project.ID, r.URL); err != nil {
			t.Fatal(err)
		}
		f.waitForState(second, webhook.Delivered)
		f.waitForState(behind, webhook.Delivered)
	})
}
