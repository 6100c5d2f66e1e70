package cluster

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"parley/client"
	"parley/internal/cluster/clustertest"
	"parley/internal/event"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store/storetest"
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

// Of N+1 who ask for N seats through both nodes at once, exactly one is
// refused, a hundred times.
func TestSeats_AcrossNodes(t *testing.T) {
	t.Parallel()
	_, a, b := startTwoNodes(t)
	const seats = 3
	for round := range 100 {
		id, _, err := a.createRoom(seats, 60)
		if err != nil {
			t.Fatal(err)
		}
		answers := make([]seat, seats+1)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				at := []*node{a, b}[i%2]
				s, err := at.takeSeat(id, seatKey(i), "")
				if err != nil {
					t.Error(err)
				}
				answers[i] = s
			})
		}
		all.Wait()
		in := 0
		for _, s := range answers {
			switch {
			case s.Status == http.StatusOK:
				in++
			case s.Error.Code != "room_full":
				t.Errorf("round %d: %d %s", round, s.Status, s.Error.Code)
			}
		}
		if in != seats {
			t.Fatalf("round %d: %d were let in on %d seats", round, in, seats)
		}
	}
}

// What is due happens once, whoever of two does it.
func TestSchedule_OnceAcrossNodes(t *testing.T) {
	t.Parallel()
	s, a, b := startTwoNodes(t)
	db := s.openDatabase(t, t.TempDir())
	const rooms = 30
	start := time.Now().Add(3 * time.Second)
	var ids []string
	for i := range rooms {
		made, err := []*node{a, b}[i%2].client().CreateScheduledVideoRoomV3(t.Context(), client.ScheduledRoomV3Request{StartAt: start,
			MaxParticipants: 5, EmptyTimeout: 60, Metadata: client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.RoomID)
	}
	for _, id := range ids {
		eventually(t, "the room opens", func() bool {
			r, err := db.Room(t.Context(), id)
			return err == nil && r.State == room.Open
		})
		events, err := db.Events(t.Context(), id, 0)
		if err != nil || len(events) != 2 || events[0].Type != event.RoomScheduled || events[1].Type != event.RoomOpened {
			t.Errorf("%+v %v", events, err)
		}
		if late := events[1].At.Sub(start); late < 0 || late > 3*time.Second {
			t.Errorf("opened %s after its start", late)
		}
	}
}

// One room with people through both nodes; the node that hosts it is killed,
// and they meet again on the other.
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
	people := map[*node]*mediatest.Participant{}
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
		people[n], identities[n] = p, seat.Identity
	}
	hear := func(n, other *node) {
		t.Helper()
		if err := people[n].AwaitPacketsFrom(ctx, identities[other], mediatest.Microphone); err != nil {
			t.Fatalf("nothing is heard through %s: %v", n.url, err)
		}
	}
	hear(a, b)
	hear(b, a)

	var present []room.Attendance
	eventually(t, "both are in the ledger", func() bool {
		present, err = db.CurrentAttendance(ctx, id)
		return err == nil && len(present) == 2
	})
	if present[0].Node != present[1].Node {
		t.Fatalf("one session is hosted by %s and %s", present[0].Node, present[1].Node)
	}
	host, other := a, b
	if present[0].Node != a.logField("node") {
		host, other = b, a
	}
	killed := time.Now()
	host.kill()
	for i, n := range []*node{a, b} {
		people[n].Abort()
		for { // as a page does, until it is in again
			_, p, err := other.join(ctx, id, seatKey(i))
			if err == nil {
				people[n] = p
				defer p.Abort()
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("nobody comes in again: %v\n%s", err, other.log)
			}
			time.Sleep(200 * time.Millisecond)
		}
		if err := people[n].Publish(ctx, "microphone again", mediatest.Microphone); err != nil {
			t.Fatal(err)
		}
	}
	hear(a, b)
	hear(b, a)
	back := time.Since(killed)
	t.Logf("heard again %s after the kill", back.Round(time.Millisecond))
	if back > 8*time.Second {
		t.Errorf("it took %s", back)
	}

	// Each has one leave, at the last moment the lost node was known to run.
	var all []room.Attendance
	eventually(t, "the lost node's rows have an end", func() bool {
		all, err = db.Attendance(ctx, id)
		open := 0
		for _, row := range all {
			if row.LeftAt.IsZero() {
				open++
			}
		}
		return err == nil && len(all) == 4 && open == 2
	})
	for _, row := range all {
		if !row.LeftAt.IsZero() && (row.Reason != room.LeftServer || row.LeftAt.After(killed.Add(time.Millisecond)) || killed.Sub(row.LeftAt) > 2500*time.Millisecond) {
			t.Errorf("left %s after the kill: %+v", row.LeftAt.Sub(killed), row)
		}
	}
}

func seatKey(i int) string { return fmt.Sprintf("seat-key-of-browser-%06d", i) }

// A node that is stopped says goodbye: nobody has to find out that it is gone.
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
	eventually(t, "somebody is in the ledger", func() bool {
		present, err = db.CurrentAttendance(ctx, id)
		return err == nil && len(present) == 1
	})
	host, other := a, b
	if present[0].Node != a.logField("node") {
		host, other = b, a
	}
	gone := host.logField("node")
	host.stop()
	nodes, err := db.Nodes(ctx)
	if err != nil || len(nodes) != 1 || nodes[0].ID == gone {
		t.Errorf("after a node has stopped there are %v, %v", nodes, err)
	}
	all, err := db.Attendance(ctx, id)
	if err != nil || len(all) != 1 || all[0].Reason != room.LeftServer || time.Since(all[0].LeftAt) > 10*time.Second {
		t.Errorf("%+v %v", all, err)
	}
	if end, err := p.AwaitEnd(ctx); err != nil || !end.Reconnect {
		t.Errorf("the page was told %+v, %v", end, err)
	}
	_, back, err := other.join(ctx, id, seatKey(1))
	if err != nil {
		t.Fatal(err)
	}
	back.Abort()
}

// A Redis that starts again knows nothing. Who is in a room stays in it, and
// who comes then through another node finds them.
func TestRedis_StartsEmpty(t *testing.T) {
	t.Parallel()
	redis := clustertest.NewRedis(t)
	_, a, b := startTwoNodesWith(t, redis)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for _, through := range []*node{a, b} { // whoever hosts, one of them comes to the other
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
			eventually(t, "the node knows that Redis is back", func() bool { return n.health()["redis"] == "ok" })
		}
		var second *mediatest.Participant
		began := time.Now()
		eventually(t, "somebody comes through the other node", func() bool { // for a moment it says 503, and pages ask again
			_, second, err = through.join(ctx, id, seatKey(2))
			return err == nil
		})
		t.Logf("come in %s after Redis was back", time.Since(began).Round(time.Millisecond))
		defer second.Abort()
		if err := second.AwaitPacketsFrom(ctx, first.Identity, mediatest.Microphone); err != nil {
			t.Fatalf("who was in is not heard: %v", err)
		}
	}
}
