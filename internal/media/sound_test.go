package media_test

import (
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"
	"github.com/pion/webrtc/v4"

	"parley/internal/room"
)

func TestSoundSession(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Audio)
	ear := h.enter(t, "r.1", "ear", room.Audio)

	// A microphone is heard.
	ada := h.enter(t, "r.1", "ada", room.Audio)
	ada.publish("mic", livekit.TrackType_AUDIO, livekit.TrackSource_MICROPHONE, webrtc.MimeTypeOpus)
	eventually(t, "sound arrives", func() bool { return ear.received(webrtc.RTPCodecTypeAudio) > 5 })

	t.Run("a camera is refused", func(t *testing.T) {
		ben := h.enter(t, "r.1", "ben", room.Audio)
		for i, source := range []livekit.TrackSource{livekit.TrackSource_CAMERA, livekit.TrackSource_SCREEN_SHARE, livekit.TrackSource_UNKNOWN} {
			ben.request("cam", livekit.TrackType_VIDEO, source)
			eventually(t, "refused", func() bool {
				ben.mu.Lock()
				defer ben.mu.Unlock()
				return len(ben.refused) > i && ben.refused[i] == livekit.RequestResponse_NOT_ALLOWED
			})
		}
		if ben.announced("cam") != nil {
			t.Error("and accepted all the same")
		}
	})

	// Everything a page can say about a picture to make it pass for sound.
	for _, lie := range []struct {
		name string
		kind livekit.TrackType
	}{
		{"a picture called microphone", livekit.TrackType_VIDEO},
		{"a picture called sound", livekit.TrackType_AUDIO},
	} {
		t.Run(lie.name+" goes nowhere", func(t *testing.T) {
			eve := h.enter(t, "r.1", "eve", room.Audio)
			eve.publish("cam", lie.kind, livekit.TrackSource_MICROPHONE, webrtc.MimeTypeVP8)
			eventually(t, "the server has no place for it", func() bool {
				eve.mu.Lock()
				defer eve.mu.Unlock()
				return eve.rejected
			})
			// The honest microphone of before shows that packets do arrive.
			before := ear.received(webrtc.RTPCodecTypeAudio)
			eventually(t, "sound arrives", func() bool { return ear.received(webrtc.RTPCodecTypeAudio) > before+20 })
			if n := ear.received(webrtc.RTPCodecTypeVideo); n != 0 {
				t.Errorf("%d packets of a picture were forwarded", n)
			}
			if n := h.engine.Published("r.1", "eve"); n != 0 {
				t.Errorf("eve has %d published tracks", n)
			}
			eve.close()
		})
	}

	t.Run("sound called a picture is taken out, and at the second try the publisher", func(t *testing.T) {
		eve := h.enter(t, "r.1", "mallory", room.Audio)
		eve.publish("odd", livekit.TrackType_VIDEO, livekit.TrackSource_MICROPHONE, webrtc.MimeTypeOpus)
		eventually(t, "the track is gone", func() bool {
			return h.log.has("removed a track", `"identity":"mallory"`) && h.engine.Published("r.1", "mallory") == 0
		})
		eve.publish("odd-again", livekit.TrackType_VIDEO, livekit.TrackSource_MICROPHONE, webrtc.MimeTypeOpus)
		eve.awaitLeave(livekit.DisconnectReason_PARTICIPANT_REMOVED)
	})
}

// The second line alone: a session for sound in which the server could
// receive pictures, as one set up by another release might be.
func TestPicturesAreTakenOutAtPublication(t *testing.T) {
	h := newHouse(t)
	h.engine.AllowAllCodecs()
	h.open(t, "r.1", room.Audio)
	ear := h.enter(t, "r.1", "ear", room.Audio)
	for _, kind := range []livekit.TrackType{livekit.TrackType_VIDEO, livekit.TrackType_AUDIO} {
		t.Run("called "+kind.String(), func(t *testing.T) {
			identity := "eve-" + kind.String()
			eve := h.enter(t, "r.1", identity, room.Audio)
			eve.publish("cam", kind, livekit.TrackSource_MICROPHONE, webrtc.MimeTypeVP8)
			eventually(t, "published and removed again", func() bool {
				return h.log.has("removed a track", `"session":"r.1"`, `"identity":"`+identity+`"`)
			})
			if n := h.engine.Published("r.1", identity); n != 0 {
				t.Errorf("%d tracks are still published", n)
			}
			eventually(t, "nobody is told of it any more", func() bool { return ear.sees(identity) == 0 })
			// What was on its way may arrive; then there has to be silence.
			var last int
			eventually(t, "no packets any more", func() bool {
				now := ear.received(webrtc.RTPCodecTypeVideo)
				time.Sleep(200 * time.Millisecond)
				last = ear.received(webrtc.RTPCodecTypeVideo)
				return last == now
			})
			eve.publish("cam-again", kind, livekit.TrackSource_MICROPHONE, webrtc.MimeTypeVP8)
			eve.awaitLeave(livekit.DisconnectReason_PARTICIPANT_REMOVED)
		})
	}
}
