package media_test

import (
	"slices"
	"testing"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// A muted participant that continues to send is not heard by the others until it unmutes
// itself.
func TestMute(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	f.openSession(t, "r.1", room.Video)
	ada, ben, chen := f.join(t, "r.1", "ada", room.Video), f.join(t, "r.1", "ben", room.Video),
		f.join(t, "r.1", "chen", room.Video)
	publish(t, ben, "mic", mediatest.Microphone)
	publish(t, ben, "cam", mediatest.Camera)
	publish(t, chen, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	awaitPackets(t, ada, "chen", mediatest.Microphone)

	mute := func(identities ...string) []string {
		t.Helper()
		muted, err := f.engine.Mute(ctx, "r.1", identities)
		if err != nil {
			t.Fatal(err)
		}
		return muted
	}
	if muted := mute("ben", "nobody"); !slices.Equal(muted, []string{"ben"}) {
		t.Errorf("muted %v, want ben", muted)
	}
	if muted := mute("ben", "ada"); len(muted) > 0 {
		t.Errorf("muted %v again, want none", muted)
	}
	// LiveKit sends a second of silence after a microphone was muted. After that, no
	// packets of ben arrive while packets of others do.
	awaitMore := func(identity string, source mediatest.Source) {
		t.Helper()
		before := ada.ReceivedFrom(identity, source)
		testkit.Eventually(t, "packets from "+identity, func() bool {
			return ada.ReceivedFrom(identity, source) > before+10
		})
	}
	packets := -1
	testkit.Eventually(t, "no packets from ben", func() bool {
		before := packets
		packets = ada.ReceivedFrom("ben", mediatest.Microphone)
		awaitMore("chen", mediatest.Microphone)
		return packets == before
	})
	awaitMore("chen", mediatest.Microphone)
	awaitMore("ben", mediatest.Camera)
	if got := ada.ReceivedFrom("ben", mediatest.Microphone); got != packets {
		t.Errorf("%d packets from a muted microphone, want 0", got-packets)
	}

	if err := ben.SetMuted("mic", false); err != nil {
		t.Fatal(err)
	}
	awaitMore("ben", mediatest.Microphone)
	if muted, err := f.engine.Mute(ctx, "never", []string{"ben"}); err != nil || muted != nil {
		t.Errorf("mute in an unknown session: got %v, %v, want nil, nil", muted, err)
	}
}
