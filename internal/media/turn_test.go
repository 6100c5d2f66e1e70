package media_test

import (
	"net"
	"testing"

	"parley/internal/cluster/clustertest"
	"parley/internal/media"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// newTURN returns a TURN server on 127.0.0.1 and its URL.
func newTURN(t *testing.T) (server *media.TURN, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	url = "turn:" + l.Addr().String() + "?transport=tcp"
	return &media.TURN{Listener: l, URLs: []string{url}}, url
}

// joinRelayed joins with media that only a relay carries.
func joinRelayed(t *testing.T, baseURL, token string) *mediatest.Participant {
	t.Helper()
	p, err := mediatest.Network{Relay: "turn"}.Join(t.Context(), baseURL, token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Leave)
	return p
}

// A relay works behind a NAT that does not send packets back: nothing reaches the announced address.
func TestTURN_BehindNAT(t *testing.T) {
	turn, _ := newTURN(t)
	f := newFixture(t, func(c *media.Config) {
		c.TURN, c.NodeIP, c.BindIPs = turn, "203.0.113.9", []string{"127.0.0.1"}
	})
	f.openSession(t, "r.1", room.Video)
	ada := joinRelayed(t, f.url, f.accessToken(t, "r.1", "ada", room.Video))
	ben := joinRelayed(t, f.url, f.accessToken(t, "r.1", "ben", room.Video))
	publish(t, ada, "mic", mediatest.Microphone)
	awaitPackets(t, ben, "ada", mediatest.Microphone)
	for _, identity := range []string{"ada", "ben"} {
		if got := f.engine.ConnectionType("r.1", identity); got != room.ConnectionTURN {
			t.Errorf("connection of %s: got %q, want %q", identity, got, room.ConnectionTURN)
		}
	}
}

// The TURN server of one process relays to the media port of another that hosts the session.
func TestTURN_OfAnotherProcess(t *testing.T) {
	redis := clustertest.NewRedis(t).URL()
	turn, url := newTURN(t)
	host := processConfig{UDPPort: testkit.FreeUDPPort(t), RedisURL: redis, TURNURL: url}
	_, _ = startProcess(t, host)
	f := newFixture(t, func(c *media.Config) { c.TURN, c.RedisURL = turn, redis })
	session := openRemoteSession(t, f, "sound", room.Audio)
	ada := joinRelayed(t, f.url, f.accessToken(t, session, "ada", room.Audio))
	ben := joinRelayed(t, f.url, f.accessToken(t, session, "ben", room.Audio))
	publish(t, ben, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
}
