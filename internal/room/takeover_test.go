package room_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// countingLeavesStore counts the attendance that each transaction ends.
type countingLeavesStore struct {
	*store.DB
	largest, current *int
}

func (s countingLeavesStore) Write(ctx context.Context, work func(context.Context) error) error {
	return s.DB.Write(ctx, func(ctx context.Context) error {
		*s.current = 0
		err := work(ctx)
		*s.largest = max(*s.largest, *s.current)
		return err
	})
}

func (s countingLeavesStore) EndAttendance(ctx context.Context, a room.Attendance, now time.Time) error {
	*s.current++
	return s.DB.EndAttendance(ctx, a, now)
}

// A large room of a lost node is taken over in several transactions, so that none exceeds the write timeout.
func TestFailover_LargeRoom(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	const people = 60
	id := c.create(t, room.Spec{MaxParticipants: people})
	for n := range people {
		c.enter(t, 0, id, guest(n), fmt.Sprintf("PA_%d", n))
	}
	largest, current := 0, 0
	survivor := room.NewService(countingLeavesStore{c.db, &largest, &current}, nodeMedia{c, 1},
		func() string { return "" }, c.clock.Now, storetest.NewID, discardLogger, room.Options{Clustered: true})
	c.nodes[1] = survivor
	for range 6 {
		c.tick(1)
	}
	left := 0
	for _, a := range c.attendance(t, id) {
		if !a.LeftAt.IsZero() && a.Reason == room.LeftServer {
			left++
		}
	}
	if left != people || largest == 0 || largest > people/2 {
		t.Errorf("got %d leaves, at most %d in a transaction, want %d and at most half of them in one", left, largest, people)
	}
}

// relayingMedia is the engine of a node. It remembers the sessions whose relayed connections it closed, and does not
// open the session failing once.
type relayingMedia struct {
	nodeMedia
	dropped map[string]int // by session
	failing string
	takes   time.Duration // until the session failing fails
}

func (m *relayingMedia) DropRelayedConnections(session string, _ time.Time) { m.dropped[session]++ }

func (m *relayingMedia) Open(ctx context.Context, s room.MediaSession) error {
	if s.Name == m.failing {
		m.failing = ""
		m.clock.advance(m.takes)
		return fault.New(fault.Unavailable, "media_unavailable", "the media engine is slow")
	}
	return m.nodeMedia.Open(ctx, s)
}

// Each node closes the connections that it relayed to a lost node, also if another node was first to take over its
// rooms, or if a session cannot be opened again at once.
func TestFailover_EachNodeClosesItsRelays(t *testing.T) {
	t.Parallel()
	t.Run("fails at once", func(t *testing.T) { testEachNodeClosesItsRelays(t, 0) })
	t.Run("fails slowly", func(t *testing.T) { testEachNodeClosesItsRelays(t, 3*time.Second) })
}

func testEachNodeClosesItsRelays(t *testing.T, takes time.Duration) {
	t.Helper()
	c := newCluster(t, storetest.SQLite(t))
	var sessions []string
	for n := range 3 {
		a := c.enter(t, 0, c.create(t, room.Spec{MaxParticipants: 2}), guest(n), fmt.Sprint("PA_", n))
		sessions = append(sessions, a.SessionID)
	}
	var relays []*relayingMedia
	var watching []*room.Service
	for range 2 {
		m := &relayingMedia{nodeMedia: nodeMedia{c, 1}, dropped: map[string]int{}, failing: sessions[1],
			takes: takes}
		relays = append(relays, m)
		watching = append(watching, room.NewService(c.db, m, func() string { return "" }, c.clock.Now, storetest.NewID,
			discardLogger, room.Options{Clustered: true}))
	}
	c.stopNode(0)
	for range 20 {
		c.clock.advance(time.Second)
		for _, n := range watching {
			n.Heartbeat(t.Context())
		}
		for _, n := range watching { // one after the other
			n.WatchNodes(t.Context())
		}
	}
	for i, m := range relays {
		for _, session := range sessions {
			if m.dropped[session] != 1 {
				t.Errorf("node %d closed the relays of %s %d times, want once", i, session, m.dropped[session])
			}
		}
	}
}

