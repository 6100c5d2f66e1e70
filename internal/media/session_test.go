package media_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

func TestSession_TwoParticipants(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	f.openSession(t, "r.1", room.Video) // changes nothing
	ada := f.join(t, "r.1", "ada", room.Video)
	adaJoined := observerCall{"r.1", "ada", ada.SID(), ""}
	f.expectCalls(t, adaJoined)
	ben := f.join(t, "r.1", "ben", room.Video)

	publish(t, ada, "mic-a", mediatest.Microphone)
	publish(t, ben, "mic-b", mediatest.Microphone)
	publish(t, ada, "cam-a", mediatest.Camera)
	testkit.Eventually(t, "ben hears ada", func() bool { return ben.Received(mediatest.Audio) > 5 })
	testkit.Eventually(t, "ada hears ben", func() bool { return ada.Received(mediatest.Audio) > 5 })
	testkit.Eventually(t, "ben sees ada", func() bool { return ben.Received(mediatest.Video) > 0 })
	if err := f.engine.Healthy(); err != nil {
		t.Error(err)
	}

	list := f.participants(t, "r.1")
	sids := map[string]string{}
	for _, p := range list {
		sids[p.Identity] = p.SID
		if p.JoinedAt.IsZero() {
			t.Errorf("JoinedAt of %s: got zero, want a time", p.Identity)
		}
	}
	if len(list) != 2 || sids["ada"] != ada.SID() || sids["ben"] != ben.SID() {
		t.Fatalf("participants: got %v, want ada with SID %s and ben with SID %s", list, ada.SID(), ben.SID())
	}
	if got := f.participants(t, "r.2"); len(got) != 0 {
		t.Fatalf("participants of an unknown session: got %v, want none", got)
	}

	if n := len(ada.JoinResponse().IceServers); n != 0 {
		t.Errorf("got %d ICE servers, want 0", n)
	}
	if ada.JoinResponse().Room.TurnPassword != "" {
		t.Error("TURN password in the join response: got one, want none")
	}

	ada.Leave()
	f.expectCalls(t, adaJoined,
		observerCall{"r.1", "ben", ben.SID(), ""},
		observerCall{"r.1", "ada", ada.SID(), room.LeftByChoice})
	testkit.Eventually(t, "ada is gone from the list", func() bool { return len(f.participants(t, "r.1")) == 1 })
}

func TestClose(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	accessToken := f.accessToken(t, "r.1", "ada", room.Video)
	ada := joinWithToken(t, f.url, accessToken)
	if err := f.engine.Close(t.Context(), "r.1"); err != nil {
		t.Fatal(err)
	}
	if end := awaitEnd(t, ada, "ROOM_DELETED"); end.Reconnect {
		t.Error("end of ada: got Reconnect true, want false")
	}
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "ada", ada.SID(),
		room.LeftRoomOver})
	if got := f.participants(t, "r.1"); len(got) != 0 {
		t.Errorf("got participants %v, want none", got)
	}

	if status := refusedStatus(t, f.url, accessToken); status != http.StatusNotFound {
		t.Errorf("got status %d for a closed session, want 404", status)
	}
	for _, name := range []string{"r.1", "never"} {
		if err := f.engine.Close(t.Context(), name); err != nil {
			t.Errorf("close %s a second time or without Open: got error %v, want none", name, err)
		}
	}
}

func TestRemove(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	accessToken := f.accessToken(t, "r.1", "eve", room.Video)
	eve := joinWithToken(t, f.url, accessToken)
	freshToken(t, eve)
	f.expectCalls(t, observerCall{"r.1", "eve", eve.SID(), ""})
	f.authorizer.setDenied(map[string]bool{"r.1 eve": true}, nil)
	if err := f.engine.Remove(t.Context(), "r.1", "eve"); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, eve, "PARTICIPANT_REMOVED")
	f.expectCalls(t, observerCall{"r.1", "eve", eve.SID(), ""}, observerCall{"r.1", "eve", eve.SID(), room.LeftRemoved})

	for name, token := range map[string]string{"the old token": accessToken, "the token the server sent": eve.Token()} {
		if status := refusedStatus(t, f.url, token); status != http.StatusUnauthorized {
			t.Errorf("%s: got status %d, want 401", name, status)
		}
	}
	f.authorizer.setDenied(nil, errors.New("the database is away"))
	if status := refusedStatus(t, f.url, accessToken); status != http.StatusServiceUnavailable {
		t.Errorf("got status %d while the authorizer fails, want 503", status)
	}
	f.authorizer.setDenied(nil, nil)
	joinWithToken(t, f.url, accessToken)
	for _, session := range []string{"r.1", "never"} {
		if err := f.engine.Remove(t.Context(), session, "nobody"); err != nil {
			t.Errorf("remove an unknown participant from %s: got error %v, want none", session, err)
		}
	}
}

