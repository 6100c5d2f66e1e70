package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley.example/client/sign"
	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/webhook"
	"parley/internal/webhook/post"
	"parley/internal/webhook/sender"
)

// fixture is a service on a database, with a clock that the test advances.
type fixture struct {
	*webhook.Service
	sender  *sender.Service
	t       testing.TB
	db      *store.DB
	keys    *key.Service
	project project.Project

	mu           sync.Mutex
	clockOffset  time.Duration
	lastSequence map[string]int64 // last sequence number of each room
	dueReads     atomic.Int64     // readings of the due buckets
}

// countingStore counts how often a service lists due buckets.
type countingStore struct {
	*store.DB
	dueReads *atomic.Int64
}

func (w countingStore) DueBuckets(ctx context.Context, now time.Time) ([]string, error) {
	w.dueReads.Add(1)
	return w.DB.DueBuckets(ctx, now)
}

func newFixture(t testing.TB, db *store.DB) *fixture {
	t.Helper()
	f := &fixture{t: t, db: db, project: storetest.Project(t, db), lastSequence: map[string]int64{}}
	f.Service, f.sender, f.keys = f.newNode(post.New(post.Guard{AllowPrivate: true}))
	return f
}

// newNode returns another process on the same database.
func (f *fixture) newNode(poster sender.Poster) (*webhook.Service, *sender.Service, *key.Service) {
	projects := project.NewService(f.db, f.now, storetest.NewID, func(string) {})
	hooks := webhook.NewService(f.db, f.now, storetest.NewID)
	keys := key.NewService(f.db, projects, f.now, storetest.NewID, key.WithEventRecorder(hooks.ProjectChanged))
	s := sender.NewService(countingStore{f.db, &f.dueReads}, hooks, keys, poster, f.now,
		storetest.NewID, slog.New(slog.DiscardHandler))
	return hooks, s, keys
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Add(f.clockOffset)
}

func (f *fixture) advance(d time.Duration) {
	f.mu.Lock()
	f.clockOffset += d
	f.mu.Unlock()
	f.Wake()
}

// waitForSweep returns when a sweep at the current time has started its
// attempts.
func (f *fixture) waitForSweep() {
	f.t.Helper()
	before := f.dueReads.Load()
	testkit.Eventually(f.t, "a sweep is complete", func() bool { f.Wake(); return f.dueReads.Load() >= before+2 })
}

// run runs the sender until the test ends or the returned function is called.
func (f *fixture) run(s *sender.Service) (stop func()) {
	ctx, cancel := context.WithCancel(audit.WithOrigin(context.Background(), audit.Origin{Kind: audit.KindService}))
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	stop = func() { cancel(); <-done }
	f.t.Cleanup(stop)
	return stop
}

// enqueueEvents enqueues events of a room for its URL.
func (f *fixture) enqueueEvents(room, url string, kinds ...event.Type) (ids []string) {
	f.t.Helper()
	var events []event.Event
	for _, kind := range kinds {
		f.lastSequence[room]++
		e := event.Event{
			ID:        storetest.NewID(),
			Type:      kind,
			ProjectID: f.project.ID,
			RoomID:    room,
			Sequence:  f.lastSequence[room],
			At:        f.now(),
			Data:      event.Data{RoomID: room, RoomType: "audio"},
		}
		events, ids = append(events, e), append(ids, e.ID)
	}
	err := f.db.Write(storetest.Patient(context.Background()), func(ctx context.Context) error {
		_, err := f.RoomChanged(ctx, url, events)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.Wake()
	return ids
}

func (f *fixture) updateSettings(change func(*project.Settings)) {
	f.t.Helper()
	change(&f.project.Settings)
	err := f.db.Write(storetest.Patient(context.Background()),
		func(ctx context.Context) error { return f.db.UpdateProject(ctx, f.project) })
	if err != nil {
		f.t.Fatal(err)
	}
}

// delivery returns the only delivery of an event.
func (f *fixture) delivery(eventID string) (webhook.Delivery, []webhook.Attempt) {
	f.t.Helper()
	all, _, err := f.List(context.Background(), webhook.Filter{EventID: eventID, Limit: 2})
	if err != nil || len(all) != 1 {
		f.t.Fatalf("deliveries of event %s: got %+v, %v, want one", eventID, all, err)
	}
	d, attempts, err := f.Show(context.Background(), all[0].ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return d, attempts
}

func (f *fixture) waitForState(eventID string, state webhook.State) (webhook.Delivery, []webhook.Attempt) {
	f.t.Helper()
	testkit.Eventually(f.t, "the delivery is "+string(state), func() bool {
		d, _ := f.delivery(eventID)
		return d.State == state
	})
	return f.delivery(eventID)
}

// message is a message that a receiver got.
type message struct {
	ID        string          `json:"id"`
	Type      event.Type      `json:"type"`
	Timestamp string          `json:"timestamp"`
	Sequence  int64           `json:"sequence"`
	Previous  int64           `json:"previous"`
	ProjectID string          `json:"project_id"`
	Data      json.RawMessage `json:"data"`

	header http.Header
	body   string
	path   string
}

// receiver is an HTTP server that records messages.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	received []message
}

// newReceiver starts a receiver. With a nil answer it responds with 204.
func newReceiver(t testing.TB, answer http.HandlerFunc) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		m := message{header: q.Header, body: string(body), path: q.URL.Path}
		if err == nil {
			err = json.Unmarshal(body, &m)
		}
		if err != nil {
			t.Errorf("read the webhook %s: got error %v, want none", body, err)
		}
		r.mu.Lock()
		r.received = append(r.received, m)
		r.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, q)
	}))
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (r *receiver) messages() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.received)
}

