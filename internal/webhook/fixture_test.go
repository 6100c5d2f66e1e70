package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/audit"
	"parley/internal/event"
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
	all, _, err := f.List(context.Background(), webhook.Filter{EventID: eventID, Limit: 2}, "")
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
