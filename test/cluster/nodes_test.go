package cluster

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/cluster/clustertest"
	"parley/internal/event"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

func startTwoNodes(t *testing.T) (s *service, a, b *node) {
	t.Helper()
	return startTwoNodesWith(t, clustertest.NewRedis(t))
}

func startTwoNodesWith(t *testing.T, redis *clustertest.Redis) (s *service, a, b *node) {
	t.Helper()
	s = &service{database: storetest.Postgres(t), redis: redis.URL(), master: seal.NewKey()}
	return s, s.startNode(t), s.startNode(t)
}

// If N+1 guests request N seats through both nodes at once, exactly one is refused. The test
// repeats this a hundred times.
func TestSeats_AcrossNodes(t *testing.T) {
	t.Parallel()
	_, a, b := startTwoNodes(t)
	const seats = 3
	for round := range 100 {
		id, _, err := a.createRoom(seats, 60)
		if err != nil {
			t.Fatal(err)
		}
		seatsTaken := make([]seat, seats+1)
		var all sync.WaitGroup
		for i := range seatsTaken {
			all.Go(func() {
				n := []*node{a, b}[i%2]
				s, err := n.reserveSeat(id, seatKey(i), "")
				if err != nil {
					t.Errorf("round %d: reserve seat %d: got error %v, want none", round, i, err)
				}
				seatsTaken[i] = s
			})
		}
		all.Wait()
		in := 0
		for _, s := range seatsTaken {
			switch {
			case s.Status == http.StatusOK:
				in++
			case s.Error.Code != "room_full":
				t.Errorf("round %d: got status %d, code %s, want 200 or room_full", round, s.Status, s.Error.Code)
			}
		}
		if in != seats {
			t.Fatalf("round %d: %d guests were admitted, want %d", round, in, seats)
		}
	}
}