// A participant whose browser was killed stays in the session until the server notices.
func TestParticipant_ConnectionLost(t *testing.T) {
	testkit.Slow(t)
	f := newFixture(t)
	f.openSession(t, "r.1", room.Audio)
	ada := f.join(t, "r.1", "ada", room.Audio)
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""})
	ada.Abort()
	begin := time.Now()
	testkit.EventuallyWithin(t, time.Minute, "the server notices the lost connection", func() bool {
		return len(f.recorded()) >= 2
	})
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "ada", ada.SID(), room.LeftLost})
	if took := time.Since(begin); took < 5*time.Second {
		t.Errorf("the server noticed the lost connection after %s, want at least 5s", took)
	}
}

func TestSession_DuplicateIdentity(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	first := f.join(t, "r.1", "ada", room.Video)
	f.expectCalls(t, observerCall{"r.1", "ada", first.SID(), ""})
	second := f.join(t, "r.1", "ada", room.Video)
	awaitEnd(t, first, "DUPLICATE_IDENTITY")
	f.expectCalls(t,
		observerCall{"r.1", "ada", first.SID(), ""},
		observerCall{"r.1", "ada", first.SID(), room.LeftReplaced},
		observerCall{"r.1", "ada", second.SID(), ""})
	if list := f.participants(t, "r.1"); len(list) != 1 || list[0].SID != second.SID() {
		t.Errorf("participants: got %v, want one with SID %s", list, second.SID())
	}
}

func TestMaxParticipants(t *testing.T) {
	f := newFixture(t)
	if err := f.engine.Open(t.Context(), room.MediaSession{Name: "r.1", Type: room.Video,
		MaxParticipants: 1}); err != nil {
		t.Fatal(err)
	}
	f.join(t, "r.1", "ada", room.Video)
	refusedStatus(t, f.url, f.accessToken(t, "r.1", "ben", room.Video))
	f.join(t, "r.1", "ada", room.Video) // the same identity again does not count twice
}

// These requests are accepted by LiveKit but must have no effect.
func TestSignaling_ForbiddenRequests(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	eve := f.join(t, "r.1", "eve", room.Video)
	for _, req := range []*livekit.SignalRequest{
		{Message: &livekit.SignalRequest_Simulate{Simulate: &livekit.SimulateScenario{
			Scenario: &livekit.SimulateScenario_ServerLeave{ServerLeave: true}}}},
		{Message: &livekit.SignalRequest_UpdateMetadata{UpdateMetadata: &livekit.UpdateParticipantMetadata{
			Attributes: map[string]string{"role": "host"}}}},
	} {
		if err := eve.SendRequest(req); err != nil {
			t.Fatal(err)
		}
	}
	publish(t, eve, "mic", mediatest.Microphone)
	ben := f.join(t, "r.1", "ben", room.Video)
	testkit.Eventually(t, "sound arrives", func() bool { return ben.Received(mediatest.Audio) > 0 })
	if eve.End() != nil {
		t.Errorf("end of eve after the forbidden requests: got %+v, want none", eve.End())
	}
	if seen, _ := ben.RemoteParticipant("eve"); seen.Attributes["role"] != "guest" {
		t.Errorf("eve as ben sees her: got %+v, want the attribute role with the value guest", seen)
	}
}

// A connection that the participant must not have ends with the reason of a move, so that its page
// asks for its seat again. Another connection with that name, and the others, stay.
func TestCloseConnection(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "main", room.Audio)
	eve := f.join(t, "main", "eve", room.Audio)
	ben := f.join(t, "main", "ben", room.Audio)
	publish(t, ben, "mic", mediatest.Microphone)
	f.engine.CloseConnection("main", "eve", "PA_unknown")
	f.engine.CloseConnection("main", "chen", eve.SID())
	f.engine.CloseConnection("elsewhere", "eve", eve.SID())
	awaitPackets(t, eve, "ben", mediatest.Microphone)
	f.engine.CloseConnection("main", "eve", eve.SID())
	awaitEnd(t, eve, "MIGRATION")
	again := f.join(t, "main", "eve", room.Audio)
	awaitPackets(t, again, "ben", mediatest.Microphone)
}
