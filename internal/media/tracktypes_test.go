package media_test

import (
	"errors"
	"testing"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

func TestAudioSession_RefusesVideo(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Audio)
	listener := f.join(t, "r.1", "ear", room.Audio)

	// A microphone is forwarded.
	ada := f.join(t, "r.1", "ada", room.Audio)
	publish(t, ada, "mic", mediatest.Microphone)
	testkit.Eventually(t, "sound arrives", func() bool { return listener.Received(mediatest.Audio) > 5 })

	t.Run("a camera is refused", func(t *testing.T) {
		ben := f.join(t, "r.1", "ben", room.Audio)
		for _, source := range []mediatest.Source{mediatest.Camera, mediatest.ScreenShare, mediatest.UnknownSource} {
			err := ben.Announce(t.Context(), string(source), source, mediatest.Video)
			if !errors.Is(err, mediatest.ErrNotAllowed) {
				t.Errorf("announce video with the source %s: got error %v, want %v", source, err, mediatest.ErrNotAllowed)
			}
		}
	})

	t.Run("video announced as audio is not forwarded", func(t *testing.T) {
		eve := f.join(t, "r.1", "eve", room.Audio)
		publishMislabeled(t, eve, "cam", mediatest.Microphone, mediatest.Audio, mediatest.Video)
		testkit.Eventually(t, "the server rejects the track", eve.Rejected)
		// The microphone of ada shows that packets arrive.
		before := listener.Received(mediatest.Audio)
		testkit.Eventually(t, "sound arrives", func() bool { return listener.Received(mediatest.Audio) > before+20 })
		if n := listener.Received(mediatest.Video); n != 0 {
			t.Errorf("%d video packets were forwarded, want 0", n)
		}
		if n := f.engine.PublishedTrackCount("r.1", "eve"); n != 0 {
			t.Errorf("eve has %d published tracks, want 0", n)
		}
		eve.Abort()
	})

	t.Run("video with the source microphone is refused", func(t *testing.T) {
		eve := f.join(t, "r.1", "mallory", room.Audio)
		if err := eve.Announce(t.Context(), "odd", mediatest.Microphone, mediatest.Video); !errors.Is(err,
			mediatest.ErrNotAllowed) {
			t.Errorf("announce video with the source microphone: got error %v, want %v", err, mediatest.ErrNotAllowed)
		}
		if !f.log.HasLine("refused", `"kind":"track"`, `"identity":"mallory"`, "type does not match its source") {
			t.Errorf("log: got no line with refused, track and mallory, want one in:\n%s", f.log)
		}
	})
}

// The second line of defense works alone: in an audio session with video codecs, as another
// release might open it, published video is removed.
func TestAudioSession_RemovesPublishedVideo(t *testing.T) {
	f := newFixture(t)
	f.engine.AllowAllCodecs()
	f.openSession(t, "r.1", room.Audio)
	listener := f.join(t, "r.1", "ear", room.Audio)
	eve := f.join(t, "r.1", "eve", room.Audio)
	publishMislabeled(t, eve, "cam", mediatest.Microphone, mediatest.Audio, mediatest.Video)
	testkit.Eventually(t, "published and removed again", func() bool {
		return f.log.HasLine("media does not match its source", `"session":"r.1"`, `"identity":"eve"`)
	})
	if n := f.engine.PublishedTrackCount("r.1", "eve"); n != 0 {
		t.Errorf("%d tracks are still published, want 0", n)
	}
	testkit.Eventually(t, "the listener sees no track", func() bool {
		other, found := listener.RemoteParticipant("eve")
		return found && len(other.Tracks) == 0
	})
	awaitNoVideo(t, listener, eve)
	publishMislabeled(t, eve, "cam-again", mediatest.Microphone, mediatest.Audio, mediatest.Video)
	awaitEnd(t, eve, "PARTICIPANT_REMOVED")
}

// A second microphone track of a participant replaces the first.
func TestTracks_OnePerSource(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	listener := f.join(t, "r.1", "ear", room.Video)
	eve := f.join(t, "r.1", "eve", room.Video)
	for _, name := range []string{"mic-1", "mic-2", "mic-3"} {
		publish(t, eve, name, mediatest.Microphone)
		awaitPackets(t, listener, "eve", mediatest.Microphone)
	}
	testkit.Eventually(t, "one microphone is left", func() bool {
		seen, _ := listener.RemoteParticipant("eve")
		return f.engine.PublishedTrackCount("r.1", "eve") == 1 && len(seen.Tracks) == 1
	})
	awaitPackets(t, listener, "eve", mediatest.Microphone)
}
