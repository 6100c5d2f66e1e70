package room_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// create creates a room through the first node.
func (c *cluster) create(t testing.TB, q room.Spec) (id string) {
	t.Helper()
	q.Type, q.CreatorName, q.Title = room.Video, "Ada", "Title"
	created, err := c.nodes[0].CreateQuick(context.Background(), c.project, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	return created.ID
}

// enter reserves a seat through a node, connects and delivers the report.
func (c *cluster) enter(t testing.TB, node int, id string, v room.JoinRequest, sid string) room.Admission {
	t.Helper()
	a, err := c.nodes[node].ReserveSeat(context.Background(), id, v)
	for fault.Is(err, fault.Unavailable) { // a slow disk: ask again, as the page does
		a, err = c.nodes[node].ReserveSeat(context.Background(), id, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !c.connect(a.SessionID, a.Seat.ID, sid) {
		t.Fatalf("connect to %s: got refused, want it open", a.SessionID)
	}
	c.deliver()
	return a
}

func (c *cluster) attendance(t testing.TB, id string) []room.Attendance {
	t.Helper()
	rows, err := storetest.Attendance(context.Background(), c.db, id)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func (c *cluster) nodeIDs(t testing.TB) (ids []string) {
	t.Helper()
	nodes, err := c.db.Nodes(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		ids = append(ids, n.ID)
	}
	slices.Sort(ids)
	return ids
}

// A node without heartbeats is considered lost after four seconds. The attendance that
// it recorded ends at its last heartbeat, and participants return to their seats.
func TestFailover_LostNode(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	id := c.create(t, room.Spec{MaxParticipants: 1, EmptyTimeout: 10 * time.Second})
	a := c.enter(t, 0, id, guest(1), "PA_1")
	c.tick(0, 1)
	alive := c.clock.Now()
	c.stopNode(0)
	for range int(room.NodeTimeout / time.Second) {
		if rows := c.attendance(t, id); !rows[0].LeftAt.IsZero() {
			t.Errorf("got the node lost after %s, want %s", c.clock.Now().Sub(alive), room.NodeTimeout)
		}
		c.tick(1)
	}
	if rows := c.attendance(t, id); len(rows) != 1 || !rows[0].LeftAt.Equal(alive) || rows[0].Reason != room.LeftServer {
		t.Errorf("got %+v, want one attendance that the server ended at %s", rows, alive)
	}
	if !(nodeMedia{c, 1}).IsLocal(a.SessionID) {
		t.Error("got the session not on the other node, want it live there")
	}
	c.tick(1)
	if b := c.enter(t, 1, id, guest(1), "PA_2"); b.Seat.ID != a.Seat.ID || b.SessionID != a.SessionID {
		t.Errorf("got %+v, want the seat and the session of %+v", b, a)
	}
	// The lost node is not deleted at once, because it may only be slow.
	for range 61 {
		c.tick(1)
	}
	if got := c.nodeIDs(t); !slices.Equal(got, []string{c.nodes[1].NodeID()}) {
		t.Errorf("got the nodes %v, want only %s", got, c.nodes[1].NodeID())
	}
}

// A page may be back through another node before its own counts as lost. Its attendance ends
// at the last heartbeat of the lost node then, too.
func TestFailover_BackBeforeNodeIsLost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	id := c.create(t, room.Spec{MaxParticipants: 2})
	c.enter(t, 0, id, guest(1), "PA_1")
	c.tick(0, 1)
	c.tick(0, 1)
	alive := c.clock.Now()
	c.stopNode(0)
	for range 3 {
		c.tick(1)
	}
	c.enter(t, 1, id, guest(1), "PA_2")
	for range 3 {
		c.tick(1)
	}
	rows := c.attendance(t, id)
	if len(rows) != 2 || !rows[0].LeftAt.Equal(alive) || rows[0].Reason != room.LeftServer || !rows[1].LeftAt.IsZero() {
		t.Errorf("got %+v, want the first ended by the server at %s, and the second present", rows, alive)
	}
}

// The loss of a node does not affect participants of the same room on other nodes.
func TestFailover_KeepsParticipantsOfOtherNodes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	ctx := context.Background()
	id := c.create(t, room.Spec{MaxParticipants: 2})
	cohost, _ := c.enterInvited(t, 0, id, 1, "PA_1")
	if _, err := c.nodes[0].OpenBreakouts(ctx, id, cohost.SeatKey,
		room.OpenBreakoutsRequest{Names: []string{"One"}}); err != nil {
		t.Fatal(err)
	}
	old := c.enter(t, 0, id, guest(2), "PA_2")
	if err := c.nodes[0].Move(ctx, id, guest(2).SeatKey, "", 1); err != nil {
		t.Fatal(err)
	}
	c.enter(t, 1, id, guest(2), "PA_3")
	c.disconnect(old.SessionID, old.Seat.ID, room.LeftByChoice)
	c.deliver()
	c.stopNode(0)
	for range 6 {
		c.tick(1)
	}
	present, err := c.db.CurrentAttendance(ctx, id)
	if err != nil || len(present) != 1 || present[0].Connection != "PA_3" {
		t.Errorf("got the current attendance %+v, %v, want PA_3 only", present, err)
	}
}

// A node that was only slow records the connections of its participants again, with
// one current row for each participant and one event for each row.
func TestFailover_SlowNodeRecovers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	ctx := context.Background()
	id := c.create(t, room.Spec{MaxParticipants: 2})
	stays, goes := c.enter(t, 0, id, guest(1), "PA_1"), c.enter(t, 0, id, guest(2), "PA_2")
	for range 6 {
		c.tick(1)
	}
	for _, a := range c.attendance(t, id) {
		if a.Reason != room.LeftServer {
			t.Errorf("got %+v, want the leave reason %s", a, room.LeftServer)
		}
	}
	c.tick(0, 1)
	c.nodes[0].Reconcile(ctx) // the first reconciliation may run before pending reports arrive
	if rows := c.attendance(t, id); len(rows) != 2 {
		t.Errorf("after the first reconciliation: got %+v, want two", rows)
	}
	c.clock.advance(10 * time.Second)
	for range 3 {
		c.nodes[0].Reconcile(ctx)
		c.nodes[1].Reconcile(ctx)
	}
	present, err := c.db.CurrentAttendance(ctx, id)
	if err != nil || len(present) != 2 {
		t.Fatalf("got the current attendance %+v, %v, want two", present, err)
	}
	// The engine reports the original connection id.
	c.disconnect(goes.SessionID, goes.Seat.ID, room.LeftByChoice)
	c.deliver()
	present, err = c.db.CurrentAttendance(ctx, id)
	if err != nil || len(present) != 1 || present[0].SeatID != stays.Seat.ID {
		t.Errorf("got the current attendance %+v, %v, want only the seat %s", present, err, stays.Seat.ID)
	}
	events, err := storetest.Events(ctx, c.db, id)
	if err != nil {
		t.Fatal(err)
	}
	count := map[event.Type]int{}
	for _, e := range events {
		count[e.Type]++
	}
	if count[event.ParticipantJoined] != 4 || count[event.ParticipantLeft] != 3 || count[event.RoomStarted] != 1 {
		t.Errorf("got the counts %v, want 4 joins, 3 leaves and 1 start", count)
	}
}

// A node stands still so long that the other takes over, and a participant connects there.
// When the first node goes on, it still has the old connection. It closes it and writes no
// visit, neither while the participant is present nor after they have left.
func TestFailover_NodeThatStoodStill(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]bool{"the participant stays": false, "the participant has left": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, storetest.SQLite(t))
			id := c.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: time.Hour})
			c.enter(t, 0, id, guest(1), "PA_1")
			c.enter(t, 0, id, guest(2), "PA_2") // has not connected again when the node goes on
			c.tick(0, 1)
			c.forget(0)
			for range 6 {
				c.tick(1)
			}
			a := c.enter(t, 1, id, guest(1), "PA_3")
			if leaves {
				c.tick(1)
				c.disconnect(a.SessionID, a.Seat.ID, room.LeftByChoice)
				c.deliver()
			}
			for range 16 {
				c.tick(1)
			}
			for range 3 {
				c.tick(0, 1)
				for _, n := range c.nodes {
					n.Reconcile(t.Context())
				}
				c.deliver()
				c.clock.advance(10 * time.Second)
			}
			var got []string
			for _, row := range c.attendance(t, id) {
				connection, _, _ := strings.Cut(row.Connection, "/")
				got = append(got, fmt.Sprint(connection, " ", row.LeftAt.IsZero()))
			}
			want := []string{"PA_1 false", "PA_2 false", fmt.Sprint("PA_3 ", !leaves), "PA_2 true"}
			if !slices.Equal(got, want) {
				t.Errorf("got the connections %v, want %v, each with whether it is current", got, want)
			}
			connected := []string{"PA_2", "PA_3"}
			if leaves {
				connected = connected[:1]
			}
			if in := c.connectionIDs(id); !slices.Equal(in, connected) {
				t.Errorf("got %v connected, want %v", in, connected)
			}
		})
	}
}

