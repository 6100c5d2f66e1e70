package room_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// Rooms are handed over evenly, the last one at the end of the time.
func TestDrainBatch(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for _, c := range []struct {
		done, left     int
		elapsed, whole time.Duration
		want           int
	}{
		{0, 0, 0, time.Minute, 0},
		{0, 600, 0, time.Minute, 10},
		{10, 590, second, time.Minute, 10},
		{0, 5, second, 10 * time.Minute, 0},
		{0, 5, 2 * time.Minute, 10 * time.Minute, 1},
		{4, 1, 9 * time.Minute, 10 * time.Minute, 0},
		{4, 1, 10*time.Minute - second, 10 * time.Minute, 1},
		{0, 3, 0, 0, 3},
		{0, 3, time.Hour, time.Minute, 3},
		{0, 3, -5 * second, 0, 3}, // the clock of this node is behind
		{0, 3, -5 * second, time.Minute, 0},
		{9, 1, second, time.Minute, 0},
	} {
		if got := room.DrainBatch(c.done, c.left, c.elapsed, c.whole); got != c.want {
			t.Errorf("%d of %d rooms after %s of %s: got %d now, want %d", c.done, c.done+c.left, c.elapsed, c.whole, got,
				c.want)
		}
	}
}

// enterRooms creates rooms on the first node, with one person more in each, and returns their sessions.
func (c *cluster) enterRooms(t *testing.T, n int) (sessions []string) {
	t.Helper()
	for people := range n {
		id := c.create(t, room.Spec{MaxParticipants: n + 1})
		var a room.Admission
		for person := range people + 1 {
			a = c.enter(t, 0, id, guest(person), "PA_"+id+string(rune('a'+person)))
		}
		sessions = append(sessions, a.SessionID)
	}
	return sessions
}

// operator returns a context with what the audit log has about a call of an operator.
func operator(t *testing.T) context.Context {
	return audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindToken})
}

// drain drains the first node, through the second.
func (c *cluster) drain(t *testing.T, within time.Duration) {
	t.Helper()
	if _, err := c.nodes[1].DrainNode(operator(t), c.nodes[0].NodeID(), within); err != nil {
		t.Fatal(err)
	}
}

// tickDrain advances the clock by a second and runs the work of both nodes.
func (c *cluster) tickDrain(t *testing.T) {
	t.Helper()
	c.tick(0, 1)
	c.nodes[0].HandOver(t.Context())
}

// A node that is draining hands over small rooms first, one after another. A drain that is cancelled leaves the
// others where they are.
func TestDrain_SmallRoomsFirst(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	sessions := c.enterRooms(t, 4)
	c.drain(t, 5*time.Second)
	c.tickDrain(t)
	if !c.draining[0] || !c.nodes[0].Draining() {
		t.Error("the node: got not draining, want that it hosts no new sessions")
	}
	for range 3 {
		c.tickDrain(t)
	}
	if want := sessions[:3]; !slices.Equal(c.handedOver, want) {
		t.Errorf("after 4 of 5 seconds: got %v, want the smallest ones, %v", c.handedOver, want)
	}
	if _, err := c.nodes[1].CancelDrain(operator(t), c.nodes[0].NodeID()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		c.tickDrain(t)
	}
	if c.draining[0] || c.nodes[0].Draining() || len(c.handedOver) != 3 {
		t.Errorf("after the drain was cancelled: got draining: %v, %v, want neither", c.draining[0], c.handedOver)
	}
	if _, err := c.nodes[1].CancelDrain(operator(t), c.nodes[0].NodeID()); err != nil {
		t.Fatal(err)
	}
	entries, err := c.db.AuditEntriesAfter(t.Context(), 0, 10)
	if err != nil || len(entries) != 2 || entries[0].Action != audit.NodeDraining ||
		entries[1].Action != audit.NodeDrainCancelled || entries[1].After != `{"draining":false}` {
		t.Errorf("got the audit entries %+v, %v, want the drain and that it was cancelled, once", entries, err)
	}
}

