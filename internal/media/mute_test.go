package media_test

import (
	"slices"
	"testing"

	"parley/internal/media/mediatest"
	"parley/internal/room"
)

// Who is muted and goes on sending all the same is heard by nobody, until they
// unmute themselves.
func TestMute(t *testing.T) {
	h := newFixture(t)
	ctx := t.Context()
	h.openSession(t, "r.1", room.Video)
	ada, ben, chen := h.join(t, "r.1", "ada", room.Video), h.join(t, "r.1", "ben", room.Video), h.join(t, "r.1", "chen", room.Video)
	publish(t, ben, "mic", mediatest.Microphone)
	publish(t, ben, "cam", mediatest.Camera)
	publish(t, chen, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	awaitPackets(t, ada, "chen", mediatest.Microphone)

	mute := func(identities ...string) []string {
		t.Helper()
		muted, err := h.engine.Mute(ctx, "r.1", identities)
		if err != nil {
			t.Fatal(err)
		}
		return muted
	}
	if muted := mute("ben", "nobody"); !slices.Equal(muted, []string{"ben"}) {
		t.Errorf("muted %v", muted)
	}
	if muted := mute("ben", "ada"); len(muted) > 0 {
		t.Errorf("muted %v, who were silent", muted)
	}
	// LiveKit ends a voice with a second of silence. Then, while others are
	// heard, no more comes of ben.
	more := func(of string, source mediatest.Source) {
		t.Helper()
		before := ada.ReceivedFrom(of, source)
		eventually(t, of+" is heard or seen", func() bool { return ada.ReceivedFrom(of, source) > before+10 })
	}
	silent := -1
	eventually(t, "ben falls silent", func() bool {
		before := silent
		silent = ada.ReceivedFrom("ben", mediatest.Microphone)
		more("chen", mediatest.Microphone)
		return silent == before
	})
	more("chen", mediatest.Microphone)
	more("ben", mediatest.Camera)
	if got := ada.ReceivedFrom("ben", mediatest.Microphone); got != silent {
		t.Errorf("%d packets of somebody who is muted", got-silent)
	}

	if err := ben.SetMuted("mic", false); err != nil {
		t.Fatal(err)
	}
	more("ben", mediatest.Microphone)
	if muted, err := h.engine.Mute(ctx, "never", []string{"ben"}); err != nil || muted != nil {
		t.Errorf("in a session that is not there: %v, %v", muted, err)
	}
}
