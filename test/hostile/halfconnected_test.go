package hostile

import (
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/store"
)

// dialHalfConnected connects half: it publishes and never answers the subscriber offer.
func (m *meeting) dialHalfConnected(s seat) *mediatest.Raw {
	m.t.Helper()
	return m.dial(s, mediatest.RawOptions{HalfConnected: true})
}

// publishAllowed publishes whatever the room allows, and one message; a server that
// refuses it has defended itself.
func publishAllowed(t *testing.T, g *mediatest.Raw, kind room.Type) {
	t.Helper()
	_ = g.Publish(t.Context(), "mic", mediatest.Microphone)
	if kind == room.Video {
		_ = g.Publish(t.Context(), "cam", mediatest.Camera)
	}
	_ = g.SendData(t.Context(), "chat", "from a ghost")
}

func packetsReceived(p *mediatest.Participant) int {
	return p.Received(mediatest.Audio) + p.Received(mediatest.Video)
}

// assertSilenced holds the host to hear at most ten packets of a ghost in the
// second after a moderation, and none after two seconds.
func assertSilenced(t *testing.T, host *mediatest.Participant) {
	t.Helper()
	before := packetsReceived(host)
	time.Sleep(time.Second)
	if n := packetsReceived(host) - before; n > 10 {
		t.Errorf("packets in the first second: got %d, want at most 10", n)
	}
	time.Sleep(time.Second)
	before = packetsReceived(host)
	time.Sleep(time.Second)
	if n := packetsReceived(host) - before; n > 0 {
		t.Errorf("packets after two seconds: got %d, want 0", n)
	}
}

// TestHalfConnected_Moderated locks and removes ghosts, with what a host has.
func TestHalfConnected_Moderated(t *testing.T) {
	p := startServer(t)
	everything := map[string]any{"microphone": true, "camera": true, "screen_share": true, "chat": true}
	for _, kind := range bothTypes {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel() // the rooms have nothing to do with each other
			m := p.createRoom(kind, 20)
			hostSeat, host := m.joinAsHost()
			s := m.newGuestSeat("Ghost")
			haunting := m.dialHalfConnected(s)
			publishAllowed(t, haunting, kind)
			m.hostAction(hostSeat, "/locks", map[string]any{"locks": everything})
			assertSilenced(t, host)
			// The token is from before the lock.
			haunting.Abort()
			again := m.dialHalfConnected(s)
			publishAllowed(t, again, kind)
			assertSilenced(t, host)

			m.hostAction(hostSeat, "/locks", map[string]any{"locks": map[string]any{
				"microphone": false, "camera": false, "screen_share": false, "chat": false}})
			removed := m.newGuestSeat("Removed")
			gone := m.dialHalfConnected(removed)
			publishAllowed(t, gone, kind)
			m.hostAction(hostSeat, "/remove", map[string]any{"identity": removed.Identity})
			assertSilenced(t, host)
			eventually(t, "the removed ghost is disconnected", gone.Closed)
			if _, err := mediatest.Dial(t.Context(), p.url, removed.Token, mediatest.RawOptions{}); err == nil {
				t.Error("a removed participant came back with its token")
			}
			for _, said := range host.DataMessages() {
				if said.From != "" {
					t.Errorf("the host was sent %q by a ghost", said.Text)
				}
			}
		})
	}
}

// TestHalfConnected_Attendance lets a ghost stay until it is disconnected: it was never
// heard, or its time is recorded. Fresh tokens of the server do not bring back
// what was revoked.
func TestHalfConnected_Attendance(t *testing.T) {
	p := startServer(t)
	m := p.createRoom(room.Audio, 20)
	hostSeat, host := m.joinAsHost()
	s := m.newGuestSeat("Ghost")
	g := m.dialHalfConnected(s)
	publishAllowed(t, g, room.Audio)
	for _, label := range []string{"_reliable", "_lossy", "other"} {
		channel, err := g.OpenDataChannel(t.Context(), label, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := proto.Marshal(&livekit.DataPacket{Value: &livekit.DataPacket_User{
			User: &livekit.UserPacket{Payload: []byte("from a ghost")}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := channel.Send(data); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "a fresh token", func() bool { return g.Token() != "" })
	m.hostAction(hostSeat, "/locks", map[string]any{"locks": map[string]any{"microphone": true, "chat": true}})
	token := g.Token()
	for range 3 { // a chain of connections with old grants
		g.Abort()
		var err error
		g, err = mediatest.Dial(t.Context(), p.url, token, mediatest.RawOptions{HalfConnected: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Abort)
		if err := g.Publish(t.Context(), "mic", mediatest.Microphone); err == nil {
			t.Error("a locked microphone was accepted with an old token")
		}
		eventually(t, "a fresh token", func() bool { return g.Token() != "" })
		token = g.Token()
	}
	eventually(t, "the ghost is disconnected", g.Closed)

	db, err := store.Open(t.Context(), "", p.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Attendance(t.Context(), m.id)
	if err != nil {
		t.Fatal(err)
	}
	recorded := false
	for _, row := range rows {
		recorded = recorded || row.SeatID == s.Identity
	}
	if n := packetsReceived(host) + len(host.DataMessages()); n > 0 && !recorded {
		t.Errorf("the host received %d packets and messages of a ghost without attendance: %+v", n, rows)
	}
}
