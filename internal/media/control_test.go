package media_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// assertControl checks the control of a session, which must be the same for a session of
// this process and of another: pages receive changes and messages, and permissions change.
func assertControl(t *testing.T, f *fixture, session string, ada, ben *mediatest.Participant) {
	t.Helper()
	ctx := t.Context()

	ends := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	info := room.Metadata{EndsAt: &ends, Breakouts: []room.BreakoutInfo{{Number: 1, Name: "Red"}},
		Locks: room.Locks{Camera: true}}
	for range 3 { // the same metadata is announced only once
		if err := f.engine.UpdateMetadata(ctx, session, info); err != nil {
			t.Fatal(err)
		}
		if _, err := ada.AwaitInfo(ctx, func(i room.Metadata) bool { return len(i.Breakouts) == 1 }); err != nil {
			t.Fatal(err)
		}
	}
	info.Breakouts[0].Name = "Blue"
	if err := f.engine.UpdateMetadata(ctx, session, info); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*mediatest.Participant{ada, ben} {
		got, err := p.AwaitInfo(ctx, func(i room.Metadata) bool {
			return len(i.Breakouts) == 1 && i.Breakouts[0].Name == "Blue"
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.RoomType != room.Video || got.EndsAt == nil || !got.EndsAt.Equal(ends) || !got.Locks.Camera ||
			got.Locks.Microphone {
			t.Errorf("got metadata %+v, want a video session that ends at %s with a camera lock", got, ends)
		}
		if n := len(p.Infos()); n != 3 {
			t.Errorf("%s received metadata %d times, want 3: on joining and two changes", p.Identity(), n)
		}
	}

	if err := f.engine.SendMessage(ctx, session, []string{"ben", "nobody"},
		room.Message{Kind: room.MessageMove}); err != nil {
		t.Fatal(err)
	}
	all := room.Message{Kind: room.MessageBroadcast, Text: "Five more minutes", From: "Ada"}
	if err := f.engine.SendMessage(ctx, session, nil, all); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*mediatest.Participant{ada, ben} {
		if got, err := p.AwaitMessage(ctx, room.MessageBroadcast); err != nil || got != all {
			t.Fatalf("%s received %+v, %v, want %+v", p.Identity(), got, err, all)
		}
	}
	if got := ben.ServerMessages(); len(got) != 2 || got[0].Kind != room.MessageMove {
		t.Errorf("ben received %v, want a move and a broadcast", got)
	}
	if got := ada.ServerMessages(); len(got) != 1 {
		t.Errorf("ada received %v, want a broadcast only", got)
	}

	publish(t, ben, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	if muted, err := f.engine.Mute(ctx, session, []string{"ada", "ben"}); err != nil ||
		!slices.Equal(muted, []string{"ben"}) {
		t.Errorf("muted %v, %v, want ben", muted, err)
	}
	if err := ben.SetMuted("mic", false); err != nil {
		t.Fatal(err)
	}

	// The microphone stays while the camera is removed.
	publish(t, ben, "cam", mediatest.Camera)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Camera)
	if err := f.engine.UpdatePermissions(ctx, session, "ben", room.Host,
		room.Grants{Microphone: true, Chat: true}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "ben is a host without a camera", func() bool {
		seen, _ := ada.RemoteParticipant("ben")
		return seen.Attributes["role"] == "host" && slices.Equal(seen.Tracks, []mediatest.Source{mediatest.Microphone})
	})
	testkit.Eventually(t, "ben is notified", func() bool { return ben.Unpublished("cam") })
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	if err := ben.Publish(ctx, "cam-again", mediatest.Camera); !errors.Is(err, mediatest.ErrNotAllowed) {
		t.Errorf("publish a camera without permission: got error %v, want %v", err, mediatest.ErrNotAllowed)
	}
	awaitNoVideo(t, ada, ben)

	// The permissions are restored.
	if err := f.engine.UpdatePermissions(ctx, session, "ben", room.Guest, allGrants); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "ben is a guest", func() bool {
		seen, _ := ada.RemoteParticipant("ben")
		return seen.Attributes["role"] == "guest"
	})
	publish(t, ben, "cam-back", mediatest.Camera)
	awaitPackets(t, ada, "ben", mediatest.Camera)

	// All permissions are revoked, including messages.
	if err := ben.SendData(ctx, "chat", "hello"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "ada reads", func() bool {
		return slices.Contains(ada.DataMessages(), mediatest.DataMessage{Topic: "chat", From: "ben", Text: "hello"})
	})
	if err := f.engine.UpdatePermissions(ctx, session, "ben", room.Guest, room.Grants{}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "ben publishes nothing", func() bool {
		seen, found := ada.RemoteParticipant("ben")
		return found && len(seen.Tracks) == 0
	})
	if err := ben.SendData(ctx, "chat", "psst"); err != nil {
		t.Fatal(err)
	}
	if err := ada.SendData(ctx, "chat", "still here"); err != nil {
		t.Fatal(err)
	}
	// Ben still receives messages of others.
	testkit.Eventually(t, "ben reads", func() bool {
		return slices.Contains(ben.DataMessages(), mediatest.DataMessage{Topic: "chat", From: "ada",
			Text: "still here"})
	})
	if slices.ContainsFunc(ada.DataMessages(), func(s mediatest.DataMessage) bool { return s.Text == "psst" }) {
		t.Error("a message of ben arrived, want none without permission")
	}

	for _, unknown := range []string{session, "never"} {
		if err := f.engine.UpdatePermissions(ctx, unknown, "nobody", room.Guest, allGrants); err != nil {
			t.Errorf("update the permissions of an unknown participant in %s: got error %v, want none", unknown, err)
		}
	}
	if err := f.engine.UpdateMetadata(ctx, "never", info); err != nil {
		t.Error(err)
	}
	if err := f.engine.SendMessage(ctx, "never", nil, all); err != nil {
		t.Error(err)
	}
}

// Messages of a participant without the chat permission are not forwarded, under any topic.
// Messages of others arrive with the identity of their sender.
func TestChat_WithoutPermission(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Audio)
	ada := f.join(t, "r.1", "ada", room.Audio)
	ben := f.join(t, "r.1", "ben", room.Audio)
	eve := joinWithToken(t, f.url, f.accessTokenFor(t, "r.1", "eve", room.Authorization{Type: room.Audio,
		Grants: room.Grants{Microphone: true}}))
	for _, topic := range []string{"chat", "parley", ""} {
		if err := eve.SendData(t.Context(), topic, `{"id":"12345678","text":"psst"}`); err != nil {
			t.Fatal(err)
		}
	}
	if err := ben.SendData(t.Context(), "chat", `{"id":"12345678","text":"I am ada","from":"ada"}`); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "ada reads ben", func() bool { return len(ada.DataMessages()) > 0 })
	// Once eve has the permission, only new messages are forwarded.
	if err := f.engine.UpdatePermissions(t.Context(), "r.1", "eve", room.Guest, allGrants); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "ada reads eve", func() bool {
		if err := eve.SendData(t.Context(), "chat", "now"); err != nil {
			t.Fatal(err)
		}
		return len(ada.DataMessages()) > 1
	})
	for _, message := range ada.DataMessages() {
		if message.From == "eve" && message.Text != "now" || strings.Contains(message.Text, "I am ada") &&
			message.From != "ben" {
			t.Errorf("message that ada receives: got %+v, want from eve only \"now\", and \"I am ada\" only from ben", message)
		}
	}
}