// A due action happens once, whichever of two nodes performs it.
func TestSchedule_OnceAcrossNodes(t *testing.T) {
	t.Parallel()
	s, a, b := startTwoNodes(t)
	db := s.openDatabase(t, t.TempDir())
	const rooms = 30
	start := time.Now().Add(20 * time.Second) // after the last creation, also on a busy machine
	var ids []string
	for i := range rooms {
		created, err := []*node{a, b}[i%2].client().CreateScheduledVideoRoomV3(t.Context(),
			client.ScheduledRoomV3Request{StartAt: start,
				MaxParticipants: 5, EmptyTimeout: 60, Metadata: client.Metadata{RoomTitle: "Title",
					WelcomeMessage: "Welcome"}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, created.RoomID)
	}
	for _, id := range ids {
		testkit.Eventually(t, "the room opens", func() bool {
			r, err := db.Room(t.Context(), id)
			return err == nil && r.State == room.Open
		})
		events, err := storetest.Events(t.Context(), db, id)
		if err != nil || len(events) != 2 || events[0].Type != event.RoomScheduled ||
			events[1].Type != event.RoomOpened {
			t.Errorf("got events %+v, %v, want scheduled and opened", events, err)
		}
		late := events[1].At.Sub(start)
		if late < 0 {
			t.Errorf("opened %s before its start", -late)
		}
		testkit.Measured(t, "a room opens after its start", late, 3*time.Second)
	}
}

// If the node that hosts a room is killed, the participants that joined through both nodes
// meet again on the other node.
func TestNode_Lost(t *testing.T) {
	t.Parallel()
	s, a, b := startTwoNodes(t)
	db := s.openDatabase(t, t.TempDir())
	id, _, err := a.createRoom(5, 60)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	participants := map[*node]*mediatest.Participant{}
	identities := map[*node]string{}
	for i, n := range []*node{a, b} {
		seat, p, err := n.join(ctx, id, seatKey(i))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Abort()
		if err := p.Publish(ctx, "microphone", mediatest.Microphone); err != nil {
			t.Fatal(err)
		}
		participants[n], identities[n] = p, seat.Identity
	}
	awaitHeard := func(n, other *node) {
		t.Helper()
		if err := participants[n].AwaitPacketsFrom(ctx, identities[other], mediatest.Microphone); err != nil {
			t.Fatalf("packets through %s: got error %v, want packets", n.url, err)
		}
	}
	awaitHeard(a, b)
	awaitHeard(b, a)

	var present []room.Attendance
	testkit.Eventually(t, "both participants have attendance", func() bool {
		present, err = db.CurrentAttendance(ctx, id)
		return err == nil && len(present) == 2
	})
	if present[0].Node != present[1].Node {
		t.Fatalf("one session is hosted by %s and %s, want one node", present[0].Node, present[1].Node)
	}
	host, other := a, b
	if present[0].Node != a.logField("node") {
		host, other = b, a
	}
	nodes, err := db.Nodes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var alive time.Time // a heartbeat of the host
	for _, n := range nodes {
		if n.ID == present[0].Node {
			alive = n.LastAlive
		}
	}
	killed := time.Now()
	host.Kill()
	for i, n := range []*node{a, b} {
		participants[n].Abort()
		for { // retries until it has joined, as a page does
			_, p, err := other.join(ctx, id, seatKey(i))
			if err == nil {
				participants[n] = p
				defer p.Abort()
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("join through the other node: got error %v, want none\n%s", err, other.Log)
			}
			time.Sleep(200 * time.Millisecond) // paces the attempts
		}
		if err := participants[n].Publish(ctx, "microphone again", mediatest.Microphone); err != nil {
			t.Fatal(err)
		}
	}
	awaitHeard(a, b)
	awaitHeard(b, a)
	t.Logf("heard again %s after the kill", time.Since(killed).Round(time.Millisecond))

	// Each participant has one leave, at the last heartbeat of the lost node.
	var all []room.Attendance
	testkit.Eventually(t, "the attendance on the lost node has an end", func() bool {
		all, err = storetest.Attendance(ctx, db, id)
		open := 0
		for _, row := range all {
			if row.LeftAt.IsZero() {
				open++
			}
		}
		return err == nil && len(all) == 4 && open == 2
	})
	for _, row := range all {
		if !row.LeftAt.IsZero() && (row.Reason != room.LeftServer || row.LeftAt.After(killed.Add(time.Millisecond)) ||
			row.LeftAt.Before(alive)) {
			t.Errorf("attendance: got %+v, want reason %s and an end from %s, a heartbeat, to %s, the kill", row,
				room.LeftServer, alive, killed)
		}
	}
}

func seatKey(i int) string { return fmt.Sprintf("seat-key-of-browser-%06d", i) }

// A node that is stopped hands over its sessions and removes itself from the cluster.
func TestNode_Stopped(t *testing.T) {
	t.Parallel()
	s, a, b := startTwoNodes(t)
	db := s.openDatabase(t, t.TempDir())
	id, _, err := a.createRoom(5, 60)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	_, p, err := a.join(ctx, id, seatKey(1))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	var present []room.Attendance
	testkit.Eventually(t, "the participant has attendance", func() bool {
		present, err = db.CurrentAttendance(ctx, id)
		return err == nil && len(present) == 1
	})
	host, other := a, b
	if present[0].Node != a.logField("node") {
		host, other = b, a
	}
	stoppedID := host.logField("node")
	host.stop()
	if !host.Log.HasLine("handing over a session") {
		t.Errorf("got the log\n%s\nwant that the other node hosts the session", host.Log)
	}
	nodes, err := db.Nodes(ctx)
	if err != nil || len(nodes) != 1 || nodes[0].ID == stoppedID {
		t.Errorf("got nodes %v, %v after a node has stopped, want the other one\n%s", nodes, err, host.Log)
	}
	all, err := storetest.Attendance(ctx, db, id)
	if err != nil || len(all) != 1 || all[0].Reason != room.LeftServer || time.Since(all[0].LeftAt) > testkit.Timeout {
		t.Errorf("got attendance %+v, %v, want one leave because of the server", all, err)
	}
	if end, err := p.AwaitEnd(ctx); err != nil || !end.Reconnect {
		t.Errorf("got end %+v, %v, want a reconnect", end, err)
	}
	_, back, err := other.join(ctx, id, seatKey(1))
	if err != nil {
		t.Fatal(err)
	}
	back.Abort()
}

// After a restart of Redis, which loses all data, participants stay in their room, and new
// participants that join through another node find them there.
func TestRedis_StartsEmpty(t *testing.T) {
	t.Parallel()
	redis := clustertest.NewRedis(t)
	_, a, b := startTwoNodesWith(t, redis)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for _, through := range []*node{a, b} { // one of the two does not host the room
		id, _, err := a.createRoom(5, 60)
		if err != nil {
			t.Fatal(err)
		}
		first, p, err := a.join(ctx, id, seatKey(1))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Abort()
		if err := p.Publish(ctx, "microphone", mediatest.Microphone); err != nil {
			t.Fatal(err)
		}
		redis.Kill()
		redis.Start()
		for _, n := range []*node{a, b} {
			testkit.Eventually(t, "the node is connected to Redis again", func() bool {
				return n.health()["redis"] == "ok"
			})
		}
		var second *mediatest.Participant
		began := time.Now()
		// The node responds with 503 for a moment, and pages retry.
		testkit.Eventually(t, "a participant joins through the other node", func() bool {
			_, second, err = through.join(ctx, id, seatKey(2))
			return err == nil
		})
		t.Logf("joined %s after Redis was back", time.Since(began).Round(time.Millisecond))
		defer second.Abort()
		if err := second.AwaitPacketsFrom(ctx, first.Identity, mediatest.Microphone); err != nil {
			t.Fatalf("packets of the first participant: got error %v, want packets", err)
		}
	}
}

// While Redis is away, the people of a node leave with the right time and reason, and its rooms end.
func TestRedis_Away(t *testing.T) {
	t.Parallel()
	for name, takeAway := range map[string]func(*clustertest.Redis){
		"stopped": (*clustertest.Redis).Kill,
		"hangs":   (*clustertest.Redis).Freeze,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := clustertest.NewRedis(t)
			s := &service{database: storetest.Postgres(t), redis: redis.URL(), master: seal.NewKey()}
			n := s.startNode(t)
			db := s.openDatabase(t, t.TempDir())
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			var ids []string
			var people []*mediatest.Participant
			for i := range 4 { // two in each of two rooms
				if i%2 == 0 {
					id, _, err := n.createRoom(5, 3600)
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, id)
				}
				_, p, err := n.join(ctx, ids[i/2], seatKey(i))
				if err != nil {
					t.Fatal(err)
				}
				defer p.Abort()
				people = append(people, p)
			}
			present := func(id string) int {
				rows, err := db.CurrentAttendance(ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				return len(rows)
			}
			for _, id := range ids {
				testkit.Eventually(t, "both people of a room are recorded", func() bool { return present(id) == 2 })
			}

			takeAway(redis)
			left := time.Now()
			people[0].Leave()
			testkit.Eventually(t, "the leave is recorded", func() bool { return present(ids[0]) == 1 })
			rows, err := storetest.Attendance(ctx, db, ids[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range rows {
				if !a.LeftAt.IsZero() && (a.Reason != room.LeftByChoice || a.LeftAt.Sub(left).Abs() > testkit.Timeout/2) {
					t.Errorf("leave %s after the request: got %+v, want one by choice at once", a.LeftAt.Sub(left), a)
				}
			}
			if seats, err := db.Seats(ctx, ids[0]); err != nil || len(seats) != 1 {
				t.Errorf("taken seats after the leave: got %+v, %v, want one", seats, err)
			}
			for _, id := range ids {
				if err := n.client().EndRoom(ctx, id); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range people[1:] {
				if end, err := p.AwaitEnd(ctx); err != nil || end.Reason != "ROOM_DELETED" {
					t.Errorf("end of a participant of an ended room: got %+v, %v, want ROOM_DELETED", end, err)
				}
			}
		})
	}
}

// A node stands still for so long that another one hosts its room for a participant who joins
// meanwhile. When it goes on, its participants come to the other node, because otherwise the
// room would be two rooms.
func TestNode_StandsStill(t *testing.T) {
	t.Parallel()
	s, a, b := startTwoNodes(t)
	db := s.openDatabase(t, t.TempDir())
	id, _, err := a.createRoom(5, 60)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	join := func(n *node, browser int) (identity string, p *mediatest.Participant) {
		t.Helper()
		testkit.Eventually(t, "a participant joins", func() bool {
			var taken seat
			taken, p, err = n.join(ctx, id, seatKey(browser))
			identity = taken.Identity
			return err == nil
		})
		t.Cleanup(p.Abort)
		if err := p.Publish(ctx, fmt.Sprint("microphone of ", n.url), mediatest.Microphone); err != nil {
			t.Fatal(err)
		}
		return identity, p
	}
	host, other := a, b
	_, first := join(a, 1)
	testkit.Eventually(t, "the participant has attendance", func() bool {
		present, err := db.CurrentAttendance(ctx, id)
		if err != nil || len(present) != 1 {
			return false
		}
		if present[0].Node != a.logField("node") {
			host, other = b, a
		}
		return true
	})
	if host == b {
		first.Abort()
		_, first = join(b, 1)
	}

	stopped := host.child()
	if err := syscall.Kill(stopped, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(8 * time.Second) // the length of the fault
	_, second := join(other, 2)
	if err := syscall.Kill(stopped, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	testkit.Eventually(t, "the node that stood still gives its participant up", first.Closed)
	identity, first := join(host, 1) // as a page does
	if err := second.AwaitPacketsFrom(ctx, identity, mediatest.Microphone); err != nil {
		t.Fatalf("packets of the participant of the other node: got error %v, want packets", err)
	}
	t.Logf("heard %s after the node went on", time.Since(began).Round(time.Millisecond))
	if end := first.End(); end != nil {
		t.Errorf("the connection after the return: got the end %+v, want none", end)
	}
}