// A room and its breakout rooms are handed over together, so that people can move between them all the time. The other
// node has everybody where they were.
func TestDrain_BreakoutRooms(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	const people = 3
	id := c.create(t, room.Spec{MaxParticipants: people, BreakoutRooms: 2})
	cohost, first := c.enterInvited(t, 0, id, 1, "PA_1")
	visitors, before := []room.JoinRequest{cohost, guest(2), guest(3)}, []room.Admission{first}
	for _, sid := range []string{"PA_2", "PA_3"} {
		before = append(before, c.enter(t, 0, id, visitors[len(before)], sid))
	}
	if _, err := c.nodes[0].OpenBreakouts(t.Context(), id, cohost.SeatKey,
		room.OpenBreakoutsRequest{Names: []string{"One", "Two"}, DistributeEvenly: true}); err != nil {
		t.Fatal(err)
	}
	sessions := []string{first.SessionID}
	for n := 1; n < people; n++ { // both guests move
		left := before[n]
		before[n] = c.enter(t, 0, id, visitors[n], "PA_breakout_"+left.Seat.ID)
		c.disconnect(left.SessionID, left.Seat.ID, room.LeftByChoice)
		sessions = append(sessions, before[n].SessionID)
	}
	c.deliver()
	smaller := c.enterRooms(t, 2)[1] // with fewer people than the room, and more than each of its sessions

	c.drain(t, 9*time.Second)
	var together [][]string
	for range 10 {
		known := len(c.handedOver)
		c.tickDrain(t)
		if moved := c.handedOver[known:]; len(moved) > 0 {
			together = append(together, slices.Sorted(slices.Values(moved)))
		}
	}
	slices.Sort(sessions)
	if len(together) != 3 || !slices.Equal(together[1], []string{smaller}) || !slices.Equal(together[2], sessions) {
		t.Errorf("got handed over %v, want a room at a time, and at the end %v", together, sessions)
	}

	c.deliver()
	_, err := c.nodes[1].ReserveSeat(t.Context(), id, guest(9))
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 3 seats are taken")
	for n, v := range visitors {
		after := c.enter(t, 1, id, v, "PA_after_"+before[n].Seat.ID)
		if after.Seat.ID != before[n].Seat.ID || after.SessionID != before[n].SessionID || after.Breakout.N != n {
			t.Errorf("person %d: got seat %s in session %s, breakout room %d, want seat %s in session %s, breakout room %d", n+1,
				after.Seat.ID, after.SessionID, after.Breakout.N, before[n].Seat.ID, before[n].SessionID, n)
		}
	}
	reasons := map[room.LeaveReason]int{}
	for _, row := range c.attendance(t, id) {
		reasons[row.Reason]++
		if row.Reason == "" && row.Node != c.nodes[1].NodeID() {
			t.Errorf("got the current attendance %+v, want the second node", row)
		}
	}
	if want := map[room.LeaveReason]int{"": people, room.LeftServer: people, room.LeftMoved: people - 1}; !maps.Equal(
		reasons, want) {
		t.Errorf("got the attendance by the reason of its end %v, want %v", reasons, want)
	}
}

// A room that cannot be handed over does not keep the others, and is tried again.
func TestDrain_FailingRoom(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	sessions := c.enterRooms(t, 3)
	c.handOverErr = map[string]error{sessions[0]: fault.New(fault.Unavailable, "unavailable", "Redis does not respond")}
	c.drain(t, 0)
	c.tickDrain(t)
	if want := sessions[1:]; !slices.Equal(c.handedOver, want) {
		t.Errorf("got %v, want the others, %v", c.handedOver, want)
	}
	c.handOverErr = nil
	c.tickDrain(t)
	if len(c.handedOver) != 3 {
		t.Errorf("later: got %v, want all rooms", c.handedOver)
	}
}

