package hostile

import (
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// dialHalfConnected connects a participant that does not answer the subscriber offer.
func (m *meeting) dialHalfConnected(s seat) *mediatest.Raw {
	m.t.Helper()
	return m.dial(s, mediatest.RawOptions{HalfConnected: true})
}

// publishAllowed publishes the tracks that the room allows, and one message. A server that
// refuses them has defended itself.
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

// assertSilenced checks that after a moderation the host soon receives no packets of the half-connected participant,
// and none in the second after that. Its sleeps are the times in which packets must not arrive.
func assertSilenced(t *testing.T, host *mediatest.Participant) {
	t.Helper()
	began := time.Now()
	testkit.Eventually(t, "no packets arrive", func() bool { return silentSecond(host) })
	testkit.Measured(t, "no packets arrive after a moderation", time.Since(began)-time.Second, time.Second)
	if !silentSecond(host) {
		t.Error("packets arrive again")
	}
}

// silentSecond reports whether a participant receives no packet in a second.
func silentSecond(p *mediatest.Participant) bool {
	before := packetsReceived(p)
	time.Sleep(time.Second)
	return packetsReceived(p) == before
}

// TestHalfConnected_Moderated locks and removes half-connected participants with the actions
// of a host.
func TestHalfConnected_Moderated(t *testing.T) {
	p := startServer(t)
	everything := map[string]any{"microphone": true, "camera": true, "screen_share": true, "chat": true}
	for _, kind := range bothTypes {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel() // the rooms are independent
			m := p.createRoom(kind, 20)
			hostSeat, host := m.joinAsHost()
			guest := m.dial(m.newGuestSeat("Guest"), mediatest.RawOptions{}) // shows that packets would arrive
			if err := guest.Publish(t.Context(), "mic", mediatest.Microphone); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, "a connected guest is heard", func() bool { return packetsReceived(host) > 0 })
			guest.Abort()
			testkit.Eventually(t, "the guest is silent", func() bool { return silentSecond(host) })
			s := m.newGuestSeat("Ghost")
			attacker := m.dialHalfConnected(s)
			publishAllowed(t, attacker, kind)
			m.hostAction(hostSeat, "/locks", map[string]any{"locks": everything})
			assertSilenced(t, host)
			// The token was issued before the lock.
			attacker.Abort()
			reconnected := m.dialHalfConnected(s)
			publishAllowed(t, reconnected, kind)
			assertSilenced(t, host)

			m.hostAction(hostSeat, "/locks", map[string]any{"locks": map[string]any{
				"microphone": false, "camera": false, "screen_share": false, "chat": false}})
			removed := m.newGuestSeat("Removed")
			removedConn := m.dialHalfConnected(removed)
			publishAllowed(t, removedConn, kind)
			m.hostAction(hostSeat, "/remove", map[string]any{"identity": removed.Identity})
			assertSilenced(t, host)
			testkit.Eventually(t, "the removed participant is disconnected", removedConn.Closed)
			if _, err := mediatest.Dial(t.Context(), p.URL, removed.Token, mediatest.RawOptions{}); err == nil {
				t.Error("join of a removed participant with its token: got no error, want one")
			}
			for _, message := range host.DataMessages() {
				if message.From != "" {
					t.Errorf("message to the host from a half-connected participant: got %q, want none", message.Text)
				}
			}
		})
	}
}

// TestHalfConnected_Attendance keeps a half-connected participant until it is disconnected.
// Either the others never received its media, or its attendance is recorded. Fresh tokens
// of the server do not restore revoked grants.
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
	testkit.Eventually(t, "a fresh token", func() bool { return g.Token() != "" })
	m.hostAction(hostSeat, "/locks", map[string]any{"locks": map[string]any{"microphone": true, "chat": true}})
	token := g.Token()
	for range 3 { // a chain of connections with old grants
		g.Abort()
		var err error
		g, err = mediatest.Dial(t.Context(), p.URL, token, mediatest.RawOptions{HalfConnected: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Abort)
		if err := g.Publish(t.Context(), "mic", mediatest.Microphone); err == nil {
			t.Error("publish a locked microphone with an old token: got no error, want one")
		}
		testkit.Eventually(t, "a fresh token", func() bool { return g.Token() != "" })
		token = g.Token()
	}
	testkit.Eventually(t, "the half-connected participant is disconnected", g.Closed)

	db, err := store.Open(t.Context(), "", p.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := storetest.Attendance(t.Context(), db, m.id)
	if err != nil {
		t.Fatal(err)
	}
	recorded := false
	for _, row := range rows {
		recorded = recorded || row.SeatID == s.Identity
	}
	if n := packetsReceived(host) + len(host.DataMessages()); n > 0 && !recorded {
		t.Errorf("packets and messages of a participant without attendance: got %d, want none, attendance %+v", n, rows)
	}
}
