package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/cluster/clustertest"
	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// receiver receives webhooks and checks their order.
type receiver struct {
	*httptest.Server
	t     *testing.T
	delay time.Duration

	mu           sync.Mutex
	deliveries   map[string]int   // deliveries of each event
	lastSequence map[string]int64 // last sequence of each room
	total        int
	repeats      int
}

func newReceiver(t *testing.T, delay time.Duration) *receiver {
	r := &receiver{t: t, delay: delay, deliveries: map[string]int{}, lastSequence: map[string]int64{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, q *http.Request) {
	var m struct {
		ID                 string
		Sequence, Previous int64
		Data               event.Data
	}
	if err := json.NewDecoder(q.Body).Decode(&m); err != nil {
		r.t.Errorf("decode a delivery: got error %v, want none", err)
		return
	}
	time.Sleep(r.delay) // a receiver that works on each delivery
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.lastSequence[m.Data.RoomID]
	switch {
	case m.Sequence == last: // repeated, because the response was lost
		r.repeats++
	case m.Sequence < last || m.Previous != last:
		r.t.Errorf("room %s: got sequence %d with previous %d, want a later sequence with previous %d", m.Data.RoomID,
			m.Sequence, m.Previous, last)
	}
	r.lastSequence[m.Data.RoomID] = m.Sequence
	r.deliveries[m.ID]++
	r.total++
}

func (r *receiver) eventCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.deliveries)
}

// setWebhookURL sets the default webhook URL of the project.
func (n *node) setWebhookURL(url string) {
	n.t.Helper()
	q, err := http.NewRequest(http.MethodPatch, n.url+"/api/manage/projects/"+n.s.ProjectID,
		strings.NewReader(`{"default_webhook_url":"`+url+`"}`))
	if err != nil {
		n.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+n.s.AdminToken)
	q.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		n.t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		n.t.Fatalf("set the webhook URL: got status %s, want 200", res.Status)
	}
}

// createAndCancelRooms creates and cancels rooms with a webhook URL of their own. Each room
// has two events, which are delivered to two targets.
func createAndCancelRooms(rooms int, url string, nextClient func() *client.Client) {
	var remaining atomic.Int64
	remaining.Store(int64(rooms))
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for remaining.Add(-1) >= 0 {
				retryUntilNil(func() error { // the server may be down
					metadata := client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}
					created, err := nextClient().CreateScheduledVideoRoom(context.Background(),
						client.ScheduledRoomRequest{
							StartAt:         time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04"),
							MaxParticipants: 5,
							EmptyTimeout:    60,
							WebhookURL:      url,
							Metadata:        client.ScheduledRoomMetadata{Metadata: metadata},
						})
					if err != nil {
						return err
					}
					_ = nextClient().EndRoom(context.Background(),
						created.RoomID) // if it fails, the room has only one event
					return nil
				})
			}
		})
	}
	work.Wait()
}

func retryUntilNil(do func() error) {
	for do() != nil {
		time.Sleep(20 * time.Millisecond) // paces the attempts
	}
}

// eventIDs returns the ids of all events of rooms.
func eventIDs(t *testing.T, db *store.DB) []string {
	t.Helper()
	rooms, err := db.List(t.Context(), room.ListQuery{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range rooms {
		all, err := storetest.Events(t.Context(), db, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// assertAllDelivered waits until each receiver has received all events.
func assertAllDelivered(t *testing.T, db *store.DB, targets ...*receiver) {
	t.Helper()
	ids := eventIDs(t, db)
	for _, r := range targets {
		testkit.EventuallyWithin(t, 90*time.Second, fmt.Sprintf("%d events arrive", len(ids)), func() bool {
			return r.eventCount() >= len(ids)
		})
		for _, id := range ids {
			if r.deliveries[id] == 0 {
				t.Errorf("deliveries of event %s: got none, want at least one", id)
			}
		}
	}
}

// If a server is killed several times during 10,000 deliveries, no event is lost, the events
// of each room stay in order, and only deliveries without a response are repeated.
func TestWebhooks_NodeKilled(t *testing.T) {
	t.Parallel()
	s := &service{master: seal.NewKey()}
	n := s.startNode(t)
	db := s.openDatabase(t, n.dir)
	roomReceiver, projectReceiver := newReceiver(t, time.Millisecond), newReceiver(t, time.Millisecond)
	n.setWebhookURL(projectReceiver.URL)
	var current atomic.Pointer[client.Client]
	current.Store(n.client())
	const rooms, kills = 2600, 4
	began := time.Now()
	load := make(chan struct{})
	go func() { defer close(load); createAndCancelRooms(rooms, roomReceiver.URL, current.Load) }()
	for i := range kills {
		testkit.EventuallyWithin(t, 60*time.Second, "deliveries are in progress", func() bool {
			return roomReceiver.eventCount() >= (i+1)*rooms/4
		})
		n.Kill()
		n.start()
		current.Store(n.client())
	}
	<-load
	assertAllDelivered(t, db, roomReceiver, projectReceiver)
	for _, r := range []*receiver{roomReceiver, projectReceiver} {
		t.Logf("%d events and %d repeats in %s, with %d kills", r.eventCount(), r.repeats,
			time.Since(began).Round(time.Second), kills)
		if r.repeats > kills*4 { // at most 4 deliveries to one host are in flight
			t.Errorf("got %d repeats, want at most %d", r.repeats, kills*4)
		}
	}
	if roomReceiver.total+projectReceiver.total < 10_000 {
		t.Errorf("got %d deliveries, want at least 10,000", roomReceiver.total+projectReceiver.total)
	}
}

// Two nodes share the deliveries and send none twice. If one is killed, the other takes over
// its deliveries.
func TestWebhooks_SharedByNodes(t *testing.T) {
	t.Parallel()
	s := &service{database: storetest.Postgres(t), redis: clustertest.NewRedis(t).URL(), master: seal.NewKey()}
	a, b := s.startNode(t), s.startNode(t)
	db := s.openDatabase(t, t.TempDir())
	roomReceiver, projectReceiver := newReceiver(t, 2*time.Millisecond), newReceiver(t, 2*time.Millisecond)
	a.setWebhookURL(projectReceiver.URL)
	var turn atomic.Int64
	both := []*client.Client{a.client(), b.client()}
	createAndCancelRooms(500, roomReceiver.URL, func() *client.Client { return both[turn.Add(1)%2] })
	assertAllDelivered(t, db, roomReceiver, projectReceiver)
	if roomReceiver.repeats+projectReceiver.repeats > 0 {
		t.Errorf("got %d and %d repeats, want 0", roomReceiver.repeats, projectReceiver.repeats)
	}
	load := make(chan struct{})
	before := roomReceiver.eventCount()
	go func() {
		defer close(load)
		createAndCancelRooms(500, roomReceiver.URL, func() *client.Client { return both[0] })
	}()
	testkit.Eventually(t, "deliveries are in progress", func() bool { return roomReceiver.eventCount() > before+200 })
	b.Kill()
	<-load
	assertAllDelivered(t, db, roomReceiver, projectReceiver)
	t.Logf("%d events, %d and %d repeats after a kill", roomReceiver.eventCount(), roomReceiver.repeats,
		projectReceiver.repeats)
	if roomReceiver.repeats > 4 || projectReceiver.repeats > 4 {
		t.Errorf("got %d and %d repeats, want at most 4", roomReceiver.repeats, projectReceiver.repeats)
	}
}
