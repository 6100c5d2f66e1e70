package cluster

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/redis/go-redis/v9"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// drainedRoom is a room of two people, one through each node.
type drainedRoom struct {
	id         string
	people     []*mediatest.Participant
	identities []string
}

// hostOf returns the node that hosts the connections of a room, once it has that many people.
func hostOf(t *testing.T, db *store.DB, roomID string, people int) (node string) {
	t.Helper()
	testkit.Eventually(t, "all people are on one node", func() bool {
		present, err := db.CurrentAttendance(t.Context(), roomID)
		if err != nil || len(present) != people {
			return false
		}
		node = present[0].Node
		return !slices.ContainsFunc(present, func(a room.Attendance) bool { return a.Node != node })
	})
	return node
}

// watchHosts checks from now on that Redis knows a host of each session that it knows now. stop ends that.
func watchHosts(t *testing.T, url string) (stop func()) {
	t.Helper()
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	hosts := func() map[string]string {
		all, err := client.HGetAll(context.Background(), routing.NodeRoomKey).Result()
		if err != nil {
			t.Error(err)
		}
		return all
	}
	known, done := hosts(), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		defer func() { _ = client.Close() }()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			now := hosts()
			for session := range known {
				if now[session] == "" {
					t.Errorf("the session %s: got no host in Redis, want one at all times", session)
					return
				}
			}
		}
	})
	end := sync.OnceFunc(func() {
		close(done)
		watching.Wait()
	})
	t.Cleanup(end)
	return func() {
		end()
		if len(known) == 0 {
			t.Error("got no session in Redis, want some")
		}
	}
}

// A node that is drained gives its rooms to the other node, one after another. The people in a room hear each
// other again there, with one interruption. Meanwhile the node hosts no new rooms, and afterwards it
// can be used again.
func TestNode_Drained(t *testing.T) {
	t.Parallel()
	s, a, b := startTwoNodes(t)
	db := s.openDatabase(t, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	nodes := map[string]*node{a.logField("node"): a, b.logField("node"): b}
	join := func(n *node, r *drainedRoom, i int) {
		t.Helper()
		for { // as a page does
			seat, p, err := n.join(ctx, r.id, seatKey(i))
			if err == nil {
				t.Cleanup(p.Abort)
				if err := p.Publish(ctx, "microphone "+p.SID(), mediatest.Microphone); err != nil {
					t.Error(err)
				}
				r.people[i], r.identities[i] = p, seat.Identity
				return
			}
			if ctx.Err() != nil {
				t.Errorf("join: got error %v, want none", err)
				return
			}
			time.Sleep(50 * time.Millisecond) // paces the attempts
		}
	}
	var rooms []*drainedRoom
	for range 6 {
		id, _, err := a.createRoom(5, 60)
		if err != nil {
			t.Fatal(err)
		}
		r := &drainedRoom{id: id, people: make([]*mediatest.Participant, 2), identities: make([]string, 2)}
		join(a, r, 0)
		join(b, r, 1)
		rooms = append(rooms, r)
	}
	drainedID := hostOf(t, db, rooms[0].id, 2)
	drained := nodes[drainedID]
	other := b
	if drained == b {
		other = a
	}
	var moved []*drainedRoom
	for _, r := range rooms {
		if hostOf(t, db, r.id, 2) == drainedID {
			moved = append(moved, r)
		}
	}

	stopWatching := watchHosts(t, s.redis)

	// The command goes to the other node, and waits until nobody is left.
	done := make(chan error, 1)
	var output testkit.Buffer
	cmd := parleytest.Command(nil, "drain", drainedID, "--within", "4s", "--url", other.url, "--token", s.AdminToken)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { done <- cmd.Wait() }()
	var rejoining sync.WaitGroup
	for _, r := range moved {
		for i := range r.people {
			rejoining.Go(func() {
				end, err := r.people[i].AwaitEnd(ctx)
				if err != nil || !end.Reconnect {
					t.Errorf("got the end %+v, %v, want a reconnection", end, err)
				}
				join(other, r, i)
			})
		}
	}
	rejoining.Wait()
	if err := <-done; err != nil || !strings.Contains(output.String(), "Nobody is in a meeting on the node") {
		t.Fatalf("parley drain: got %v, %s, want that nobody is on the node", err, &output)
	}
	stopWatching()
	for _, r := range rooms {
		for i, p := range r.people {
			if err := p.AwaitPacketsFrom(ctx, r.identities[1-i], mediatest.Microphone); err != nil {
				t.Errorf("after the drain: got %v, want to hear the other person", err)
			}
		}
		if host := hostOf(t, db, r.id, 2); host == drainedID {
			t.Errorf("the room %s: got the host %s, want another", r.id, host)
		}
	}
	for _, r := range moved {
		all, err := storetest.Attendance(ctx, db, r.id)
		if err != nil || len(all) != 4 {
			t.Errorf("got the attendance %+v, %v, want one interruption of each person", all, err)
		}
		for _, row := range all {
			if !row.LeftAt.IsZero() && row.Reason != room.LeftServer {
				t.Errorf("got the attendance %+v, want the reason %s", row, room.LeftServer)
			}
		}
	}
	testkit.Eventually(t, "/healthz says that the node is draining", func() bool {
		return drained.health()["status"] == "draining"
	})
	if drained.Log.HasLine("level=ERROR") {
		t.Errorf("got the log\n%s\nwant no error, because the operator drains the node", drained.Log)
	}
	id, _, err := drained.createRoom(5, 60)
	if err != nil {
		t.Fatal(err)
	}
	r := &drainedRoom{id: id, people: make([]*mediatest.Participant, 2), identities: make([]string, 2)}
	join(drained, r, 0)
	join(other, r, 1)
	if host := hostOf(t, db, id, 2); host == drainedID {
		t.Error("a new room: got the node that is draining as its host, want the other")
	}

	// The last node that hosts cannot be drained, and a drain can be cancelled.
	if err := parleytest.Command(nil, "drain", other.logField("node"), "--url", other.url, "--token", s.AdminToken).
		Run(); err == nil {
		t.Error("drain the last node: got no error, want one")
	}
	if text, err := parleytest.Command(nil, "drain", drainedID, "--cancel", "--url", other.url, "--token", s.AdminToken).
		CombinedOutput(); err != nil {
		t.Fatalf("cancel the drain: got %v, want no error: %s", err, text)
	}
	testkit.Eventually(t, "the node is healthy again", func() bool { return drained.health()["status"] == "ok" })

	// Then it hosts new rooms again, and all of them while the other node is drained.
	if text, err := parleytest.Command(nil, "drain", other.logField("node"), "--now", "--url", drained.url,
		"--token", s.AdminToken).CombinedOutput(); err != nil {
		t.Fatalf("drain the other node: got %v, want no error: %s", err, text)
	}
	id, _, err = other.createRoom(5, 60)
	if err != nil {
		t.Fatal(err)
	}
	r = &drainedRoom{id: id, people: make([]*mediatest.Participant, 2), identities: make([]string, 2)}
	join(drained, r, 0)
	join(other, r, 1)
	if host := hostOf(t, db, id, 2); host != drainedID {
		t.Errorf("a new room after the drain was canceled: got the host %s, want %s", host, drainedID)
	}
}
