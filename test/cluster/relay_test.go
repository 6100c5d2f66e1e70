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
	"parley/internal/store"
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

// relayedMeeting is a meeting of two people on one node. The media of one of them comes by TURN through another node.
type relayedMeeting struct {
	*service
	ctx            context.Context // of what follows the start of the nodes
	front          *parleytest.Front
	host, relaying *node
	db             *store.DB
	roomID         string
	speaker        *mediatest.Participant
	relayed        *mediatest.Participant
	relayedToken   string
}

func startRelayedMeeting(t *testing.T) *relayedMeeting {
	t.Helper()
	front := parleytest.StartFront(t)
	s := &service{
		database:  storetest.Postgres(t),
		redis:     clustertest.NewRedis(t).URL(),
		master:    seal.NewKey(),
		publicURL: "https://localhost:" + strconv.Itoa(front.Port()),
		secure:    true,
	}
	m := &relayedMeeting{service: s, front: front, host: s.startNode(t), relaying: s.startNode(t)}
	m.db = s.openDatabase(t, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	m.ctx = ctx
	var err error
	if m.roomID, _, err = m.host.createRoom(3, 60); err != nil {
		t.Fatal(err)
	}
	taken, speaker, err := m.host.join(ctx, m.roomID, seatKey(0))
	if err != nil {
		t.Fatal(err)
	}
	m.speaker = speaker
	t.Cleanup(speaker.Abort)
	if err := speaker.PublishTraffic(ctx, "microphone", mediatest.Microphone,
		mediatest.Traffic{PerSecond: 20, Bytes: 40}); err != nil {
		t.Fatal(err)
	}
	if hostOf(t, m.db, m.roomID, 1) != m.host.logField("node") {
		m.host, m.relaying = m.relaying, m.host
		// The other node is stopped later, so the signaling must not go through it.
		if err := speaker.Resume(ctx, m.host.url, taken.Token); err != nil {
			t.Fatal(err)
		}
	}
	front.SetServer(m.relaying.logField("listen"))
	seat, err := m.host.reserveSeat(m.roomID, seatKey(1), "")
	if err != nil {
		t.Fatal(err)
	}
	m.relayedToken = seat.Token
	if m.relayed, err = (mediatest.Network{Relay: "turn"}).Join(ctx, m.host.url, seat.Token); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.relayed.Abort)
	m.requireSound(t, "before")
	testkit.Eventually(t, "the node says that it relays media of a person", func() bool {
		return relayedPeople(t, m.host, m.relaying) == 1
	})
	return m
}

// requireSound fails unless the person with TURN hears the other.
func (m *relayedMeeting) requireSound(t *testing.T, when string) {
	t.Helper()
	if err := m.relayed.AwaitPacketsFrom(m.ctx, m.speaker.Identity(), mediatest.Microphone); err != nil {
		t.Fatalf("%s: got %v, want that the person with TURN hears the other", when, err)
	}
}

// resume waits for the end of the relay and connects again, as a page does.
func (m *relayedMeeting) resume(t *testing.T) {
	t.Helper()
	ended := func() bool { return !m.relayed.MediaConnected() }
	if err := m.relayed.Wait(m.ctx, "the relay has ended", ended); err != nil {
		t.Fatal(err)
	}
	if err := m.relayed.Resume(m.ctx, m.host.url, m.relayedToken); err != nil {
		t.Fatal(err)
	}
}

// requireNoInterruption fails if somebody has left the meeting, also for a moment.
func (m *relayedMeeting) requireNoInterruption(t *testing.T) {
	t.Helper()
	present, err := storetest.Attendance(m.ctx, m.db, m.roomID)
	if err != nil || len(present) != 2 || !present[0].LeftAt.IsZero() || !present[1].LeftAt.IsZero() {
		t.Errorf("got the attendance %+v, %v, want two people without an interruption", present, err)
	}
}

// A drain also moves the people whose media the node relays by TURN to a session of another node. They stay in
// the session, and the command waits for them.
func TestNode_DrainedOfRelays(t *testing.T) {
	t.Parallel()
	m := startRelayedMeeting(t)
	if got := relayedPeople(t, m.host, m.host); got != 0 {
		t.Errorf("relayed people of the host: got %d, want 0", got)
	}
	m.front.SetServer(m.host.logField("listen")) // as a load balancer does when /healthz is 503
	var output testkit.Buffer
	cmd := parleytest.Command(nil, "drain", m.relaying.logField("node"), "--within", "12s", "--url", m.host.url,
		"--token", m.AdminToken)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil ||
		!strings.Contains(output.String(), "whose media it relays (TURN) to other nodes: 1") ||
		!strings.Contains(output.String(), "Nobody is in a meeting on the node") {
		t.Fatalf("parley drain: got %v, %s, want that it waits for the person with TURN", err, &output)
	}
	m.resume(t)
	m.requireSound(t, "after the drain")
	m.relaying.stop()
	m.requireSound(t, "after the node has stopped")
	m.requireNoInterruption(t)
}

// The people whose media a node relays stay in the session of the other node when it stops without a drain.
func TestNode_StoppedWithRelays(t *testing.T) {
	t.Parallel()
	m := startRelayedMeeting(t)
	m.front.SetServer(m.host.logField("listen"))
	m.relaying.stop()
	m.resume(t)
	m.requireSound(t, "after the node has stopped")
	m.requireNoInterruption(t)
}
