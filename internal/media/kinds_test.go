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
	for _, lie := range []struct {
		name string
		kind mediatest.Kind
	}{
		{"a picture called microphone", mediatest.Picture},
		{"a picture called sound", mediatest.Sound},
	} {
		t.Run(lie.name+" goes nowhere", func(t *testing.T) {
			eve := h.enter(t, "r.1", "eve", room.Audio)
			publishAs(t, eve, "cam", mediatest.Microphone, lie.kind, mediatest.Picture)
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
	}

	t.Run("sound called a picture is taken out, and at the second try the publisher", func(t *testing.T) {
		eve := h.enter(t, "r.1", "mallory", room.Audio)
		publishAs(t, eve, "odd", mediatest.Microphone, mediatest.Picture, mediatest.Sound)
		eventually(t, "the track is gone", func() bool {
			return h.log.has("removed a track", `"identity":"mallory"`) && h.engine.Published("r.1", "mallory") == 0
		})
		publishAs(t, eve, "odd-again", mediatest.Microphone, mediatest.Picture, mediatest.Sound)
		awaitEnd(t, eve, "PARTICIPANT_REMOVED")
	})
}

// The second line alone: a session for sound in which the server could
// receive pictures, as one set up by another release might be.
func TestPicturesAreTakenOutAtPublication(t *testing.T) {
	h := newHouse(t)
	h.engine.AllowAllCodecs()
	h.open(t, "r.1", room.Audio)
	ear := h.enter(t, "r.1", "ear", room.Audio)
	for _, kind := range []mediatest.Kind{mediatest.Picture, mediatest.Sound} {
		t.Run("called "+string(kind), func(t *testing.T) {
			identity := "eve-" + string(kind)
			eve := h.enter(t, "r.1", identity, room.Audio)
			publishAs(t, eve, "cam", mediatest.Microphone, kind, mediatest.Picture)
			eventually(t, "published and removed again", func() bool {
				return h.log.has("removed a track", `"session":"r.1"`, `"identity":"`+identity+`"`)
			})
			if n := h.engine.Published("r.1", identity); n != 0 {
				t.Errorf("%d tracks are still published", n)
			}
			eventually(t, "nobody is told of it any more", func() bool {
				other, there := ear.Sees(identity)
				return there && len(other.Tracks) == 0
			})
			silentPicture(t, ear)
			publishAs(t, eve, "cam-again", mediatest.Microphone, kind, mediatest.Picture)
			awaitEnd(t, eve, "PARTICIPANT_REMOVED")
		})
	}
}