// A drain waits as long as no other node can host a meeting, and the node goes on to host new ones.
func TestDrain_WaitsForAnotherNode(t *testing.T) {
	t.Parallel()
	const other = 1
	for name, c := range map[string]struct {
		prevent, allow func(t *testing.T, c *cluster)
		retry          time.Duration
	}{
		"the other node is draining": {
			func(t *testing.T, c *cluster) {
				err := c.db.Write(t.Context(), func(ctx context.Context) error {
					_, _, err := c.db.SetDrain(ctx, c.nodes[other].NodeID(), room.Drain{StartedAt: c.clock.Now(), By: c.clock.Now()})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, c *cluster) {
				if _, err := c.nodes[0].CancelDrain(t.Context(), c.nodes[other].NodeID()); err != nil {
					t.Fatal(err)
				}
			}, 0},
		"the other node has no Redis": {
			func(_ *testing.T, c *cluster) { c.redisDown[other].Store(true) },
			func(_ *testing.T, c *cluster) { c.redisDown[other].Store(false) }, 0},
		"no node in Redis": {
			func(_ *testing.T, c *cluster) {
				c.handOverErr = map[string]error{}
				for session := range c.sessions {
					c.handOverErr[session] = fault.New(fault.Conflict, "no_other_node", "no other node")
				}
			},
			func(_ *testing.T, c *cluster) { c.handOverErr = nil }, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cl := newCluster(t, storetest.SQLite(t))
			cl.tick(0, 1)
			cl.enterRooms(t, 2)
			cl.drain(t, 0)
			c.prevent(t, cl)
			for range 3 {
				cl.tickDrain(t)
			}
			if len(cl.handedOver) > 0 || cl.draining[0] || cl.nodes[0].Draining() {
				t.Errorf("got draining: %v, %v, want neither", cl.draining[0], cl.handedOver)
			}
			c.allow(t, cl)
			cl.clock.advance(c.retry)
			for range 3 {
				cl.tickDrain(t)
			}
			if len(cl.handedOver) != 2 || !cl.draining[0] {
				t.Errorf("later: got draining: %v, %v, want both rooms", cl.draining[0], cl.handedOver)
			}
		})
	}
}

// A node hands over nothing while it cannot read the database.
func TestDrain_PausesWithoutDatabase(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	c.enterRooms(t, 1)
	c.drain(t, 5*time.Second)
	c.tickDrain(t)
	c.clock.advance(time.Minute)
	c.nodes[0].HandOver(t.Context())
	if len(c.handedOver) > 0 {
		t.Errorf("got %v, want nothing without the database", c.handedOver)
	}
	c.tickDrain(t)
	c.tickDrain(t)
	if len(c.handedOver) != 1 {
		t.Errorf("later: got %v, want the room", c.handedOver)
	}
}

// A drain is refused for a node that is unknown, lost or of an earlier release, and for the last node that hosts.
func TestDrainNode_Refused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	c.tick(0, 1)
	refused := func(node, code string) {
		t.Helper()
		if _, err := c.nodes[1].DrainNode(t.Context(), node, 0); err == nil || fault.From(err).Code != code {
			t.Errorf("drain %s: got %v, want %s", node, err, code)
		}
	}
	refused("x", "node_not_found")
	c.drain(t, 0)
	refused(c.nodes[1].NodeID(), "no_other_node")
	for range int(room.NodeTimeout/time.Second) + 2 {
		c.tick(1)
	}
	refused(c.nodes[0].NodeID(), "node_lost")

	c.tick(0, 1)
	c.tick(0, 1)
	if err := c.db.Write(t.Context(), func(ctx context.Context) error {
		return c.db.Exec(ctx, "UPDATE nodes SET schema_version = 38 WHERE id = $1", c.nodes[0].NodeID())
	}); err != nil {
		t.Fatal(err)
	}
	refused(c.nodes[0].NodeID(), "node_too_old")
}

// The node that hosts a session now may report a join before the earlier one reports its leave. The attendance has
// one interruption, which the server caused.
func TestDrain_LateReports(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	id := c.create(t, room.Spec{MaxParticipants: 3})
	a := c.enter(t, 0, id, guest(1), "PA_1")
	b, err := c.nodes[0].ReserveSeat(t.Context(), id, guest(2))
	if err != nil || !c.connect(b.SessionID, b.Seat.ID, "PA_2") {
		t.Fatal(err)
	}
	c.clock.advance(time.Second)
	c.nodes[0].HandOverAll(t.Context())
	late := c.reports // a join of the second person, and the leaves of both
	c.reports = nil
	c.clock.advance(time.Second)
	c.nodes[0].Reconcile(t.Context())
	c.enter(t, 1, id, guest(1), "PA_3")
	c.enter(t, 1, id, guest(2), "PA_4")
	c.reports = late
	c.deliver()
	c.nodes[0].Reconcile(t.Context())
	c.deliver()

	rows := c.attendance(t, id)
	slices.SortFunc(rows, func(a, b room.Attendance) int { return a.JoinedAt.Compare(b.JoinedAt) })
	if len(rows) != 3 || rows[0].SeatID != a.Seat.ID || rows[0].Reason != room.LeftServer ||
		rows[1].LeftAt != (time.Time{}) || rows[2].LeftAt != (time.Time{}) {
		t.Errorf("got the attendance %+v, want one row that the server ended, and two current ones", rows)
	}
	for _, row := range rows[1:] {
		if row.Node != c.nodes[1].NodeID() {
			t.Errorf("got the attendance %+v, want the second node", row)
		}
	}
}

