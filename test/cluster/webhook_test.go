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

	"parley/client"
	"parley/internal/cluster/clustertest"
	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// receiver takes webhooks and holds them to their order.
type receiver struct {
	*httptest.Server
	t     *testing.T
	delay time.Duration

	mu           sync.Mutex
	deliveries   map[string]int   // how often each event came
	lastSequence map[string]int64 // the highest number of each room
	total        int
	repeats      int
}

func newReceiver(t *testing.T, slow time.Duration) *receiver {
	r := &receiver{t: t, delay: slow, deliveries: map[string]int{}, lastSequence: map[string]int64{}}
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
		r.t.Error(err)
		return
	}
	time.Sleep(r.delay)
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.lastSequence[m.Data.RoomID]
	switch {
	case m.Sequence == last: // again: its answer was not seen
		r.repeats++
	case m.Sequence < last || m.Previous != last:
		r.t.Errorf("room %s: %d, after %d, came after %d", m.Data.RoomID, m.Sequence, m.Previous, last)
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

// setWebhookURL makes a URL the target of everything in the project.
func (n *node) setWebhookURL(url string) {
	n.t.Helper()
	q, err := http.NewRequest(http.MethodPatch, n.url+"/api/manage/projects/"+n.s.ProjectID, strings.NewReader(`{"default_webhook_url":"`+url+`"}`))
	if err != nil {
		n.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+n.s.AdminToken)
	q.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		n.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		n.t.Fatal(answer.Status)
	}
}

// createAndCancelRooms makes rooms with a target of their own and cancels them: two events
// each, for two targets.
func createAndCancelRooms(rooms int, url string, at func() *client.Client) {
	var left atomic.Int64
	left.Store(int64(rooms))
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for left.Add(-1) >= 0 {
				retryUntilNil(func() error { // the server may be away for a while
					made, err := at().CreateScheduledVideoRoom(context.Background(), client.ScheduledRoomRequest{StartAt: time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04"),
						MaxParticipants: 5, EmptyTimeout: 60, Metadata: client.ScheduledRoomMetadata{Metadata: client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}}, WebhookURL: url})
					if err != nil {
						return err
					}
					_ = at().EndRoom(context.Background(), made.RoomID) // or it stays, with one event
					return nil
				})
			}
		})
	}
	work.Wait()
}

func retryUntilNil(done func() error) {
	for done() != nil {
		time.Sleep(20 * time.Millisecond)
	}
}

// eventIDs returns the ids of all that happened to rooms.
func eventIDs(t *testing.T, db *store.DB) []string {
	t.Helper()
	rooms, err := db.List(t.Context(), room.ListQuery{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range rooms {
		all, err := db.Events(t.Context(), r.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// assertAllDelivered waits until all that happened has come to each receiver.
func assertAllDelivered(t *testing.T, db *store.DB, targets ...*receiver) {
	t.Helper()
	ids := eventIDs(t, db)
	for _, r := range targets {
		eventuallyWithin(t, 90*time.Second, fmt.Sprintf("%d events arrive", len(ids)), func() bool { return r.eventCount() >= len(ids) })
		for _, id := range ids {
			if r.deliveries[id] == 0 {
				t.Errorf("event %s is lost", id)
			}
		}
	}
}

// A server is killed while it makes 10,000 deliveries: nothing is lost, each
// room's order holds, and only what had no answer comes again.
func TestWebhooks_NodeKilled(t *testing.T) {
	t.Parallel()
	s := &service{master: seal.NewKey()}
	n := s.startNode(t)
	db := s.openDatabase(t, n.dir)
	own, all := newReceiver(t, time.Millisecond), newReceiver(t, time.Millisecond)
	n.setWebhookURL(all.URL)
	var current atomic.Pointer[client.Client]
	current.Store(n.client())
	const rooms, kills = 2600, 4
	began := time.Now()
	load := make(chan struct{})
	go func() { defer close(load); createAndCancelRooms(rooms, own.URL, current.Load) }()
	for i := range kills {
		eventuallyWithin(t, 60*time.Second, "deliveries are under way", func() bool { return own.eventCount() >= (i+1)*rooms/4 })
		n.kill()
		n.start()
		current.Store(n.client())
	}
	<-load
	assertAllDelivered(t, db, own, all)
	for _, r := range []*receiver{own, all} {
		t.Logf("%d events and %d repeats in %s, with %d kills", r.eventCount(), r.repeats, time.Since(began).Round(time.Second), kills)
		if r.repeats > kills*4 { // as many as can be under way to one host
			t.Errorf("%d repeats", r.repeats)
		}
	}
	if own.total+all.total < 10_000 {
		t.Errorf("that were %d deliveries", own.total+all.total)
	}
}

// Two nodes share the work: nothing is sent twice. When one is killed, the
// other takes its work over.
func TestWebhooks_SharedByNodes(t *testing.T) {
	t.Parallel()
	s := &service{database: storetest.Postgres(t), redis: clustertest.NewRedis(t).URL(), master: seal.NewKey()}
	a, b := s.startNode(t), s.startNode(t)
	db := s.openDatabase(t, t.TempDir())
	own, all := newReceiver(t, 2*time.Millisecond), newReceiver(t, 2*time.Millisecond)
	a.setWebhookURL(all.URL)
	var turn atomic.Int64
	both := []*client.Client{a.client(), b.client()}
	createAndCancelRooms(500, own.URL, func() *client.Client { return both[turn.Add(1)%2] })
	assertAllDelivered(t, db, own, all)
	if own.repeats+all.repeats > 0 {
		t.Errorf("%d and %d were sent twice", own.repeats, all.repeats)
	}
	load := make(chan struct{})
	before := own.eventCount()
	go func() {
		defer close(load)
		createAndCancelRooms(500, own.URL, func() *client.Client { return both[0] })
	}()
	eventually(t, "deliveries are under way", func() bool { return own.eventCount() > before+200 })
	b.kill()
	<-load
	assertAllDelivered(t, db, own, all)
	t.Logf("%d events, %d and %d repeats after a kill", own.eventCount(), own.repeats, all.repeats)
	if own.repeats > 4 || all.repeats > 4 {
		t.Errorf("%d and %d repeats", own.repeats, all.repeats)
	}
}
