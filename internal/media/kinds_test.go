package media_test

import (
	"errors"
	"testing"

	"parley/internal/media/mediatest"
	"parley/internal/room"
)

func TestSoundSession(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Audio)
	ear := h.enter(t, "r.1", "ear", room.Audio)

	// A microphone is heard.
	ada := h.enter(t, "r.1", "ada", room.Audio)
	publish(t, ada, "mic", mediatest.Microphone)
	eventually(t, "sound arrives", func() bool { return ear.Received(mediatest.Sound) > 5 })

	t.Run("a camera is refused", func(t *testing.T) {
		ben := h.enter(t, "r.1", "ben", room.Audio)
		for _, source := range []mediatest.Source{mediatest.Camera, mediatest.ScreenShare, mediatest.Unlabelled} {
			err := ben.Announce(t.Context(), string(source), source, mediatest.Picture)
			if !errors.Is(err, mediatest.ErrNotAllowed) {
				t.Errorf("%s: %v", source, err)
			}
		}
	})

	// Everything a page can say about a picture to make it pass for sound.
	t.Run("a picture called sound goes nowhere", func(t *testing.T) {
		eve := h.enter(t, "r.1", "eve", room.Audio)
		publishAs(t, eve, "cam", mediatest.Microphone, mediatest.Sound, mediatest.Picture)
		eventually(t, "the server has no place for it", eve.Rejected)
		// The honest microphone of before shows that packets do arrive.
		before := ear.Received(mediatest.Sound)
		eventually(t, "sound arrives", func() bool { return ear.Received(mediatest.Sound) > before+20 })
		if n := ear.Received(mediatest.Picture); n != 0 {
			t.Errorf("%d packets of a picture were forwarded", n)
		}
		if n := h.engine.Published("r.1", "eve"); n != 0 {
			t.Errorf("eve has %d published tracks", n)
		}
		eve.Vanish()
	})

	t.Run("a picture under the name of a microphone is refused", func(t *testing.T) {
		eve := h.enter(t, "r.1", "mallory", room.Audio)
		if err := eve.Announce(t.Context(), "odd", mediatest.Microphone, mediatest.Picture); !errors.Is(err, mediatest.ErrNotAllowed) {
			t.Error(err)
		}
		if !h.log.has("refused", `"kind":"track"`, `"identity":"mallory"`, "type does not match its source") {
			t.Error("the refusal is not in the log")
		}
	})
}

// The second line alone: a session for sound in which the server could
// receive pictures, as one set up by another release might be.
func TestPicturesAreTakenOutAtPublication(t *testing.T) {
	h := newHouse(t)
	h.engine.AllowAllCodecs()
	h.open(t, "r.1", room.Audio)
	ear := h.enter(t, "r.1", "ear", room.Audio)
	eve := h.enter(t, "r.1", "eve", room.Audio)
	publishAs(t, eve, "cam", mediatest.Microphone, mediatest.Sound, mediatest.Picture)
	eventually(t, "published and removed again", func() bool {
		return h.log.has("removed a track", `"session":"r.1"`, `"identity":"eve"`)
	})
	if n := h.engine.Published("r.1", "eve"); n != 0 {
		t.Errorf("%d tracks are still published", n)
	}
	eventually(t, "nobody is told of it any more", func() bool {
		other, there := ear.Sees("eve")
		return there && len(other.Tracks) == 0
	})
	silentPicture(t, ear)
	publishAs(t, eve, "cam-again", mediatest.Microphone, mediatest.Sound, mediatest.Picture)
	awaitEnd(t, eve, "PARTICIPANT_REMOVED")
}

// A participant has one microphone: a second one takes the place of the first.
func TestOneTrackOfEachSource(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Video)
	ear := h.enter(t, "r.1", "ear", room.Video)
	eve := h.enter(t, "r.1", "eve", room.Video)
	for _, name := range []string{"mic-1", "mic-2", "mic-3"} {
		publish(t, eve, name, mediatest.Microphone)
		await(t, ear, "eve", mediatest.Microphone)
	}
	eventually(t, "one microphone is left", func() bool {
		seen, _ := ear.Sees("eve")
		return h.engine.Published("r.1", "eve") == 1 && len(seen.Tracks) == 1
	})
	await(t, ear, "eve", mediatest.Microphone)
}
