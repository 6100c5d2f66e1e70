package cluster

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/internal/cluster/clustertest"
	"parley/internal/media/mediatest"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// relayedPeople returns what the list of nodes has about a node.
func relayedPeople(t *testing.T, through, n *node) int {
	t.Helper()
	out, err := parleytest.Command(nil, "node", "list", "--json", "--url", through.url, "--token", n.s.AdminToken).Output()
	if err != nil {
		t.Fatalf("parley node list: got %v, want no error", err)
	}
	var nodes []struct {
		Node          string `json:"node"`
		RelayedPeople int    `json:"relayed_people"`
	}
	if err := json.Unmarshal(out, &nodes); err != nil {
		t.Fatal(err)
	}
	for _, other := range nodes {
		if other.Node == n.logField("node") {
			return other.RelayedPeople
		}
	}
	t.Fatalf("parley node list: got %s, want the node %s", out, n.logField("node"))
	return 0
}

// A drain also moves the people whose media the node relays by TURN to a session of another node. They stay in
// the session, and the command waits for them.
func TestNode_DrainedOfRelays(t *testing.T) {
	t.Parallel()
	front := parleytest.StartFront(t)
	s := &service{
		database:  storetest.Postgres(t),
		redis:     clustertest.NewRedis(t).URL(),
		master:    seal.NewKey(),
		publicURL: "https://localhost:" + strconv.Itoa(front.Port()),
		secure:    true,
	}
	host, relaying := s.startNode(t), s.startNode(t)
	db := s.openDatabase(t, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()

	id, _, err := host.createRoom(3, 60)
	if err != nil {
		t.Fatal(err)
	}
	taken, amina, err := host.join(ctx, id, seatKey(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(amina.Abort)
	if err := amina.PublishTraffic(ctx, "microphone", mediatest.Microphone,
		mediatest.Traffic{PerSecond: 20, Bytes: 40}); err != nil {
		t.Fatal(err)
	}
	if hostOf(t, db, id, 1) != host.logField("node") {
		host, relaying = relaying, host
		// The other node is stopped later, so the signaling must not go through it.
		if err := amina.Resume(ctx, host.url, taken.Token); err != nil {
			t.Fatal(err)
		}
	}
	front.SetServer(relaying.logField("listen"))
	ben, err := host.reserveSeat(id, seatKey(1), "")
	if err != nil {
		t.Fatal(err)
	}
	relayed, err := mediatest.Network{Relay: "turn"}.Join(ctx, host.url, ben.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relayed.Abort)
	hears := func(when string) {
		t.Helper()
		if err := relayed.AwaitPacketsFrom(ctx, amina.Identity(), mediatest.Microphone); err != nil {
			t.Fatalf("%s: got %v, want that the person with TURN hears the other", when, err)
		}
	}
	hears("before the drain")
	testkit.Eventually(t, "the node says that it relays media of a person", func() bool {
		return relayedPeople(t, host, relaying) == 1
	})
	if got := relayedPeople(t, host, host); got != 0 {
		t.Errorf("relayed people of the host: got %d, want 0", got)
	}

	front.SetServer(host.logField("listen")) // as a load balancer does when /healthz is 503
	var output testkit.Buffer
	cmd := parleytest.Command(nil, "drain", relaying.logField("node"), "--within", "12s", "--url", host.url,
		"--token", s.AdminToken)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil ||
		!strings.Contains(output.String(), "whose media it relays (TURN) to other nodes: 1") ||
		!strings.Contains(output.String(), "Nobody is in a meeting on or through the node") {
		t.Fatalf("parley drain: got %v, %s, want that it waits for the person with TURN", err, &output)
	}
	if err := relayed.Wait(ctx, "the relay has ended", func() bool { return !relayed.MediaConnected() }); err != nil {
		t.Fatal(err)
	}
	if err := relayed.Resume(ctx, host.url, ben.Token); err != nil { // as a page does
		t.Fatal(err)
	}
	hears("after the drain")
	relaying.stop()
	hears("after the node has stopped")
	present, err := storetest.Attendance(ctx, db, id)
	if err != nil || len(present) != 2 || !present[0].LeftAt.IsZero() || !present[1].LeftAt.IsZero() {
		t.Errorf("got the attendance %+v, %v, want two people without an interruption", present, err)
	}
}
