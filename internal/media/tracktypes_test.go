package media_test

import (
	"errors"
	"testing"

	"parley/internal/media/mediatest"
	"parley/internal/room"
)

func TestAudioSession_RefusesVideo(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Audio)
	ear := h.join(t, "r.1", "ear", room.Audio)

	// A microphone is heard.
	ada := h.join(t, "r.1", "ada", room.Audio)
	publish(t, ada, "mic", mediatest.Microphone)
	eventually(t, "sound arrives", func() bool { return ear.Received(mediatest.Audio) > 5 })

	t.Run("a camera is refused", func(t *testing.T) {
		ben := h.join(t, "r.1", "ben", room.Audio)
		for _, source := range []mediatest.Source{mediatest.Camera, mediatest.ScreenShare, mediatest.UnknownSource} {
			err := ben.Announce(t.Context(), string(source), source, mediatest.Video)
			if !errors.Is(err, mediatest.ErrNotAllowed) {
				t.Errorf("%s: %v", source, err)
			}
		}
	})

	// Everything a page can say about a picture to make it pass for sound.
	t.Run("a picture called sound goes nowhere", func(t *testing.T) {
		eve := h.join(t, "r.1", "eve", room.Audio)
		publishMislabeled(t, eve, "cam", mediatest.Microphone, mediatest.Audio, mediatest.Video)
		eventually(t, "the server has no place for it", eve.Rejected)
		// The honest microphone of before shows that packets do arrive.
		before := ear.Received(mediatest.Audio)
		eventually(t, "sound arrives", func() bool { return ear.Received(mediatest.Audio) > before+20 })
		if n := ear.Received(mediatest.Video); n != 0 {
			t.Errorf("%d packets of a picture were forwarded", n)
		}
		if n := h.engine.PublishedTrackCount("r.1", "eve"); n != 0 {
			t.Errorf("eve has %d published tracks", n)
		}
		eve.Abort()
	})

	t.Run("a picture under the name of a microphone is refused", func(t *testing.T) {
		eve := h.join(t, "r.1", "mallory", room.Audio)
		if err := eve.Announce(t.Context(), "odd", mediatest.Microphone, mediatest.Video); !errors.Is(err, mediatest.ErrNotAllowed) {
			t.Error(err)
		}
		if !h.log.hasLine("refused", `"kind":"track"`, `"identity":"mallory"`, "type does not match its source") {
			t.Error("the refusal is not in the log")
		}
	})
}

// The second line alone: a session for sound in which the server could
// receive pictures, as one set up by another release might be.
func TestAudioSession_RemovesPublishedVideo(t *testing.T) {
	h := newFixture(t)
	h.engine.AllowAllCodecs()
	h.openSession(t, "r.1", room.Audio)
	ear := h.join(t, "r.1", "ear", room.Audio)
	eve := h.join(t, "r.1", "eve", room.Audio)
	publishMislabeled(t, eve, "cam", mediatest.Microphone, mediatest.Audio, mediatest.Video)
	eventually(t, "published and removed again", func() bool {
		return h.log.hasLine("removed a track", `"session":"r.1"`, `"identity":"eve"`)
	})
	if n := h.engine.PublishedTrackCount("r.1", "eve"); n != 0 {
		t.Errorf("%d tracks are still published", n)
	}
	eventually(t, "nobody is told of it any more", func() bool {
		other, there := ear.RemoteParticipant("eve")
		return there && len(other.Tracks) == 0
	})
	awaitNoVideo(t, ear)
	publishMislabeled(t, eve, "cam-again", mediatest.Microphone, mediatest.Audio, mediatest.Video)
	awaitEnd(t, eve, "PARTICIPANT_REMOVED")
}

// A participant has one microphone: a second one takes the place of the first.
func TestTracks_OnePerSource(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	ear := h.join(t, "r.1", "ear", room.Video)
	eve := h.join(t, "r.1", "eve", room.Video)
	for _, name := range []string{"mic-1", "mic-2", "mic-3"} {
		publish(t, eve, name, mediatest.Microphone)
		awaitPackets(t, ear, "eve", mediatest.Microphone)
	}
	eventually(t, "one microphone is left", func() bool {
		seen, _ := ear.RemoteParticipant("eve")
		return h.engine.PublishedTrackCount("r.1", "eve") == 1 && len(seen.Tracks) == 1
	})
	awaitPackets(t, ear, "eve", mediatest.Microphone)
}
