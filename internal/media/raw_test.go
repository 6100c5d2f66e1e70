package media_test

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"
	"github.com/pion/rtp"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

func dialRaw(t *testing.T, base, token string, options mediatest.RawOptions) *mediatest.Raw {
	t.Helper()
	r, err := mediatest.Dial(t.Context(), base, token, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Abort)
	return r
}

func publishRawTrack(t *testing.T, r *mediatest.Raw, req *livekit.AddTrackRequest,
	mimeType string) *mediatest.RawTrack {
	t.Helper()
	if err := r.AddTrack(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	track, err := r.OfferTrack(t.Context(), req.Cid, mimeType)
	if err != nil {
		t.Fatal(err)
	}
	return track
}

func TestRaw(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "video", room.Video)
	f.openSession(t, "audio", room.Audio)

	t.Run("publishes with header extensions on both paths", func(t *testing.T) {
		ada := f.join(t, "video", "ada", room.Video)
		for _, path := range []string{"/rtc", "/rtc/v1"} {
			eve := dialRaw(t, f.url, f.accessToken(t, "video", "eve", room.Video),
				mediatest.RawOptions{Path: path, Extensions: mediatest.AllExtensions()})
			track := publishRawTrack(t, eve, &livekit.AddTrackRequest{
				Cid: "cam", Type: livekit.TrackType_VIDEO, Source: livekit.TrackSource_CAMERA}, mediatest.VP8)
			id := eve.ExtensionID(mediatest.AbsCaptureTime)
			if id == 0 || !strings.Contains(eve.LastAnswer(), "m=video") {
				t.Fatalf("path %s: got extension %d, answer %q, want an extension above 0 and m=video in the answer", path, id,
					eve.LastAnswer())
			}
			before, n := ada.Received(mediatest.Video), uint16(0)
			testkit.Eventually(t, "video arrives", func() bool {
				n++
				header := &rtp.Header{
					Version:        2,
					Marker:         true,
					SequenceNumber: n,
					Timestamp:      uint32(n) * 480,
					SSRC:           track.SSRC(),
					PayloadType:    track.PayloadTypes()[0],
				}
				if err := header.SetExtension(id, []byte{1, 2, 3}); err != nil {
					t.Fatal(err)
				}
				payload := []byte{0x10, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0xe0, 0x01, 0x00}
				if err := track.Send(header, payload); err != nil {
					t.Fatal(err)
				}
				return ada.Received(mediatest.Video) > before
			})
			if err := eve.WriteRTCP([]byte{0x80, 201, 0, 1, 0, 0, 0, 1}); err != nil {
				t.Error(err)
			}
			eve.Leave()
		}
	})

	t.Run("stays half-connected until it answers", func(t *testing.T) {
		eve := dialRaw(t, f.url, f.accessToken(t, "audio", "eve", room.Audio),
			mediatest.RawOptions{HalfConnected: true})
		channel, err := eve.OpenDataChannel(t.Context(), "_lossy", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := channel.Send([]byte("no packet")); err != nil {
			t.Error(err)
		}
		active := func() bool {
			return slices.ContainsFunc(f.participants(t, "audio"), func(p room.Participant) bool { return p.Active })
		}
		if active() {
			t.Error("participant before it answered the offer: got Active true, want false")
		}
		if err := eve.AnswerOffer(); err != nil {
			t.Fatal(err)
		}
		if err := eve.AwaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the participant is active", active)
	})

	t.Run("makes the server send to nobody else", func(t *testing.T) {
		stranger, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stranger.Close() }()
		candidate := fmt.Sprintf("a=candidate:1 1 udp 2130706431 127.0.0.1 %d typ host\r\n",
			stranger.LocalAddr().(*net.UDPAddr).Port)
		eve := dialRaw(t, f.url, f.accessToken(t, "audio", "eve", room.Audio), mediatest.RawOptions{
			ChangeOffer: func(sdp string) string { return sdp + strings.Repeat(candidate, 20) }})
		track := publishRawTrack(t, eve, &livekit.AddTrackRequest{Cid: "mic", Type: livekit.TrackType_AUDIO,
			Source: livekit.TrackSource_MICROPHONE}, mediatest.Opus)
		if err := eve.AwaitConnected(t.Context()); err != nil || track.SSRC() == 0 {
			t.Fatal(err)
		}
		if err := stranger.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, from, err := stranger.ReadFrom(make([]byte, 1500)); err == nil {
			t.Errorf("the address in the description got %d bytes from %s, want none", n, from)
		}
		eve.Leave()
	})

	t.Run("makes the server look for twenty addresses", func(t *testing.T) {
		// With other credentials than its own, the connection never finds its peer, so that the
		// server goes on looking.
		credentials := regexp.MustCompile(`a=ice-(ufrag|pwd):.*`)
		eve := dialRaw(t, f.url, f.accessToken(t, "audio", "eve", room.Audio), mediatest.RawOptions{
			ChangeOffer: func(sdp string) string {
				return credentials.ReplaceAllString(sdp, "a=ice-$1:"+strings.Repeat("x", 32)+"\r")
			}})
		if err := eve.Offer(t.Context()); err != nil {
			t.Fatal(err)
		}
		var reached atomic.Int32
		for range 30 {
			stranger, err := net.ListenPacket("udp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = stranger.Close() })
			go func() {
				if n, _, err := stranger.ReadFrom(make([]byte, 1500)); err == nil && n > 0 {
					reached.Add(1)
				}
			}()
			candidate := fmt.Sprintf(`{"candidate":"candidate:1 1 udp 2130706431 127.0.0.1 %d typ host","sdpMid":"0"}`,
				stranger.LocalAddr().(*net.UDPAddr).Port)
			if err := eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Trickle{
				Trickle: &livekit.TrickleRequest{CandidateInit: candidate}}}); err != nil {
				t.Fatal(err)
			}
		}
		testkit.Eventually(t, "the server looks for addresses", func() bool { return reached.Load() >= 15 })
		time.Sleep(2 * time.Second) // in this time it must look for no others
		if n := reached.Load(); n > 20 {
			t.Errorf("got %d addresses to which the server sent, want at most 20", n)
		}
		eve.Abort()
	})

	t.Run("returns refusals", func(t *testing.T) {
		var refused *mediatest.RefusedError
		if _, err := mediatest.Dial(t.Context(), f.url, "no token", mediatest.RawOptions{}); !errors.As(err, &refused) {
			t.Errorf("without a token: got %v, want *RefusedError", err)
		}
		eve := dialRaw(t, f.url, f.accessToken(t, "audio", "eve", room.Audio), mediatest.RawOptions{})
		if _, err := eve.OfferTrack(t.Context(), "cam", mediatest.VP8); !errors.Is(err, mediatest.ErrRejected) {
			t.Errorf("video in an audio session: got %v, want ErrRejected", err)
		}
	})
}
