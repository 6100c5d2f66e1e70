package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/project"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/webhook"
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