// slowMedia is an engine in which something happens before a session opens.
type slowMedia struct {
	*fakeMedia
	opening func()
}

func (m slowMedia) Open(ctx context.Context, s room.MediaSession) error {
	m.opening()
	return m.fakeMedia.Open(ctx, s)
}

// A room that cannot be taken over is retried and does not delay others.
func TestFailover_BrokenRoomDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	var ids []string
	for range 3 {
		id := c.create(t, room.Spec{MaxParticipants: 2})
		c.enter(t, 0, id, guest(1), "PA_"+id)
		ids = append(ids, id)
	}
	survivor := room.NewService(brokenRoomStore{c.db, ids[0], errBrokenRoom}, nodeMedia{c, 1},
		func() string { return "" }, c.clock.Now, storetest.NewID, discardLogger, room.Options{Clustered: true})
	c.nodes[1] = survivor
	for range 6 {
		c.tick(1)
	}
	for i, id := range ids {
		if left := !c.attendance(t, id)[0].LeftAt.IsZero(); left != (i > 0) {
			t.Errorf("room %d: got ended %v, want %v", i, left, i > 0)
		}
	}
	if got := c.nodeIDs(t); len(got) != 3 {
		t.Errorf("got the nodes %v, want 3", got)
	}
}

// thirdNode returns another node of a cluster with a database of PostgreSQL.
func (c *cluster) thirdNode(t *testing.T, url string) *room.Service {
	t.Helper()
	return room.NewService(reopenDB(t, url), nodeMedia{c, 1}, func() string { return "" }, c.clock.Now, storetest.NewID,
		discardLogger, room.Options{Clustered: true})
}

// watchAtOnce lets nodes send their heartbeat and look for lost nodes at the same time, once for each second.
func (c *cluster) watchAtOnce(t *testing.T, seconds int, nodes ...*room.Service) {
	t.Helper()
	for range seconds {
		c.clock.advance(time.Second)
		var all sync.WaitGroup
		for _, n := range nodes {
			all.Go(func() {
				n.Heartbeat(t.Context())
				n.WatchNodes(t.Context())
			})
		}
		all.Wait()
	}
}

// If two nodes take over at once, each row and each event is written once. This needs
// PostgreSQL.
func TestFailover_ConcurrentOnTwoNodes(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	c := newCluster(t, storetest.Open(t, url, ""))
	var ids []string
	for n := range 10 {
		id := c.create(t, room.Spec{MaxParticipants: 2})
		c.enter(t, 0, id, guest(n), "PA_"+id)
		ids = append(ids, id)
	}
	third := c.thirdNode(t, url)
	c.watchAtOnce(t, 6, c.nodes[1], third)
	for _, id := range ids {
		rows := c.attendance(t, id)
		events, err := storetest.Events(t.Context(), c.db, id)
		if err != nil || len(rows) != 1 || rows[0].Reason != room.LeftServer || len(events) != 4 ||
			events[3].Type != event.ParticipantLeft {
			t.Errorf("got %+v\n%+v, %v, want one attendance that the server ended, and 4 events", rows, events, err)
		}
	}
}

// Two nodes notice the loss of a third one and delete it at once. The audit log records
// that once. A node that deregisters is not recorded. This needs PostgreSQL.
func TestFailover_RecordsLostNodeOnce(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	c := newCluster(t, storetest.Open(t, url, ""))
	lost := c.nodes[0].NodeID()
	lastAlive := c.clock.Now()
	third := c.thirdNode(t, url)
	c.watchAtOnce(t, 70, c.nodes[1], third)
	if err := third.Deregister(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := c.db.AuditEntriesAfter(t.Context(), 0, 10)
	if err != nil || len(entries) != 1 || entries[0].Action != audit.NodeLost || entries[0].Subject != lost ||
		entries[0].Kind != audit.KindService || entries[0].Node == "" ||
		entries[0].Before != fmt.Sprintf(`{"last_alive":%q}`, audit.Timestamp(lastAlive)) {
		t.Errorf("got %+v, %v, want one entry about the loss of %s", entries, err, lost)
	}
}