// A room ends while a node stands still that hosts its session. When the node goes on, it closes
// the session, which the other node has opened again and closed.
func TestFailover_RoomEndsWhileNodeStandsStill(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	id := c.create(t, room.Spec{MaxParticipants: 2})
	c.enter(t, 0, id, guest(1), "PA_1")
	c.tick(0, 1)
	c.forget(0)
	for range 6 {
		c.tick(1)
	}
	if _, err := c.nodes[1].End(t.Context(), id, "api"); err != nil {
		t.Fatal(err)
	}
	c.tick(1)
	if in := c.connectionIDs(id); !slices.Equal(in, []string{"PA_1"}) {
		t.Fatalf("before the node goes on: got %v connected, want PA_1", in)
	}
	c.tick(0, 1)
	c.nodes[0].EnforcePlacement(t.Context())
	if in := c.connectionIDs(id); len(in) > 0 {
		t.Errorf("got %v connected, want none", in)
	}
}

// While the database is unavailable no node can write heartbeats, and none is
// considered lost.
func TestFailover_NotAfterDatabaseOutage(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	id := c.create(t, room.Spec{MaxParticipants: 2})
	c.enter(t, 0, id, guest(1), "PA_1")
	c.tick(0, 1)
	c.clock.advance(time.Minute) // nothing could be read or written
	c.tick(1)                    // this one is the first to get through
	c.tick(0, 1)
	if rows := c.attendance(t, id); !rows[0].LeftAt.IsZero() {
		t.Errorf("got %+v, want attendance that has not ended", rows)
	}
}