func (r *receiver) waitForMessages(t testing.TB, n int) []message {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("%d messages arrive", n), func() bool { return len(r.messages()) >= n })
	return r.messages()
}

// forEachEngine runs a test on each engine.
func forEachEngine(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Parallel()
	for name, open := range storetest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newFixture(t, open(t)))
		})
	}
}

// TestDelivery_OrderedAndSigned checks that events arrive at the targets of the
// room and of the project, in order, signed, and with sequence numbers that
// reveal gaps.
func TestDelivery_OrderedAndSigned(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		own, all := newReceiver(t, nil), newReceiver(t, nil)
		f.run(f.sender)
		f.updateSettings(func(s *project.Settings) { s.DefaultWebhookURL = all.URL })
		room := storetest.NewID()
		ids := f.enqueueEvents(room, own.URL, event.RoomOpened, event.AttendanceMarked, event.RoomStarted)
		ids = append(ids, f.enqueueEvents(room, own.URL, event.RoomEnded)...)
		for _, r := range []*receiver{own, all} {
			got := r.waitForMessages(t, 3)
			for i, want := range []message{
				{ID: ids[0], Type: event.RoomOpened, Sequence: 1, Previous: 0},
				{ID: ids[2], Type: event.RoomStarted, Sequence: 3, Previous: 1},
				{ID: ids[3], Type: event.RoomEnded, Sequence: 4, Previous: 3},
			} {
				m := got[i]
				if m.ID != want.ID || m.Type != want.Type || m.Sequence != want.Sequence ||
					m.Previous != want.Previous || m.ProjectID != f.project.ID {
					t.Errorf("message %d: got %s, want %+v", i, m.body, want)
				}
				if string(m.Data) != `{"room_id":"`+room+`","room_type":"audio"}` {
					t.Errorf("message %d: got data %s, want the room and its type", i, m.Data)
				}
				if at, err := time.Parse("2006-01-02T15:04:05.000Z", m.Timestamp); err != nil ||
					time.Since(at) > time.Minute {
					t.Errorf("message %d: got timestamp %q, %v, want one of the last minute", i, m.Timestamp, err)
				}
				f.verifySignature(m)
			}
		}
		testkit.Eventually(t, "no delivery is pending", func() bool {
			left, _, err := f.List(t.Context(), webhook.Filter{State: webhook.Pending, Limit: 1})
			return err == nil && len(left) == 0
		})
	})
}

