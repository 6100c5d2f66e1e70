package media_test

import (
	"testing"
	"time"

	"parley/internal/media/mediatest"
	"parley/internal/room"
)

// ghost is a participant that never answers the server's offer and publishes
// all the same.
func ghost(t *testing.T, h *house, session, identity string) *mediatest.Raw {
	t.Helper()
	eve := dial(t, h.url, h.pass(t, session, identity, room.Video), mediatest.RawOptions{HalfConnected: true})
	if err := eve.Publish(t.Context(), "mic", mediatest.Microphone); err != nil {
		t.Fatal(err)
	}
	if err := eve.Say(t.Context(), "chat", "boo"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine receives the track", func() bool { return h.engine.Published(session, identity) == 1 })
	return eve
}

// A half-connected participant is not heard, not read and not shown, and what
// the host does applies to it. As soon as it is admitted, it is like any other.
func TestHalfConnected(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Video)
	ada := h.enter(t, "r.1", "ada", room.Video)
	eve := ghost(t, h, "r.1", "eve")
	ben := h.enter(t, "r.1", "ben", room.Video) // comes later, and finds nobody but ada
	publish(t, ben, "mic", mediatest.Microphone)
	await(t, ada, "ben", mediatest.Microphone)
	for _, p := range []*mediatest.Participant{ada, ben} {
		if p.EverSaw("eve") || len(p.Heard()) > 0 {
			t.Errorf("%s was told of the ghost, or read it: %v", p.Identity(), p.Heard())
		}
	}

	// Locks reach it,
	if err := h.engine.Allow(t.Context(), "r.1", "eve", room.Guest, room.Grants{Chat: true}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its track is gone", func() bool { return h.engine.Published("r.1", "eve") == 0 })
	if err := h.engine.Allow(t.Context(), "r.1", "eve", room.Guest, everything); err != nil {
		t.Fatal(err)
	}
	// and once it is connected, the others hear of it and of what it published.
	if err := eve.Publish(t.Context(), "mic-2", mediatest.Microphone); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine receives the track", func() bool { return h.engine.Published("r.1", "eve") == 1 })
	if err := eve.AnswerOffer(); err != nil {
		t.Fatal(err)
	}
	await(t, ada, "eve", mediatest.Microphone)
	await(t, ben, "eve", mediatest.Microphone)

	// A removal reaches it.
	dora := ghost(t, h, "r.1", "dora")
	if err := h.engine.Remove(t.Context(), "r.1", "dora"); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, dora.Participant, "PARTICIPANT_REMOVED")
	if dora, there := ada.Sees("dora"); there {
		t.Errorf("ada was told of the second ghost: %+v", dora)
	}
}

func TestHalfConnectedIsDisconnectedInTime(t *testing.T) {
	h := newHouse(t)
	h.engine.ConnectWithin(300 * time.Millisecond)
	h.open(t, "r.1", room.Video)
	ada := h.enter(t, "r.1", "ada", room.Video)
	eve := dial(t, h.url, h.pass(t, "r.1", "eve", room.Video), mediatest.RawOptions{HalfConnected: true})
	awaitEnd(t, eve.Participant, "JOIN_FAILURE")
	if !h.log.has("refused", `"kind":"not_connected"`, `"identity":"eve"`) {
		t.Error("the log does not tell")
	}
	h.expect(t, seen{"r.1", "ada", ada.SID(), ""})
	if ada.End() != nil {
		t.Error("who is connected was disconnected, too")
	}
	if n := h.engine.Held(); n != 0 {
		t.Errorf("%d participants are still held back", n)
	}
}

// Nothing is forwarded before the observer has admitted the connection, also
// where media is connected.
func TestNotHeardBeforeAdmitted(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Video)
	ada := h.enter(t, "r.1", "ada", room.Video)
	admit := make(chan string, 1)
	h.observer.admit = func(connection string) { admit <- connection }
	eve := h.enter(t, "r.1", "eve", room.Video)
	connection := <-admit
	if err := eve.Say(t.Context(), "chat", "too early"); err != nil {
		t.Fatal(err)
	}
	publish(t, eve, "mic", mediatest.Microphone) // takes longer than the message
	eventually(t, "the engine receives the track", func() bool { return h.engine.Published("r.1", "eve") == 1 })
	if ada.EverSaw("eve") || ada.Received(mediatest.Sound) > 0 {
		t.Error("ada was told of eve before the attendance was recorded")
	}
	h.engine.Admit(connection)
	await(t, ada, "eve", mediatest.Microphone)
	if err := eve.Say(t.Context(), "chat", "now"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ada reads what came after", func() bool { return len(ada.Heard()) == 1 && ada.Heard()[0].Text == "now" })
}
