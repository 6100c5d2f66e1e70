package media_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// everyExtensionID contains all ids of one-byte header extensions.
var everyExtensionID = []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}

// These inputs ended the process before the signal filter existed. The test sends them on
// every path and in both types of session to an engine in a separate process, and checks
// that two other participants of that process still hear each other.
func TestEngine_SurvivesCrashInputs(t *testing.T) {
	baseURL, _ := startProcess(t, processConfig{UDPPort: testkit.FreeUDPPort(t), Sessions: []room.MediaSession{
		{Name: "sound.1", Type: room.Audio, MaxParticipants: 50},
		{Name: "picture.1", Type: room.Video, MaxParticipants: 50},
	}})
	signer := newFixture(t) // signs with the same secret
	ada := joinWithToken(t, baseURL, signer.accessToken(t, "sound.1", "ada", room.Audio))
	ben := joinWithToken(t, baseURL, signer.accessToken(t, "sound.1", "ben", room.Audio))
	publish(t, ada, "mic", mediatest.Microphone)
	assertAlive := func(t *testing.T) {
		t.Helper()
		if ben.Closed() {
			t.Fatal("connection of ben: got it closed, want it open, because the process must survive")
		}
		awaitPackets(t, ben, "ada", mediatest.Microphone)
	}

	n := 0
	dial := func(t *testing.T, session string, options mediatest.RawOptions) (*mediatest.Raw, error) {
		t.Helper()
		n++
		r, err := mediatest.Dial(t.Context(), baseURL, signer.accessToken(t, session, fmt.Sprint("eve-", n),
			room.Video), options)
		if err == nil {
			t.Cleanup(r.Abort)
		}
		return r, err
	}
	for _, session := range []string{"sound.1", "picture.1"} {
		source := livekit.TrackSource_CAMERA
		if session == "sound.1" {
			source = livekit.TrackSource_MICROPHONE
		}
		t.Run(session+"/layer in the stream", func(t *testing.T) {
			eve, err := dial(t, session, mediatest.RawOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := eve.AddTrack(t.Context(), mediatest.InvalidLayerTrack("v0", source)); err == nil {
				t.Error("announcement of a track with an invalid layer: got no error, want one")
			}
			_, _ = eve.OfferTrack(t.Context(), "v0", mediatest.VP8)
			assertAlive(t)
		})
		for _, path := range []string{"/rtc", "/rtc/v1"} {
			t.Run(session+"/layer in the join request of "+path, func(t *testing.T) {
				req, err := mediatest.InvalidLayerJoin(source)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := dial(t, session, mediatest.RawOptions{Path: path, JoinRequest: req}); err == nil {
					t.Errorf("join request with an invalid layer on %s: got no error, want one", path)
				}
				assertAlive(t)
			})
		}
		// VP9 packets, and packets with a temporal layer beyond LiveKit's table.
		for _, path := range []string{"/rtc", "/rtc/v1"} {
			for _, mime := range []string{mediatest.VP8, mediatest.VP9, mediatest.AV1,
				mediatest.H265} {
				t.Run(session+path+"/packets of "+mime, func(t *testing.T) {
					eve, err := dial(t, session, mediatest.RawOptions{Path: path,
						Extensions: []string{mediatest.DependencyDescriptor}})
					if err != nil {
						if session == "sound.1" && path == "/rtc/v1" {
							return // there is no such path in an audio session
						}
						t.Fatal(err)
					}
					err = eve.AddTrack(t.Context(), &livekit.AddTrackRequest{
						Cid:    "cam",
						Name:   "cam",
						Type:   livekit.TrackType_VIDEO,
						Source: livekit.TrackSource_CAMERA,
						Width:  640,
						Height: 480,
					})
					if allowed := err == nil; allowed != (session == "picture.1") {
						t.Errorf("announcement of video in %s: got error %v, want success: %v", session, err, session == "picture.1")
					}
					track, err := eve.OfferTrack(t.Context(), "cam", mime)
					if err != nil {
						assertAlive(t)
						return // the codec was rejected
					}
					if mime != mediatest.VP8 {
						t.Errorf("negotiated codec: got %s, want only %s", mime, mediatest.VP8)
					}
					if answer := eve.LastAnswer(); !strings.Contains(answer, "VP8/90000") ||
						strings.Contains(answer, mediatest.DependencyDescriptor) {
						t.Errorf("answer: got %q, want VP8/90000 and no dependency descriptor", answer)
					}
					for sequence := range uint16(20) {
						header, err := mediatest.CrashHeader(track, sequence, everyExtensionID...)
						if err != nil {
							t.Fatal(err)
						}
						_ = track.Send(header, mediatest.CrashPayload)
						time.Sleep(5 * time.Millisecond) // paces the packets, so that LiveKit processes each of them
					}
					assertAlive(t)
				})
			}
		}
	}
	t.Run("a single connection in an audio session", func(t *testing.T) {
		_, err := dial(t, "sound.1", mediatest.RawOptions{JoinRequest: mediatest.DefaultJoinRequest()})
		if err == nil {
			t.Error("join of an audio session with a single connection: got no error, want one")
		}
	})
	t.Run("protocols that do not exist", func(t *testing.T) {
		for _, protocol := range []string{"1149", "-1", "x"} {
			if _, err := dial(t, "picture.1",
				mediatest.RawOptions{Query: url.Values{"protocol": {protocol}}}); err != nil {
				t.Errorf("join with the protocol %s: got error %v, want none", protocol, err)
			}
		}
		assertAlive(t)
	})
}