// awaitNoVideo waits until no more video packets arrive, although a participant sends them.
func awaitNoVideo(t *testing.T, p, sender *mediatest.Participant) {
	t.Helper()
	awaitNoPackets(t, "no video arrives", sender, mediatest.Video, func() int { return p.Received(mediatest.Video) })
}

// awaitNoPackets waits until a participant has sent 40 packets of a type while the number of received packets stayed
// the same. Packets of a track that is not negotiated count, too, although nothing carries them.
func awaitNoPackets(
	t *testing.T, condition string, sender *mediatest.Participant, kind mediatest.TrackType, received func() int,
) {
	t.Helper()
	testkit.Eventually(t, condition, func() bool {
		before, sent := received(), sender.Sent(kind)
		testkit.Eventually(t, "packets are sent", func() bool { return sender.Sent(kind) >= sent+40 })
		return received() == before
	})
}

func TestEngine_ControlsLocalSession(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	if !f.engine.IsLocal("r.1") || f.engine.IsLocal("r.2") {
		t.Error("IsLocal is wrong, want true for r.1 and false for r.2")
	}
	ada := f.join(t, "r.1", "ada", room.Video)
	ben := f.join(t, "r.1", "ben", room.Video)
	assertControl(t, f, "r.1", ada, ben)
}