// verifySignature checks the signature of a message.
func (f *fixture) verifySignature(m message) {
	f.t.Helper()
	keyring, err := f.keys.Keyring(context.Background(), f.project.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, secret := range keyring.LiveProjectSecrets(f.now()) {
		err := sign.VerifyWebhook([]string{secret}, m.header.Get("webhook-id"), m.header.Get("webhook-timestamp"),
			[]byte(m.body), m.header.Get("webhook-signature"))
		if err != nil {
			f.t.Errorf("verify the signature of %s with headers %v: got error %v, want none", m.ID, m.header, err)
		}
	}
	if m.header.Get("webhook-id") != m.ID || m.header.Get("Content-Type") != "application/json" ||
		m.header.Get("User-Agent") != "Parley-Webhooks/1" {
		f.t.Errorf("got headers %v, want the id %s, JSON and the user agent", m.header, m.ID)
	}
}

// TestDelivery_TargetsAndFilter checks that a URL that is the target of both
// room and project gets each event once, and that previous skips the event types
// that are not subscribed.
func TestDelivery_TargetsAndFilter(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := newReceiver(t, nil)
		f.run(f.sender)
		f.updateSettings(func(s *project.Settings) {
			s.DefaultWebhookURL, s.WebhookEvents = r.URL, []event.Type{event.RoomOpened, event.RoomEnded}
		})
		room := storetest.NewID()
		f.enqueueEvents(room, r.URL, event.RoomOpened, event.RoomStarted, event.ParticipantJoined)
		f.enqueueEvents(room, r.URL, event.ParticipantLeft)
		last := f.enqueueEvents(room, r.URL, event.RoomEnded)
		f.waitForState(last[0], webhook.Delivered)
		got := r.messages()
		if len(got) != 2 || got[1].Sequence != 5 || got[1].Previous != 1 {
			t.Errorf("got %+v, want the first event, and the fifth with previous 1", got)
		}
	})
}

// TestEventsAfter_Pages checks that the events of a room can be read page by page as
// the same bytes that a receiver of all types gets.
func TestEventsAfter_Pages(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := newReceiver(t, nil)
		f.run(f.sender)
		id := storetest.Room(f.project.ID)
		start := time.Now().Add(time.Hour)
		person := &event.Participant{
			Identity:   "4712",
			Name:       "Zoë <b>&\u2028",
			Role:       "guest",
			Session:    id.ID + ".1",
			Connection: "PA_1",
			JoinedAt:   time.Now(),
		}
		var events []event.Event
		for i, kind := range []event.Type{event.RoomOpened, event.AttendanceMarked, event.RoomStarted,
			event.ParticipantJoined, event.RoomEnded} {
			e := event.Event{
				ID:        storetest.NewID(),
				Type:      kind,
				ProjectID: f.project.ID,
				RoomID:    id.ID,
				Sequence:  int64(i + 1),
				At:        f.now(),
				Data:      event.Data{RoomID: id.ID, RoomType: "video", StartAt: &start},
			}
			if kind == event.ParticipantJoined {
				e.Data.Participant = person
			}
			events = append(events, e)
		}
		err := f.db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
			if err := f.db.InsertRoom(ctx, id); err != nil {
				return err
			}
			if err := f.db.AppendEvents(ctx, events); err != nil {
				return err
			}
			_, err := f.RoomChanged(ctx, r.URL, events)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Wake()
		sent := r.waitForMessages(t, 4)
		for _, c := range []struct {
			after int64
			limit int
			want  []message
			last  int64
			more  bool
		}{{0, 50, sent, 5, false}, {0, 4, sent, 5, false}, {0, 2, sent[:2], 3, true}, {1, 1, sent[1:2], 3, true}, {2, 3,
			sent[1:], 5, false}, {5, 3, nil, 5, false}, {9, 3, nil, 9, false}} {
			bodies, last, more, err := f.EventsAfter(t.Context(), id.ID, c.after, c.limit)
			if err != nil || last != c.last || more != c.more || len(bodies) != len(c.want) {
				t.Fatalf("%d events after %d: got %d events, last %d, more %t, %v, want %d, %d, %t",
					c.limit, c.after, len(bodies), last, more, err, len(c.want), c.last, c.more)
			}
			for i, body := range bodies {
				if string(body) != c.want[i].body {
					t.Errorf("event %d differs from the webhook (-want +got):\n%s", i, cmp.Diff(c.want[i].body, string(body)))
				}
			}
		}
	})
}