// A node that is draining ends its relays to other nodes evenly, once a load balancer knows that it drains. It leaves
// those that the load balancer sends later.
func TestDrain_Relays(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	for range 4 {
		c.relays = append(c.relays, c.clock.Now())
	}
	relayed := func() int {
		t.Helper()
		nodes, err := c.nodes[1].NodeStatuses(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(nodes, func(n room.NodeStatus) bool { return n.ID == c.nodes[0].NodeID() })
		return nodes[i].RelayedPeople
	}
	c.tick(0, 1)
	if got := relayed(); got != 4 {
		t.Errorf("before the drain: got %d relayed people, want 4", got)
	}
	const within = room.RelayDelay + 4*time.Second
	c.drain(t, within)
	var left []int
	for range int(within/time.Second) + 1 {
		c.tick(0, 1)
		c.nodes[0].EndRelays(t.Context())
		left = append(left, len(c.relays))
	}
	want := append(slices.Repeat([]int{4}, int(room.RelayDelay/time.Second)), 3, 2, 1, 0, 0)
	if !slices.Equal(left, want) {
		t.Errorf("relays by seconds: got %v, want %v", left, want)
	}
	c.relays = append(c.relays, c.clock.Now())
	c.tick(0, 1)
	c.nodes[0].EndRelays(t.Context())
	c.tick(0, 1)
	if got := relayed(); got != 1 || len(c.relays) != 1 {
		t.Errorf("a relay that began after the drain: got %d relayed people, want 1", got)
	}
}

// A load balancer that notices a drain late sends people to the node for a while. Their relays end in the last seconds
// of the drain. Those that begin still later stay, because they would only come back.
func TestDrain_RelaysOfSlowLoadBalancer(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	const within = time.Minute
	c.drain(t, within)
	var late time.Time
	left := map[int]int{} // by seconds
	for second := range int(within/time.Second) + 5 {
		if second == 30 || second == 55 {
			late = c.clock.Now()
			c.relays = append(c.relays, late)
		}
		c.tick(0, 1)
		c.nodes[0].EndRelays(t.Context())
		left[second] = len(c.relays)
	}
	if left[45] != 1 || left[64] != 1 || !c.relays[0].Equal(late) {
		t.Errorf("got the relays %v, %d of them after 45 s, want the one that began at %s, and 1", c.relays, left[45], late)
	}
}

// While a drain waits for another node, the load balancer sends people to the node. Their relays end, too, once the
// node drains and the load balancer knows that.
func TestDrain_RelaysAfterWaiting(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	c.redisDown[1].Store(true)
	c.tick(0, 1)
	c.relays = append(c.relays, c.clock.Now())
	if err := c.db.Write(t.Context(), func(ctx context.Context) error {
		_, _, err := c.db.SetDrain(ctx, c.nodes[0].NodeID(), room.Drain{StartedAt: c.clock.Now(), By: c.clock.Now()})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	seconds := func(n int) {
		for range n {
			c.tick(0, 1)
			c.nodes[0].EndRelays(t.Context())
		}
	}
	seconds(20)
	c.relays = append(c.relays, c.clock.Now())
	if len(c.relays) != 2 || c.nodes[0].Draining() {
		t.Fatalf("while no other node hosts: got %d relays, want 2 on a node that waits", len(c.relays))
	}
	c.redisDown[1].Store(false)
	seconds(5)
	if len(c.relays) != 2 || !c.nodes[0].Draining() {
		t.Errorf("5 s after another node hosts: got %d relays, want 2 on a node that drains", len(c.relays))
	}
	seconds(int(room.RelayDelay / time.Second))
	if len(c.relays) != 0 {
		t.Errorf("later: got %d relays, want none", len(c.relays))
	}
}

// A node that is asked to stop drains: rooms leave one after another, the other node knows, and nobody can change it.
func TestDrainToStop(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	const rooms = 8
	sessions := c.enterRooms(t, rooms)
	begun, err := c.nodes[0].DrainToStop(t.Context(), time.Hour)
	if err != nil || !begun || !c.nodes[0].HandingOver() || !c.draining[0] {
		t.Fatalf("got begun: %t, %v, handing over: %t, want that the node drains", begun, err, c.nodes[0].HandingOver())
	}
	if _, err := c.nodes[0].DrainNode(operator(t), c.nodes[1].NodeID(), 0); err == nil ||
		fault.From(err).Code != "no_other_node" {
		t.Errorf("drain the other node: got %v, want no_other_node", err)
	}
	for name, change := range map[string]func() (room.NodeStatus, error){
		"cancel": func() (room.NodeStatus, error) { return c.nodes[1].CancelDrain(operator(t), c.nodes[0].NodeID()) },
		"drain":  func() (room.NodeStatus, error) { return c.nodes[1].DrainNode(operator(t), c.nodes[0].NodeID(), 0) },
	} {
		if _, err := change(); err == nil || fault.From(err).Code != "node_stopping" {
			t.Errorf("%s: got %v, want node_stopping", name, err)
		}
	}
	nodes, err := c.nodes[1].NodeStatuses(t.Context())
	if i := slices.IndexFunc(nodes, func(n room.NodeStatus) bool { return n.Drain.Stopping() }); err != nil || i < 0 ||
		nodes[i].ID != c.nodes[0].NodeID() {
		t.Errorf("after that: got the nodes %+v, %v, want the first one stopping", nodes, err)
	}
	var left []int
	for range rooms/2 + 1 {
		if !c.nodes[0].HandingOver() {
			break
		}
		c.tickDrain(t)
		left = append(left, rooms-len(c.handedOver))
	}
	if want := []int{4, 2, 0}; !slices.Equal(left, want) || !slices.Equal(c.handedOver, sessions) {
		t.Errorf("got %v rooms left by seconds, %v, want %v and all sessions", left, c.handedOver, want)
	}
}

// The rooms of a node that is asked to stop leave faster if the time is too short for the usual pace.
func TestDrainToStop_ShortTime(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	c.enterRooms(t, 8)
	if begun, err := c.nodes[0].DrainToStop(t.Context(), time.Second); err != nil || !begun {
		t.Fatalf("got begun: %t, %v, want that the node drains", begun, err)
	}
	c.tickDrain(t)
	if len(c.handedOver) != 8 || c.nodes[0].HandingOver() {
		t.Errorf("got %v, want all sessions in the first second", c.handedOver)
	}
}

// A node without a session also drains, so that a load balancer notices that it stops.
func TestDrainToStop_WithoutSession(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	c.tick(0, 1)
	node := c.nodes[0]
	begun, err := node.DrainToStop(t.Context(), time.Minute)
	if err != nil || !begun || !node.Draining() || node.HandingOver() {
		t.Errorf("got begun: %t, %v, draining: %t, handing over: %t, want that it drains and has nothing to hand over", begun,
			err, node.Draining(), node.HandingOver())
	}
}

// A node that is asked to stop does not wait if no other node can take a session.
func TestDrainToStop_Nothing(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, c *cluster){
		"no Redis": func(t *testing.T, c *cluster) {
			c.enterRooms(t, 1)
			c.redisDown[0].Store(true)
		},
		"the other node has no Redis": func(t *testing.T, c *cluster) {
			c.enterRooms(t, 1)
			c.redisDown[1].Store(true)
			c.tick(0, 1)
		},
		"the other node stops, too": func(t *testing.T, c *cluster) {
			id := c.create(t, room.Spec{MaxParticipants: 2})
			c.enter(t, 1, id, guest(1), "PA_other")
			if begun, err := c.nodes[1].DrainToStop(t.Context(), time.Minute); err != nil || !begun {
				t.Fatalf("got begun: %t, %v, want that the other node drains", begun, err)
			}
			c.enterRooms(t, 1)
		},
		"the other node is lost": func(t *testing.T, c *cluster) {
			c.enterRooms(t, 1)
			for range int(room.NodeTimeout/time.Second) + 1 {
				c.tick(0)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, storetest.SQLite(t))
			c.tick(0, 1)
			c.tick(0, 1)
			prepare(t, c)
			if begun, err := c.nodes[0].DrainToStop(t.Context(), time.Minute); err != nil || begun || c.nodes[0].HandingOver() {
				t.Errorf("got begun: %t, %v, handing over: %t, want neither", begun, err, c.nodes[0].HandingOver())
			}
		})
	}
}

// A node that is asked to stop waits no longer when the last other node stops, too.
func TestDrainToStop_OtherNodeGone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.tick(0, 1)
	c.enterRooms(t, 8)
	if begun, err := c.nodes[0].DrainToStop(t.Context(), time.Hour); err != nil || !begun {
		t.Fatalf("got begun: %t, %v, want that the node drains", begun, err)
	}
	c.tickDrain(t)
	if !c.nodes[0].HandingOver() {
		t.Fatalf("got not handing over after %d rooms, want that it goes on", len(c.handedOver))
	}
	if err := c.nodes[1].Deregister(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.tick(0)
	if c.nodes[0].HandingOver() {
		t.Error("without the other node: got handing over, want that it ends")
	}
}