// A node that stops is deleted. Participants whose end its engine did not report have left with it.
func TestDeregister(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	ctx := context.Background()
	id := c.create(t, room.Spec{MaxParticipants: 2})
	a := c.enter(t, 0, id, guest(1), "PA_1")
	onOther := c.create(t, room.Spec{MaxParticipants: 2})
	c.enter(t, 1, onOther, guest(1), "PA_2")
	c.clock.advance(time.Minute)
	if err := c.nodes[0].Deregister(ctx); err != nil {
		t.Fatal(err)
	}
	left := c.attendance(t, id)
	if len(left) != 1 || left[0].SeatID != a.Seat.ID || !left[0].LeftAt.Equal(c.clock.Now()) ||
		left[0].Reason != room.LeftServer {
		t.Errorf("attendance on the node: got %+v, want one leave at %s, %s", left, c.clock.Now(), room.LeftServer)
	}
	if present := c.attendance(t, onOther); len(present) != 1 || !present[0].LeftAt.IsZero() {
		t.Errorf("attendance on the other node: got %+v, want one without an end", present)
	}
	if got := c.nodeIDs(t); !slices.Equal(got, []string{c.nodes[1].NodeID()}) {
		t.Errorf("got the nodes %v, want only %s", got, c.nodes[1].NodeID())
	}
}

// A participant that the engine of a node sends away because the node stops has not lost the connection.
func TestReconcile_NotWhileStopping(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 3})
	a := f.enter(t, id, guest(1), "PA_1")
	f.BeginStop()
	f.engine.disconnect(a.SessionID, a.Seat.ID) // the report of the engine is on its way
	f.Reconcile(t.Context())
	f.ParticipantLeft(a.SessionID, a.Seat.ID, "PA_1", f.clock.Now(), room.LeftServer)
	rows, err := storetest.Attendance(t.Context(), f.db, id)
	if err != nil || len(rows) != 1 || rows[0].Reason != room.LeftServer {
		t.Errorf("got attendance %+v, %v, want one leave because of the server", rows, err)
	}
}

// A node that is killed while it starts loses nobody: the others know it before it hosts anybody, and take over.
func TestFailover_NodeKilledWhileStarting(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	id := c.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: time.Hour})
	c.stopNode(0)
	starting := room.NewService(c.db, nodeMedia{c, 0}, func() string { return "" }, c.clock.Now, storetest.NewID,
		discardLogger, room.Options{Clustered: true})
	c.nodes[0] = starting
	if err := starting.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	joined := c.clock.Now()
	c.enter(t, 0, id, guest(1), "PA_1")
	for range 6 {
		c.tick(1)
	}
	rows := c.attendance(t, id)
	if len(rows) != 1 || !rows[0].LeftAt.Equal(joined) || rows[0].Reason != room.LeftServer {
		t.Errorf("got attendance %+v, want one that the server ended at %s", rows, joined)
	}
}

// A node that takes long to recover is not lost meanwhile.
func TestRecover_SendsHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{db: storetest.SQLite(t), clock: &clock{follow: true}}
		f.project = storetest.Project(t, f.db)
		f.restart()
		if err := f.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		id, _ := f.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: time.Hour})
		f.enter(t, id, guest(1), "PA_1")
		alive := time.Hour // ago
		s := room.NewService(f.db, slowMedia{f.engine, func() {
			time.Sleep(time.Minute)
			synctest.Wait()
			nodes, err := f.db.Nodes(t.Context())
			if err != nil || len(nodes) == 0 {
				t.Errorf("nodes during the start: got %+v, error %v, want this one", nodes, err)
				return
			}
			for _, n := range nodes {
				alive = min(alive, f.clock.Now().Sub(n.LastAlive))
			}
		}}, func() string { return "" }, f.clock.Now, storetest.NewID, discardLogger, room.Options{Clustered: true})
		if err := s.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if alive >= room.NodeTimeout {
			t.Errorf("heartbeat during the start: got one %s ago, want one in the last %s", alive, room.NodeTimeout)
		}
	})
}

// reopenDB opens a database a second time, like another process.
func reopenDB(t testing.TB, url string) *store.DB {
	t.Helper()
	return storetest.Open(t, url, "")
}