// TestEventsAfter_DeletedEvents checks that a reader learns which events are not kept any more,
// and that events which are never delivered are no gap.
func TestEventsAfter_DeletedEvents(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := storetest.Room(f.project.ID)
		r.EventSequence = 5
		var events []event.Event
		for i, kind := range []event.Type{event.AttendanceMarked, event.RoomOpened, event.AttendanceMarked,
			event.RoomStarted, event.RoomEnded} {
			events = append(events, event.Event{
				ID:        storetest.NewID(),
				Type:      kind,
				ProjectID: f.project.ID,
				RoomID:    r.ID,
				Sequence:  int64(i + 1),
				At:        f.now(),
				Data:      event.Data{RoomID: r.ID, RoomType: "video"},
			})
		}
		write := func(work func(ctx context.Context) error) {
			t.Helper()
			if err := f.db.Write(storetest.Patient(t.Context()), work); err != nil {
				t.Fatal(err)
			}
		}
		write(func(ctx context.Context) error {
			return errors.Join(f.db.InsertRoom(ctx, r), f.db.AppendEvents(ctx, events))
		})
		for deleted, c := range []map[int64]string{
			{0: "2 after 0, 4 after 2, 5 after 4", 2: "4 after 2, 5 after 4", 5: ""},
			{0: "gone", 1: "2 after 1, 4 after 2, 5 after 4", 2: "4 after 2, 5 after 4"},
			{1: "gone", 2: "4 after 2, 5 after 4"},
			{1: "gone", 2: "gone", 3: "4 after 3, 5 after 4", 4: "5 after 4"},
			{2: "gone", 4: "5 after 4", 5: ""},
			{0: "gone", 4: "gone", 5: "", 9: ""},
		} {
			if deleted > 0 {
				write(func(ctx context.Context) error { _, _, err := f.db.DeleteRoom(ctx, r.ID, 1); return err })
			}
			gone := fmt.Sprintf("the events 1 to %d of this room are no longer kept, because the room is being deleted", deleted)
			for after, want := range c {
				bodies, _, _, err := f.EventsAfter(t.Context(), r.ID, after, 10)
				var got []string
				for _, body := range bodies {
					var m message
					if err := json.Unmarshal(body, &m); err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprintf("%d after %d", m.Sequence, m.Previous))
				}
				_, _, timelineErr := f.Timeline(t.Context(), r.ID, after, 10)
				if want == "gone" {
					for _, err := range []error{err, timelineErr} {
						if !fault.Is(err, fault.NotFound) || err.Error() != gone {
							t.Errorf("%d deleted, after %d: got %v, want NotFound: %s", deleted, after, err, gone)
						}
					}
				} else if strings.Join(got, ", ") != want || err != nil || timelineErr != nil {
					t.Errorf("%d deleted, after %d: got %v, %v, %v, want %s", deleted, after, got, err, timelineErr, want)
				}
			}
		}
	})
}

// TestProjectEvents_OwnSequence checks that events of a project have their own sequence
// numbers and go to its target.
func TestProjectEvents_OwnSequence(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		ctx := context.Background()
		r := newReceiver(t, nil)
		f.run(f.sender)
		if _, err := f.Test(ctx, f.project.ID); err == nil {
			t.Error("test webhook without a target: got no error, want one")
		}
		f.updateSettings(func(s *project.Settings) { s.DefaultWebhookURL = r.URL })
		id, err := f.Test(ctx, f.project.ID)
		if err != nil {
			t.Fatal(err)
		}
		f.waitForState(id, webhook.Delivered)
		if _, err := f.keys.RotateSecret(ctx, f.project.ID, key.Rotation{Overlap: time.Hour}); err != nil {
			t.Fatal(err)
		}
		got := r.waitForMessages(t, 2)
		if got[0].Type != event.WebhookTest || got[0].Sequence != 1 || string(got[0].Data) != "{}" {
			t.Errorf("got %+v, want an empty webhook.test with sequence 1", got[0])
		}
		if got[1].Type != event.KeyRotated || got[1].Sequence != 2 || got[1].Previous != 1 {
			t.Errorf("got %+v, want key.rotated with sequence 2 and previous 1", got[1])
		}
		f.keys.Invalidate(f.project.ID)
		id, _ = f.Test(ctx, f.project.ID)
		f.waitForState(id, webhook.Delivered)
		f.verifySignature(r.messages()[2]) // with both secrets

		// One event announces the end of the overlap half an hour before.
		f.advance(31 * time.Minute)
		for range 2 {
			if err := f.keys.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
		}
		got = r.waitForMessages(t, 4)
		if got[3].Type != event.KeyOverlapEnding || got[3].Sequence != 4 {
			t.Errorf("got %+v, want key.overlap_ending with sequence 4", got[3])
		}
		if all, err := storetest.ProjectEvents(ctx, f.db, f.project.ID); err != nil || len(all) != 4 {
			t.Errorf("events of the project: got %+v, %v, want 4", all, err)
		}
	})
}