// Opening an open session again does not change its metadata.
func TestOpen_Repeated(t *testing.T) {
	f := newFixture(t)
	open := func(breakout int) {
		t.Helper()
		if err := f.engine.Open(t.Context(), room.MediaSession{Name: "r.1", Type: room.Audio,
			Metadata: room.Metadata{Breakout: breakout}}); err != nil {
			t.Fatal(err)
		}
	}
	open(1)
	ada := f.join(t, "r.1", "ada", room.Audio)
	if got := ada.Info(); got.Breakout != 1 || got.RoomType != room.Audio {
		t.Errorf("metadata of ada: got %+v, want Breakout 1 and RoomType %s", got, room.Audio)
	}
	open(2)
	ben := f.join(t, "r.1", "ben", room.Audio)
	if got := ben.Info(); got.Breakout != 1 {
		t.Errorf("metadata of ben after a second Open: got %+v, want Breakout 1", got)
	}
	// UpdateMetadata does not change the type of the session.
	if err := f.engine.UpdateMetadata(t.Context(), "r.1", room.Metadata{RoomType: room.Video,
		Breakout: 3}); err != nil {
		t.Fatal(err)
	}
	if got, err := ben.AwaitInfo(t.Context(), func(i room.Metadata) bool { return i.Breakout == 3 }); err != nil ||
		got.RoomType != room.Audio {
		t.Errorf("metadata of ben after an update to Breakout 3: got %+v, error %v, want RoomType %s", got, err, room.Audio)
	}
	if err := f.engine.UpdatePermissions(t.Context(), "r.1", "ben", room.Guest, allGrants); err != nil {
		t.Fatal(err)
	}
	if err := ben.Publish(t.Context(), "cam", mediatest.Camera); !errors.Is(err, mediatest.ErrNotAllowed) {
		t.Errorf("publish a camera in an audio session: got %v, want ErrNotAllowed", err)
	}
}

// A participant can use the server's topic, but its messages name it as the sender.
func TestServerTopic_NamesSender(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	ada := f.join(t, "r.1", "ada", room.Video)
	eve := f.join(t, "r.1", "eve", room.Video)
	if err := eve.SendData(t.Context(), "parley", `{"kind":"move"}`); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "eve's message arrives", func() bool { return len(ada.DataMessages()) == 1 })
	if got := ada.DataMessages()[0]; got.Topic != "parley" || got.From != "eve" {
		t.Errorf("got message %+v, want topic parley from eve", got)
	}
	if got := ada.ServerMessages(); len(got) != 0 {
		t.Errorf("got server messages %v, want none", got)
	}
}

// A track that was announced with permission must not be sent after the permission was
// revoked.
func TestTrack_ForbiddenAfterAnnouncement(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	ada := f.join(t, "r.1", "ada", room.Video)
	eve := f.join(t, "r.1", "eve", room.Video)
	if err := eve.Announce(t.Context(), "cam", mediatest.Camera, mediatest.Video); err != nil {
		t.Fatal(err)
	}
	if err := f.engine.UpdatePermissions(t.Context(), "r.1", "eve", room.Guest,
		room.Grants{Microphone: true}); err != nil {
		t.Fatal(err)
	}
	if err := eve.StartTrack(t.Context(), "cam", mediatest.Video); err != nil {
		t.Fatal(err)
	}
	publish(t, eve, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "eve", mediatest.Microphone)
	testkit.Eventually(t, "no camera", func() bool {
		seen, _ := ada.RemoteParticipant("eve")
		return f.engine.PublishedTrackCount("r.1", "eve") == 1 &&
			slices.Equal(seen.Tracks, []mediatest.Source{mediatest.Microphone})
	})
	awaitNoVideo(t, ada, eve)
	if eve.End() != nil {
		t.Error("eve was removed, want only the track removed")
	}
}

// A participant without the camera permission cannot publish video as a microphone.
func TestTrack_LockedCameraMislabeled(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	ada := f.join(t, "r.1", "ada", room.Video)
	eve := joinWithToken(t, f.url, f.accessTokenFor(t, "r.1", "eve", room.Authorization{Type: room.Video,
		Grants: room.Grants{Microphone: true}}))
	if err := eve.Announce(t.Context(), "cam", mediatest.Microphone, mediatest.Video); !errors.Is(err,
		mediatest.ErrNotAllowed) {
		t.Errorf("announce video with the source microphone: got error %v, want %v", err, mediatest.ErrNotAllowed)
	}
	publishMislabeled(t, eve, "lie", mediatest.Microphone, mediatest.Audio, mediatest.Video)
	testkit.Eventually(t, "published and removed again", func() bool {
		return f.log.HasLine("media does not match its source", `"identity":"eve"`) &&
			f.engine.PublishedTrackCount("r.1", "eve") == 0
	})
	testkit.Eventually(t, "ada sees no track", func() bool {
		seen, found := ada.RemoteParticipant("eve")
		return found && len(seen.Tracks) == 0
	})
}

