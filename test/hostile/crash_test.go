package hostile

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"

	"parley/internal/cluster/clustertest"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

var bothTypes = []room.Type{room.Audio, room.Video}

// TestCrash_LayerQuality announces and offers a track with a layer whose invalid quality
// LiveKit would use as an index without a check.
func TestCrash_LayerQuality(t *testing.T) {
	p := startServer(t)
	for _, kind := range bothTypes {
		m := p.createRoom(kind, 100)
		source := livekit.TrackSource_CAMERA
		if kind == room.Audio {
			source = livekit.TrackSource_MICROPHONE
		}
		t.Run(fmt.Sprintf("%s room, signal request", kind), func(t *testing.T) {
			eve := m.dial(m.newGuestSeat("Eve"), mediatest.RawOptions{HalfConnected: true})
			withAttackTimeout(t, ignoredTimeout, func(ctx context.Context) {
				_ = eve.AddTrack(ctx, mediatest.InvalidLayerTrack("t0", source))
				_, _ = eve.OfferTrack(ctx, "t0", mediatest.VP8)
			})
			p.assertStaysAlive(t)
		})
		for _, path := range []string{"/rtc", "/rtc/v1"} {
			t.Run(fmt.Sprintf("%s room, join request on %s", kind, path), func(t *testing.T) {
				join, err := mediatest.InvalidLayerJoin(source)
				if err != nil {
					t.Fatal(err)
				}
				eve, err := mediatest.Dial(t.Context(), p.URL, m.newGuestSeat("Eve").Token,
					mediatest.RawOptions{Path: path, JoinRequest: join, HalfConnected: true})
				if err == nil {
					defer eve.Abort()
				}
				p.assertStaysAlive(t)
			})
		}
	}
}

// TestCrash_Packets sends packets that LiveKit's parsers cannot handle: a VP9 payload that
// ends at the start of a frame, and dependency descriptors with a temporal layer beyond
// LiveKit's table.
func TestCrash_Packets(t *testing.T) {
	p := startServer(t)
	for _, kind := range bothTypes {
		m := p.createRoom(kind, 100)
		for _, path := range []string{"/rtc", "/rtc/v1"} {
			for _, codec := range []string{mediatest.VP8, mediatest.VP9, mediatest.AV1} {
				t.Run(fmt.Sprintf("%s room, %s on %s", kind, codec, path), func(t *testing.T) {
					sent := m.sendCrashPackets(t, m.URL, path, codec)
					if kind == room.Video && codec == mediatest.VP8 && sent == 0 {
						t.Error("the server got no packet of a codec that it allows")
					}
					p.assertStaysAlive(t)
				})
			}
		}
	}
}

// sendCrashPackets sends as many packets as the server accepts, and returns how many. A server that
// refuses the guest, the announcement or the codec has defended itself.
func (m *meeting) sendCrashPackets(t *testing.T, url, path, codec string) (sent int) {
	t.Helper()
	eve, err := mediatest.Dial(t.Context(), url, m.newGuestSeat("Eve").Token,
		mediatest.RawOptions{Path: path, Extensions: []string{mediatest.DependencyDescriptor}})
	if err != nil {
		return 0
	}
	defer eve.Abort()
	timeout := ignoredTimeout
	if m.roomType == room.Video && codec == mediatest.VP8 {
		timeout = testkit.Timeout // this is not ignored
	}
	withAttackTimeout(t, timeout, func(ctx context.Context) {
		req := &livekit.AddTrackRequest{Cid: "t0", Type: livekit.TrackType_VIDEO, Source: livekit.TrackSource_CAMERA}
		if m.roomType == room.Audio {
			req.Source = livekit.TrackSource_MICROPHONE
		}
		_ = eve.AddTrack(ctx, req)
		track, err := eve.OfferTrack(ctx, req.Cid, codec)
		if err != nil {
			return
		}
		for n := uint16(1); n <= 20 && ctx.Err() == nil && !eve.Closed(); n++ {
			payload, ids := mediatest.CrashPayload, []uint8(nil)
			if n > 10 || codec != mediatest.VP9 {
				payload = []byte{0x90, 0x80, byte(n), 0x82, 0x49, 0x83, 0x42, 0x00, 0x01, 0xf0, 0x00}
				ids = []uint8{eve.ExtensionID(mediatest.DependencyDescriptor)}
			}
			header, err := mediatest.CrashHeader(track, n, ids...)
			if err != nil {
				t.Fatal(err)
			}
			if track.Send(header, payload) == nil {
				sent++
			}
			time.Sleep(10 * time.Millisecond) // paces the packets, so that they arrive in this order
		}
	})
	return sent
}

// TestCrash_Relayed sends the same inputs through a node of a cluster that does not host the
// session.
func TestCrash_Relayed(t *testing.T) {
	shared := []string{"PARLEY_DATABASE_URL=" + storetest.Postgres(t), "PARLEY_REDIS_URL=" + clustertest.NewRedis(t).URL(),
		"PARLEY_MASTER_KEY=" + seal.NewKey().Reveal()}
	a, b := startServer(t, shared...), startServer(t, shared...)
	for _, kind := range bothTypes {
		// The node of a room is chosen at random. Each room is attacked through both
		// nodes, so that one of the connections is relayed.
		for range 2 {
			m := a.createRoom(kind, 100)
			for _, via := range []*server{a, b} {
				m.sendCrashPackets(t, via.URL, "/rtc", mediatest.VP9)
				m.sendCrashPackets(t, via.URL, "/rtc", mediatest.VP8)
				join, err := mediatest.InvalidLayerJoin(livekit.TrackSource_CAMERA)
				if err != nil {
					t.Fatal(err)
				}
				eve, err := mediatest.Dial(t.Context(), via.URL, m.newGuestSeat("Eve").Token,
					mediatest.RawOptions{JoinRequest: join, HalfConnected: true})
				if err == nil {
					eve.Abort()
				}
				a.assertAlive(t)
				b.assertAlive(t)
			}
		}
	}
	a.assertStaysAlive(t)
	b.assertStaysAlive(t)
}

// ignoredTimeout is the time of an attack whose requests the server may ignore.
const ignoredTimeout = 2 * time.Second

func withAttackTimeout(t *testing.T, timeout time.Duration, attack func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	attack(ctx)
}
