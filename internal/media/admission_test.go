package media_test

import (
	"testing"
	"time"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// joinHalfConnected joins a participant that publishes although it does not answer the
// server's offer.
func joinHalfConnected(t *testing.T, f *fixture, session, identity string) *mediatest.Raw {
	t.Helper()
	eve := dialRaw(t, f.url, f.accessToken(t, session, identity, room.Video), mediatest.RawOptions{HalfConnected: true})
	if err := eve.Publish(t.Context(), "mic", mediatest.Microphone); err != nil {
		t.Fatal(err)
	}
	if err := eve.SendData(t.Context(), "chat", "boo"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the engine receives the track", func() bool {
		return f.engine.PublishedTrackCount(session, identity) == 1
	})
	return eve
}

// A half-connected participant is hidden from the others together with its tracks and
// messages, but the host can lock and remove it. Once it is admitted, it is like any other
// participant.
func TestAdmission_HalfConnected(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	ada := f.join(t, "r.1", "ada", room.Video)
	eve := joinHalfConnected(t, f, "r.1", "eve")
	ben := f.join(t, "r.1", "ben", room.Video) // joins later and must only see ada
	publish(t, ben, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	for _, p := range []*mediatest.Participant{ada, ben} {
		if p.EverSaw("eve") || len(p.DataMessages()) > 0 {
			t.Errorf("%s: got eve seen: %v, messages %v, want eve not seen and no messages", p.Identity(), p.EverSaw("eve"),
				p.DataMessages())
		}
	}

	// Changed permissions apply to it.
	if err := f.engine.UpdatePermissions(t.Context(), "r.1", "eve", room.Guest, room.Grants{Chat: true}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the track is removed", func() bool {
		return f.engine.PublishedTrackCount("r.1", "eve") == 0
	})
	if err := f.engine.UpdatePermissions(t.Context(), "r.1", "eve", room.Guest, allGrants); err != nil {
		t.Fatal(err)
	}
	// Once it is connected, the others see it and its tracks.
	if err := eve.Publish(t.Context(), "mic-2", mediatest.Microphone); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the engine receives the track", func() bool {
		return f.engine.PublishedTrackCount("r.1", "eve") == 1
	})
	if err := eve.AnswerOffer(); err != nil {
		t.Fatal(err)
	}
	awaitPackets(t, ada, "eve", mediatest.Microphone)
	awaitPackets(t, ben, "eve", mediatest.Microphone)

	// A half-connected participant can be removed.
	dora := joinHalfConnected(t, f, "r.1", "dora")
	if err := f.engine.Remove(t.Context(), "r.1", "dora"); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, dora.Participant, "PARTICIPANT_REMOVED")
	if dora, found := ada.RemoteParticipant("dora"); found {
		t.Errorf("ada sees %+v, want no dora", dora)
	}
}

// shortConnectTimeout is for participants who never connect media. It is enough for their signaling on a busy machine.
const shortConnectTimeout = 3 * time.Second

func TestAdmission_ConnectTimeout(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	ada := f.join(t, "r.1", "ada", room.Video)
	f.engine.SetConnectTimeout(shortConnectTimeout)
	eve := dialRaw(t, f.url, f.accessToken(t, "r.1", "eve", room.Video), mediatest.RawOptions{HalfConnected: true})
	awaitEnd(t, eve.Participant, "JOIN_FAILURE")
	if !f.log.HasLine("refused", `"kind":"not_connected"`, `"identity":"eve"`) {
		t.Errorf("log: got no line with refused, not_connected and eve, want one in:\n%s", f.log)
	}
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""})
	if ada.End() != nil {
		t.Errorf("end of the connected participant: got %+v, want none", ada.End())
	}
	testkit.Eventually(t, "no participant is held back", func() bool { return f.engine.HeldCount() == 0 })
}

// Nothing is forwarded before the observer has admitted the connection, even if media is
// connected.
func TestAdmission_NothingForwardedBefore(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	ada := f.join(t, "r.1", "ada", room.Video)
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}) // what follows is about eve's connection
	admit := make(chan string, 1)
	f.observer.onJoined = func(connection string) { admit <- connection }
	eve := f.join(t, "r.1", "eve", room.Video)
	connection := <-admit
	if err := eve.SendData(t.Context(), "chat", "too early"); err != nil {
		t.Fatal(err)
	}
	publish(t, eve, "mic", mediatest.Microphone) // takes longer than the message
	testkit.Eventually(t, "the engine receives the track", func() bool {
		return f.engine.PublishedTrackCount("r.1", "eve") == 1
	})
	if ada.EverSaw("eve") || ada.Received(mediatest.Audio) > 0 {
		t.Errorf("ada before the attendance of eve was recorded: got eve seen: %v, %d audio packets, want false, none",
			ada.EverSaw("eve"), ada.Received(mediatest.Audio))
	}
	f.engine.Admit(connection)
	awaitPackets(t, ada, "eve", mediatest.Microphone)
	if err := eve.SendData(t.Context(), "chat", "now"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "ada reads only the later message", func() bool {
		return len(ada.DataMessages()) == 1 && ada.DataMessages()[0].Text == "now"
	})
}
