package media_test

import (
	"testing"
	"time"

	"parley/internal/media/mediatest"
	"parley/internal/room"
)

// joinHalfConnected is a participant that never answers the server's offer and publishes
// all the same.
func joinHalfConnected(t *testing.T, h *fixture, session, identity string) *mediatest.Raw {
	t.Helper()
	eve := dialRaw(t, h.url, h.accessToken(t, session, identity, room.Video), mediatest.RawOptions{HalfConnected: true})
	if err := eve.Publish(t.Context(), "mic", mediatest.Microphone); err != nil {
		t.Fatal(err)
	}
	if err := eve.SendData(t.Context(), "chat", "boo"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine receives the track", func() bool { return h.engine.PublishedTrackCount(session, identity) == 1 })
	return eve
}

// A half-connected participant is not heard, not read and not shown, and what
// the host does applies to it. As soon as it is admitted, it is like any other.
func TestAdmission_HalfConnected(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	ada := h.join(t, "r.1", "ada", room.Video)
	eve := joinHalfConnected(t, h, "r.1", "eve")
	ben := h.join(t, "r.1", "ben", room.Video) // comes later, and finds nobody but ada
	publish(t, ben, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	for _, p := range []*mediatest.Participant{ada, ben} {
		if p.EverSaw("eve") || len(p.DataMessages()) > 0 {
			t.Errorf("%s was told of the ghost, or read it: %v", p.Identity(), p.DataMessages())
		}
	}

	// Locks reach it,
	if err := h.engine.UpdatePermissions(t.Context(), "r.1", "eve", room.Guest, room.Grants{Chat: true}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its track is gone", func() bool { return h.engine.PublishedTrackCount("r.1", "eve") == 0 })
	if err := h.engine.UpdatePermissions(t.Context(), "r.1", "eve", room.Guest, allGrants); err != nil {
		t.Fatal(err)
	}
	// and once it is connected, the others hear of it and of what it published.
	if err := eve.Publish(t.Context(), "mic-2", mediatest.Microphone); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine receives the track", func() bool { return h.engine.PublishedTrackCount("r.1", "eve") == 1 })
	if err := eve.AnswerOffer(); err != nil {
		t.Fatal(err)
	}
	awaitPackets(t, ada, "eve", mediatest.Microphone)
	awaitPackets(t, ben, "eve", mediatest.Microphone)

	// A removal reaches it.
	dora := joinHalfConnected(t, h, "r.1", "dora")
	if err := h.engine.Remove(t.Context(), "r.1", "dora"); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, dora.Participant, "PARTICIPANT_REMOVED")
	if dora, there := ada.RemoteParticipant("dora"); there {
		t.Errorf("ada was told of the second ghost: %+v", dora)
	}
}

func TestAdmission_ConnectTimeout(t *testing.T) {
	h := newFixture(t)
	h.engine.SetConnectTimeout(300 * time.Millisecond)
	h.openSession(t, "r.1", room.Video)
	ada := h.join(t, "r.1", "ada", room.Video)
	eve := dialRaw(t, h.url, h.accessToken(t, "r.1", "eve", room.Video), mediatest.RawOptions{HalfConnected: true})
	awaitEnd(t, eve.Participant, "JOIN_FAILURE")
	if !h.log.hasLine("refused", `"kind":"not_connected"`, `"identity":"eve"`) {
		t.Error("the log does not tell")
	}
	h.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""})
	if ada.End() != nil {
		t.Error("who is connected was disconnected, too")
	}
	if n := h.engine.HeldCount(); n != 0 {
		t.Errorf("%d participants are still held back", n)
	}
}

// Nothing is forwarded before the observer has admitted the connection, also
// where media is connected.
func TestAdmission_NothingForwardedBefore(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	ada := h.join(t, "r.1", "ada", room.Video)
	admit := make(chan string, 1)
	h.observer.onJoined = func(connection string) { admit <- connection }
	eve := h.join(t, "r.1", "eve", room.Video)
	connection := <-admit
	if err := eve.SendData(t.Context(), "chat", "too early"); err != nil {
		t.Fatal(err)
	}
	publish(t, eve, "mic", mediatest.Microphone) // takes longer than the message
	eventually(t, "the engine receives the track", func() bool { return h.engine.PublishedTrackCount("r.1", "eve") == 1 })
	if ada.EverSaw("eve") || ada.Received(mediatest.Audio) > 0 {
		t.Error("ada was told of eve before the attendance was recorded")
	}
	h.engine.Admit(connection)
	awaitPackets(t, ada, "eve", mediatest.Microphone)
	if err := eve.SendData(t.Context(), "chat", "now"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ada reads what came after", func() bool { return len(ada.DataMessages()) == 1 && ada.DataMessages()[0].Text == "now" })
}
