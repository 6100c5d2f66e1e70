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

// TestDelivery_RetrySchedule checks that a delivery is retried on schedule with
// the same body and a new signature, and that the next one follows when it has
// failed.
func TestDelivery_RetrySchedule(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		var fails atomic.Bool
		fails.Store(true)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if fails.Load() {
				http.Error(w, "not today", http.StatusInternalServerError)
			}
		})
		f.run(f.sender)
		room := storetest.NewID()
		ids := f.enqueueEvents(room, r.URL, event.RoomOpened, event.RoomEnded)
		after := []time.Duration{0, 5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
			5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
		for i, d := range after {
			if i > 0 {
				f.advance(d * 88 / 100) // jitter takes off a tenth at most
				f.waitForSweep()
				if n := len(r.messages()); d > time.Minute && n != i {
					t.Fatalf("got %d attempts %s after attempt %d, want %d", n, d*88/100, i, i)
				}
				f.advance(d * 24 / 100)
			}
			testkit.Eventually(t, fmt.Sprintf("attempt %d is stored", i+1),
				func() bool { d, _ := f.delivery(ids[0]); return d.Attempts == i+1 })
		}
		d, attempts := f.waitForState(ids[0], webhook.Failed)
		if len(attempts) != len(after) || attempts[3].Status != 500 ||
			attempts[3].ResponseBody != "not today\n" || d.DoneAt.IsZero() {
			t.Errorf("got %+v with attempts %+v, want %d attempts with status 500 and an end", d, attempts, len(after))
		}
		fails.Store(false)
		f.advance(time.Minute)
		f.waitForState(ids[1], webhook.Delivered)
		first := r.messages()[0]
		times := map[string]bool{}
		for _, m := range r.messages()[:len(after)] {
			if m.ID != ids[0] || m.body != first.body {
				t.Fatalf("got webhook %s, want every attempt to send %s", m.body, first.body)
			}
			times[m.header.Get("webhook-timestamp")] = true
			f.verifySignature(m)
		}
		if len(times) != len(after) {
			t.Errorf("got %d distinct timestamps, want one for each of %d attempts", len(times), len(after))
		}
	})
}

// TestDelivery_FaultyReceivers checks the states of deliveries to misbehaving
// receivers.
func TestDelivery_FaultyReceivers(t *testing.T) {
	elsewhere := newReceiver(t, nil)
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		state  webhook.State
		status int
		error  string
	}{
		"redirects": {func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, elsewhere.URL, http.StatusTemporaryRedirect)
		},
			webhook.Pending, 307, ""},
		"is gone": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, webhook.Gone, 410,
			""},
		"closes early": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			webhook.Pending, 0, "the connection was closed without an answer"},
		"closes in the answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, webhook.Delivered, 200, ""},
		"sends gigabytes": {func(w http.ResponseWriter, _ *http.Request) {
			for block := []byte(strings.Repeat("x", 1<<16)); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, webhook.Delivered, 200, ""},
		"sends a body that is not text": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("a\x00b\xff")) },
			webhook.Delivered, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			forEachEngine(t, func(t *testing.T, f *fixture) {
				r := newReceiver(t, tc.answer)
				f.run(f.sender)
				id := f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened)[0]
				testkit.Eventually(t, "an attempt is stored", func() bool {
					d, _ := f.delivery(id)
					return d.Attempts == 1
				})
				d, attempts := f.delivery(id)
				if d.State != tc.state || attempts[0].Status != tc.status || attempts[0].Error != tc.error ||
					len(attempts[0].ResponseBody) > 1024 {
					t.Errorf("got %+v with attempts %+v, want state %s, status %d, error %q and at most 1024 bytes of the body",
						d, attempts, tc.state, tc.status, tc.error)
				}
			})
		})
	}
	t.Cleanup(func() {
		if n := len(elsewhere.messages()); n > 0 {
			t.Errorf("redirects: got %d followed, want 0", n)
		}
	})
}

// TestDelivery_RetryAfter checks that Retry-After can extend the wait of the
// schedule.
func TestDelivery_RetryAfter(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		})
		f.run(f.sender)
		id := f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened)[0]
		waitForAttempts := func(n int) {
			t.Helper()
			testkit.Eventually(t, fmt.Sprintf("%d attempts", n), func() bool { d, _ := f.delivery(id); return d.Attempts == n })
		}
		waitForAttempts(1)
		f.advance(59 * time.Minute)
		f.waitForSweep()
		waitForAttempts(1)
		f.advance(time.Minute)
		waitForAttempts(2)
	})
}

