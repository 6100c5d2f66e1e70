package media_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	dd "github.com/livekit/livekit-server/pkg/sfu/rtpextension/dependencydescriptor"
	"github.com/livekit/protocol/livekit"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"parley/internal/media/mediatest"
	"parley/internal/room"
)

// These inputs ended the process before the signal filter existed. The test sends them on
// every path and in both types of session to an engine in a separate process, and checks
// that two other participants of that process still hear each other.
func TestEngine_SurvivesCrashInputs(t *testing.T) {
	baseURL, _ := startProcess(t, processConfig{Media: processMediaConfig(t), Sessions: []room.MediaSession{
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
			t.Fatal("the process has ended")
		}
		awaitPackets(t, ben, "ada", mediatest.Microphone)
	}

	invalidTrack := func(source livekit.TrackSource) *livekit.AddTrackRequest {
		layers := []*livekit.VideoLayer{{Quality: -1}}
		return &livekit.AddTrackRequest{Cid: "v0", Name: "v0", Type: livekit.TrackType_VIDEO, Source: source,
			Layers:          layers,
			SimulcastCodecs: []*livekit.SimulcastCodec{{Codec: "vp8", Cid: "v0", Layers: layers}}}
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
			if err := eve.AddTrack(t.Context(), invalidTrack(source)); err == nil {
				t.Error("the announcement was accepted")
			}
			_, _ = eve.OfferTrack(t.Context(), "v0", webrtc.MimeTypeVP8)
			assertAlive(t)
		})
		for _, path := range []string{"/rtc", "/rtc/v1"} {
			t.Run(session+"/layer in the join request of "+path, func(t *testing.T) {
				req := mediatest.DefaultJoinRequest()
				offer, err := mediatest.NewOffer(mediatest.RawOptions{}, webrtc.MimeTypeVP8)
				if err != nil {
					t.Fatal(err)
				}
				req.AddTrackRequests, req.PublisherOffer = []*livekit.AddTrackRequest{invalidTrack(source)}, offer
				if _, err := dial(t, session, mediatest.RawOptions{Path: path, JoinRequest: req}); err == nil {
					t.Error("the join request was accepted")
				}
				assertAlive(t)
			})
		}
		// VP9 packets, and packets with a temporal layer beyond LiveKit's table.
		for _, path := range []string{"/rtc", "/rtc/v1"} {
			for _, mime := range []string{webrtc.MimeTypeVP8, webrtc.MimeTypeVP9, webrtc.MimeTypeAV1,
				webrtc.MimeTypeH265} {
				t.Run(session+path+"/packets of "+mime, func(t *testing.T) {
					eve, err := dial(t, session, mediatest.RawOptions{Path: path,
						Extensions: []string{dd.ExtensionURI}})
					if err != nil {
						if session == "sound.1" && path == "/rtc/v1" {
							return // there is no such path in an audio session
						}
						t.Fatal(err)
					}
					err = eve.AddTrack(t.Context(), &livekit.AddTrackRequest{Cid: "cam", Name: "cam",
						Type: livekit.TrackType_VIDEO, Source: livekit.TrackSource_CAMERA, Width: 640, Height: 480})
					if allowed := err == nil; allowed != (session == "picture.1") {
						t.Errorf("announcement: %v", err)
					}
					track, err := eve.OfferTrack(t.Context(), "cam", mime)
					if err != nil {
						assertAlive(t)
						return // the codec was rejected
					}
					if mime != webrtc.MimeTypeVP8 {
						t.Errorf("%s was negotiated", mime)
					}
					if answer := eve.LastAnswer(); !strings.Contains(answer, "VP8/90000") ||
						strings.Contains(answer, dd.ExtensionURI) {
						t.Errorf("the dependency descriptor was negotiated: %s", answer)
					}
					for sequence := range uint16(20) {
						header := &rtp.Header{Version: 2, Marker: true, SequenceNumber: sequence,
							Timestamp: uint32(sequence) * 3000}
						for id := range uint8(14) {
							_ = header.SetExtension(id+1, fiveTemporalLayers(t, sequence))
						}
						_ = track.Send(header, []byte{0x08})
						time.Sleep(5 * time.Millisecond) // gives LiveKit time to process the packet
					}
					assertAlive(t)
				})
			}
		}
	}
	t.Run("a single connection in an audio session", func(t *testing.T) {
		_, err := dial(t, "sound.1", mediatest.RawOptions{JoinRequest: mediatest.DefaultJoinRequest()})
		if err == nil {
			t.Error("joined")
		}
	})
	t.Run("protocols that do not exist", func(t *testing.T) {
		for _, protocol := range []string{"1149", "-1", "x"} {
			if _, err := dial(t, "picture.1",
				mediatest.RawOptions{Query: url.Values{"protocol": {protocol}}}); err != nil {
				t.Errorf("%s: %v", protocol, err)
			}
		}
		assertAlive(t)
	})
}

// fiveTemporalLayers returns a dependency descriptor that describes temporal layers
// 0 to 4.
func fiveTemporalLayers(t *testing.T, frame uint16) []byte {
	t.Helper()
	var templates []*dd.FrameDependencyTemplate
	for layer := range 5 {
		first := dd.DecodeTargetNotPresent
		if layer == 0 {
			first = dd.DecodeTargetRequired
		}
		templates = append(templates, &dd.FrameDependencyTemplate{TemporalId: layer,
			DecodeTargetIndications: []dd.DecodeTargetIndication{first, dd.DecodeTargetRequired}})
	}
	structure, mask := &dd.FrameDependencyStructure{NumDecodeTargets: 2, Templates: templates}, uint32(3)
	data, err := (&dd.DependencyDescriptorExtension{Structure: structure, Descriptor: &dd.DependencyDescriptor{
		FirstPacketInFrame: true, LastPacketInFrame: true, FrameNumber: frame, FrameDependencies: templates[0],
		AttachedStructure: structure, ActiveDecodeTargetsBitmask: &mask}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