func TestParticipant_Hidden(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	ada := f.join(t, "r.1", "ada", room.Video)
	spy := joinWithToken(t, f.url, f.accessTokenFor(t, "r.1", "spy", room.Authorization{
		Type: room.Video, Grants: allGrants, Hidden: true}))
	ben := f.join(t, "r.1", "ben", room.Video)
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "spy", spy.SID(), ""},
		observerCall{"r.1", "ben", ben.SID(), ""})
	if list := f.participants(t, "r.1"); len(list) != 3 {
		t.Errorf("participants: got %v, want three", list)
	}

	publish(t, ada, "mic", mediatest.Microphone)
	awaitPackets(t, spy, "ada", mediatest.Microphone)
	if err := ada.SendData(t.Context(), "chat", "hello"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the hidden participant receives the message", func() bool {
		return len(spy.DataMessages()) == 1
	})
	if err := f.engine.SendMessage(t.Context(), "r.1", []string{"spy"},
		room.Message{Kind: room.MessageMove}); err != nil {
		t.Fatal(err)
	}
	if _, err := spy.AwaitMessage(t.Context(), room.MessageMove); err != nil {
		t.Fatal(err)
	}

	// A hidden participant cannot send, and new grants do not change that or show it.
	for range 2 {
		if err := spy.Publish(t.Context(), "mic", mediatest.Microphone); !errors.Is(err, mediatest.ErrNotAllowed) {
			t.Errorf("publish as a hidden participant: got %v, want ErrNotAllowed", err)
		}
		if err := spy.SendData(t.Context(), "parley", `{"kind":"broadcast"}`); err != nil {
			t.Fatal(err)
		}
		if err := f.engine.UpdatePermissions(t.Context(), "r.1", "spy", room.Host, allGrants); err != nil {
			t.Fatal(err)
		}
	}
	spy.Leave()
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "spy", spy.SID(), ""},
		observerCall{"r.1", "ben", ben.SID(), ""},
		observerCall{"r.1", "spy", spy.SID(), room.LeftByChoice})

	// This change arrives last, so that the others would have noticed the hidden
	// participant before it.
	if err := f.engine.UpdateMetadata(t.Context(), "r.1", room.Metadata{Breakout: 1}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*mediatest.Participant{ada, ben} {
		if _, err := p.AwaitInfo(t.Context(), func(i room.Metadata) bool { return i.Breakout == 1 }); err != nil {
			t.Fatal(err)
		}
		if p.EverSaw("spy") {
			t.Errorf("%s: got the hidden participant seen, want not seen", p.Identity())
		}
		if n := len(p.Infos()); n != 2 {
			t.Errorf("%s received metadata %d times, want 2", p.Identity(), n)
		}
		if slices.ContainsFunc(p.DataMessages(), func(s mediatest.DataMessage) bool { return s.Topic == "parley" }) {
			t.Errorf("messages of %s: got %v, want none with the topic parley", p.Identity(), p.DataMessages())
		}
	}
}

// The newer protocol is served for every video session, whatever the permissions are.
func TestProtocol_ByRoomType(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	f.openSession(t, "r.2", room.Audio)
	for _, c := range []struct {
		session string
		allowed room.Authorization
		found   bool
	}{
		{"r.1", room.Authorization{Type: room.Video, Grants: room.Grants{Microphone: true}}, true},
		{"r.1", room.Authorization{Type: room.Video, Hidden: true}, true},
		{"r.2", room.Authorization{Type: room.Audio, Grants: allGrants}, false},
	} {
		// If the path exists, the status is that of a missing join request.
		got := f.getStatus(t, "/rtc/v1/validate", f.accessTokenFor(t, c.session, "ada", c.allowed))
		if (got != http.StatusNotFound) != c.found {
			t.Errorf("%+v: got status %d, want found %t", c.allowed, got, c.found)
		}
	}
}