// TestDelivery_OthersSucceed checks that a delivery that fails keeps its schedule while other rooms
// are delivered to the same URL, so that their success does not use up its attempts.
func TestDelivery_OthersSucceed(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		var first atomic.Pointer[string] // the ID of the first webhook
		r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
			id := q.Header.Get("webhook-id")
			if first.CompareAndSwap(nil, &id) || *first.Load() == id {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		f.run(f.sender)
		refused := f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened)[0]
		wait := func(when string) {
			t.Helper()
			testkit.Eventually(t, "the delivery is tried", func() bool { d, _ := f.delivery(refused); return d.Attempts > 0 })
			if d, _ := f.delivery(refused); d.Attempts != 1 || d.State != webhook.Pending {
				t.Errorf("the refused delivery %s: got %d attempts, state %s, want 1, pending", when, d.Attempts, d.State)
			}
		}
		wait("at first")
		for range 12 {
			id := f.enqueueEvents(storetest.NewID(), r.URL, event.RoomOpened)[0]
			f.waitForState(id, webhook.Delivered)
		}
		f.waitForSweep()
		wait("after others were delivered")
	})
}

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

// TestDelivery_DeadTargetDoesNotBlockOthers checks that a target gets its
// deliveries in order while another one hangs.
func TestDelivery_DeadTargetDoesNotBlockOthers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		dead, alive := newReceiver(t, func(_ http.ResponseWriter,
			q *http.Request) {
			<-q.Context().Done()
		}), newReceiver(t, nil)
		stop := f.run(f.sender)
		var rooms []string
		for range 20 {
			room := storetest.NewID()
			rooms = append(rooms, room)
			f.enqueueEvents(room, dead.URL+"/"+room, event.RoomOpened) // the URLs differ, the host is the same
		}
		dead.waitForMessages(t, 4)
		f.updateSettings(func(s *project.Settings) { s.DefaultWebhookURL = alive.URL })
		for range 3 {
			for _, room := range rooms {
				f.enqueueEvents(room, "", event.ParticipantJoined, event.ParticipantLeft)
			}
		}
		last := map[string]int64{}
		for _, m := range alive.waitForMessages(t, 120) {
			if room := string(m.Data); m.Sequence != last[room]+1 && last[room] != 0 {
				t.Errorf("room %s: got sequence %d after %d, want the next one", room, m.Sequence, last[room])
			}
			last[string(m.Data)] = m.Sequence
		}
		if n := len(dead.messages()); n != 4 {
			t.Errorf("the dead target: got %d concurrent attempts, want 4", n)
		}
		// The stop releases the streams of long attempts.
		stop()
		buckets, err := f.db.DueBuckets(context.Background(), f.now())
		if err != nil || len(buckets) != 1 {
			t.Errorf("due buckets after the stop: got %v, %v, want the dead target", buckets, err)
		}
	})
}

// TestDelivery_DeadTargetsOfOneProject checks that a project with many targets that hang delays
// only its own deliveries.
func TestDelivery_DeadTargetsOfOneProject(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		const most = 16
		targets := 400
		if testing.Short() {
			targets = 40
		}
		var hanging, tooMany, ended atomic.Int32
		honest := newFixture(t, f.db) // its events are sent by the same process
		for n := range targets {
			dead := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
				if now := hanging.Add(1); now > most {
					tooMany.Store(now)
				}
				<-q.Context().Done()
				hanging.Add(-1)
				ended.Add(1)
			})
			f.enqueueEvents(storetest.NewID(), fmt.Sprintf("%s/%d", dead.URL, n), event.RoomOpened)
		}
		f.run(f.sender)
		testkit.Eventually(t, "16 targets hang", func() bool { return hanging.Load() == most })
		alive := newReceiver(t, nil)
		begin := time.Now()
		honest.enqueueEvents(storetest.NewID(), alive.URL, event.RoomOpened)
		f.Wake()
		alive.waitForMessages(t, 1)
		t.Logf("the honest project's webhook arrived after %s", time.Since(begin))
		if ended.Load() > 0 {
			t.Errorf("the honest project's webhook waited until %d attempts of the other project had ended", ended.Load())
		}
		if n := tooMany.Load(); n > 0 {
			t.Errorf("attempts of one project at once: got %d, want at most %d", n, most)
		}
	})
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
			listed, _, err := f.List(t.Context(), webhook.Filter{State: webhook.Pending, ProjectID: f.project.ID, Limit: 100})
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
