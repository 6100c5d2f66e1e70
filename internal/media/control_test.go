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
)

// assertControl is what both a session of this process and one of another must do:
// pages hear of changes and messages, and what somebody may send changes.
func assertControl(t *testing.T, h *fixture, session string, ada, ben *mediatest.Participant) {
	t.Helper()
	ctx := t.Context()

	ends := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	info := room.Metadata{EndsAt: &ends, Breakouts: []room.BreakoutInfo{{Number: 1, Name: "Red"}}, Locks: room.Locks{Camera: true}}
	for range 3 { // the same again is no news
		if err := h.engine.UpdateMetadata(ctx, session, info); err != nil {
			t.Fatal(err)
		}
		if _, err := ada.AwaitInfo(ctx, func(i room.Metadata) bool { return len(i.Breakouts) == 1 }); err != nil {
			t.Fatal(err)
		}
	}
	info.Breakouts[0].Name = "Blue"
	if err := h.engine.UpdateMetadata(ctx, session, info); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*mediatest.Participant{ada, ben} {
		got, err := p.AwaitInfo(ctx, func(i room.Metadata) bool { return len(i.Breakouts) == 1 && i.Breakouts[0].Name == "Blue" })
		if err != nil {
			t.Fatal(err)
		}
		if got.RoomType != room.Video || got.EndsAt == nil || !got.EndsAt.Equal(ends) || !got.Locks.Camera || got.Locks.Microphone {
			t.Errorf("pages read %+v", got)
		}
		if n := len(p.Infos()); n != 3 {
			t.Errorf("%s was told %d times, want on joining and of two changes", p.Identity(), n)
		}
	}

	if err := h.engine.SendMessage(ctx, session, []string{"ben", "nobody"}, room.Message{Kind: room.MessageMove}); err != nil {
		t.Fatal(err)
	}
	all := room.Message{Kind: room.MessageBroadcast, Text: "Five more minutes", From: "Ada"}
	if err := h.engine.SendMessage(ctx, session, nil, all); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*mediatest.Participant{ada, ben} {
		if got, err := p.AwaitMessage(ctx, room.MessageBroadcast); err != nil || got != all {
			t.Fatalf("%s was told %+v, %v", p.Identity(), got, err)
		}
	}
	if got := ben.ServerMessages(); len(got) != 2 || got[0].Kind != room.MessageMove {
		t.Errorf("ben was told %v", got)
	}
	if got := ada.ServerMessages(); len(got) != 1 {
		t.Errorf("ada was told %v", got)
	}

	publish(t, ben, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	if muted, err := h.engine.Mute(ctx, session, []string{"ada", "ben"}); err != nil || !slices.Equal(muted, []string{"ben"}) {
		t.Errorf("muted %v, %v", muted, err)
	}
	if err := ben.SetMuted("mic", false); err != nil {
		t.Fatal(err)
	}

	// Sound goes on while the picture is taken out.
	publish(t, ben, "cam", mediatest.Camera)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Camera)
	if err := h.engine.UpdatePermissions(ctx, session, "ben", room.Host, room.Grants{Microphone: true, Chat: true}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ben is a host without a picture", func() bool {
		seen, _ := ada.RemoteParticipant("ben")
		return seen.Attributes["role"] == "host" && slices.Equal(seen.Tracks, []mediatest.Source{mediatest.Microphone})
	})
	eventually(t, "ben is told", func() bool { return ben.Unpublished("cam") })
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	if err := ben.Publish(ctx, "cam-again", mediatest.Camera); !errors.Is(err, mediatest.ErrNotAllowed) {
		t.Errorf("a camera that is not allowed: %v", err)
	}
	awaitNoVideo(t, ada)

	// And back.
	if err := h.engine.UpdatePermissions(ctx, session, "ben", room.Guest, allGrants); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ben is a guest", func() bool {
		seen, _ := ada.RemoteParticipant("ben")
		return seen.Attributes["role"] == "guest"
	})
	publish(t, ben, "cam-back", mediatest.Camera)
	awaitPackets(t, ada, "ben", mediatest.Camera)

	// Nothing at all: not even words.
	if err := ben.SendData(ctx, "chat", "hello"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ada reads", func() bool {
		return slices.Contains(ada.DataMessages(), mediatest.DataMessage{Topic: "chat", From: "ben", Text: "hello"})
	})
	if err := h.engine.UpdatePermissions(ctx, session, "ben", room.Guest, room.Grants{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ben publishes nothing", func() bool {
		seen, there := ada.RemoteParticipant("ben")
		return there && len(seen.Tracks) == 0
	})
	if err := ben.SendData(ctx, "chat", "psst"); err != nil {
		t.Fatal(err)
	}
	if err := ada.SendData(ctx, "chat", "still here"); err != nil {
		t.Fatal(err)
	}
	// Ben still hears others.
	eventually(t, "ben reads", func() bool {
		return slices.Contains(ben.DataMessages(), mediatest.DataMessage{Topic: "chat", From: "ada", Text: "still here"})
	})
	if slices.ContainsFunc(ada.DataMessages(), func(s mediatest.DataMessage) bool { return s.Text == "psst" }) {
		t.Error("ben was heard")
	}

	for _, unknown := range []string{session, "never"} {
		if err := h.engine.UpdatePermissions(ctx, unknown, "nobody", room.Guest, allGrants); err != nil {
			t.Errorf("allow nobody in %s: %v", unknown, err)
		}
	}
	if err := h.engine.UpdateMetadata(ctx, "never", info); err != nil {
		t.Error(err)
	}
	if err := h.engine.SendMessage(ctx, "never", nil, all); err != nil {
		t.Error(err)
	}
}

// Who came without leave to write is not read, whatever their page sends and
// under whatever topic; who has it is read under their own name.
func TestChat_WithoutPermission(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Audio)
	ada := h.join(t, "r.1", "ada", room.Audio)
	ben := h.join(t, "r.1", "ben", room.Audio)
	eve := connect(t, h.url, h.accessTokenFor(t, "r.1", "eve", room.Authorization{Type: room.Audio, Grants: room.Grants{Microphone: true}}))
	for _, topic := range []string{"chat", "parley", ""} {
		if err := eve.SendData(t.Context(), topic, `{"id":"12345678","text":"psst"}`); err != nil {
			t.Fatal(err)
		}
	}
	if err := ben.SendData(t.Context(), "chat", `{"id":"12345678","text":"I am ada","from":"ada"}`); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ada reads ben", func() bool { return len(ada.DataMessages()) > 0 })
	// Given leave, eve is read from then on: what came before is not on its way.
	if err := h.engine.UpdatePermissions(t.Context(), "r.1", "eve", room.Guest, allGrants); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ada reads eve", func() bool {
		if err := eve.SendData(t.Context(), "chat", "now"); err != nil {
			t.Fatal(err)
		}
		return len(ada.DataMessages()) > 1
	})
	for _, said := range ada.DataMessages() {
		if said.From == "eve" && said.Text != "now" || strings.Contains(said.Text, "I am ada") && said.From != "ben" {
			t.Errorf("ada reads %+v", said)
		}
	}
}

// awaitNoVideo waits for what was on its way, and then for silence.
func awaitNoVideo(t *testing.T, p *mediatest.Participant) {
	t.Helper()
	eventually(t, "no picture any more", func() bool {
		before := p.Received(mediatest.Video)
		time.Sleep(200 * time.Millisecond)
		return p.Received(mediatest.Video) == before
	})
}

func TestEngine_ControlsLocalSession(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	if !h.engine.IsLocal("r.1") || h.engine.IsLocal("r.2") {
		t.Error("the engine does not know what it hosts")
	}
	ada := h.join(t, "r.1", "ada", room.Video)
	ben := h.join(t, "r.1", "ben", room.Video)
	assertControl(t, h, "r.1", ada, ben)
}

// An open session keeps what was announced, whoever opens it again.
func TestOpen_Repeated(t *testing.T) {
	h := newFixture(t)
	open := func(breakout int) {
		t.Helper()
		if err := h.engine.Open(t.Context(), room.MediaSession{Name: "r.1", Type: room.Audio, Metadata: room.Metadata{Breakout: breakout}}); err != nil {
			t.Fatal(err)
		}
	}
	open(1)
	ada := h.join(t, "r.1", "ada", room.Audio)
	if got := ada.Info(); got.Breakout != 1 || got.RoomType != room.Audio {
		t.Errorf("pages read %+v", got)
	}
	open(2)
	ben := h.join(t, "r.1", "ben", room.Audio)
	if got := ben.Info(); got.Breakout != 1 {
		t.Errorf("pages read %+v", got)
	}
	// Announcing does not make a session for sound another.
	if err := h.engine.UpdateMetadata(t.Context(), "r.1", room.Metadata{RoomType: room.Video, Breakout: 3}); err != nil {
		t.Fatal(err)
	}
	if got, err := ben.AwaitInfo(t.Context(), func(i room.Metadata) bool { return i.Breakout == 3 }); err != nil || got.RoomType != room.Audio {
		t.Errorf("pages read %+v, %v", got, err)
	}
	if err := h.engine.UpdatePermissions(t.Context(), "r.1", "ben", room.Guest, allGrants); err != nil {
		t.Fatal(err)
	}
	if err := ben.Publish(t.Context(), "cam", mediatest.Camera); !errors.Is(err, mediatest.ErrNotAllowed) {
		t.Errorf("a camera in a session for sound: %v", err)
	}
}

// A participant can use the server's topic, but not its name.
func TestServerTopic_NamesSender(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	ada := h.join(t, "r.1", "ada", room.Video)
	eve := h.join(t, "r.1", "eve", room.Video)
	if err := eve.SendData(t.Context(), "parley", `{"kind":"move"}`); err != nil {
		t.Fatal(err)
	}
	eventually(t, "eve's message arrives", func() bool { return len(ada.DataMessages()) == 1 })
	if got := ada.DataMessages()[0]; got.Topic != "parley" || got.From != "eve" {
		t.Errorf("arrived as %+v", got)
	}
	if got := ada.ServerMessages(); len(got) != 0 {
		t.Errorf("taken for the server's: %v", got)
	}
}

// What is announced while it is allowed must not be sent when it is not.
func TestTrack_ForbiddenAfterAnnouncement(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	ada := h.join(t, "r.1", "ada", room.Video)
	eve := h.join(t, "r.1", "eve", room.Video)
	if err := eve.Announce(t.Context(), "cam", mediatest.Camera, mediatest.Video); err != nil {
		t.Fatal(err)
	}
	if err := h.engine.UpdatePermissions(t.Context(), "r.1", "eve", room.Guest, room.Grants{Microphone: true}); err != nil {
		t.Fatal(err)
	}
	if err := eve.StartTrack(t.Context(), "cam", mediatest.Video); err != nil {
		t.Fatal(err)
	}
	publish(t, eve, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "eve", mediatest.Microphone)
	eventually(t, "no camera", func() bool {
		seen, _ := ada.RemoteParticipant("eve")
		return h.engine.PublishedTrackCount("r.1", "eve") == 1 && slices.Equal(seen.Tracks, []mediatest.Source{mediatest.Microphone})
	})
	awaitNoVideo(t, ada)
	if eve.End() != nil {
		t.Error("eve was taken out, who did nothing wrong")
	}
}

// Who may not show themselves cannot do so under the name of a microphone.
func TestTrack_LockedCameraMislabeled(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	ada := h.join(t, "r.1", "ada", room.Video)
	eve := connect(t, h.url, h.accessTokenFor(t, "r.1", "eve", room.Authorization{Type: room.Video, Grants: room.Grants{Microphone: true}}))
	if err := eve.Announce(t.Context(), "cam", mediatest.Microphone, mediatest.Video); !errors.Is(err, mediatest.ErrNotAllowed) {
		t.Error(err)
	}
	publishMislabeled(t, eve, "lie", mediatest.Microphone, mediatest.Audio, mediatest.Video)
	eventually(t, "published and removed again", func() bool {
		return h.log.hasLine("removed a track", `"identity":"eve"`) && h.engine.PublishedTrackCount("r.1", "eve") == 0
	})
	eventually(t, "ada sees no track", func() bool {
		seen, there := ada.RemoteParticipant("eve")
		return there && len(seen.Tracks) == 0
	})
}

func TestParticipant_Hidden(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	ada := h.join(t, "r.1", "ada", room.Video)
	spy := connect(t, h.url, h.accessTokenFor(t, "r.1", "spy", room.Authorization{
		Type: room.Video, Grants: allGrants, Hidden: true}))
	ben := h.join(t, "r.1", "ben", room.Video)
	h.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "spy", spy.SID(), ""}, observerCall{"r.1", "ben", ben.SID(), ""})
	if list := h.participants(t, "r.1"); len(list) != 3 {
		t.Errorf("participants are %v", list)
	}

	publish(t, ada, "mic", mediatest.Microphone)
	awaitPackets(t, spy, "ada", mediatest.Microphone)
	if err := ada.SendData(t.Context(), "chat", "hello"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the hidden one reads", func() bool { return len(spy.DataMessages()) == 1 })
	if err := h.engine.SendMessage(t.Context(), "r.1", []string{"spy"}, room.Message{Kind: room.MessageMove}); err != nil {
		t.Fatal(err)
	}
	if _, err := spy.AwaitMessage(t.Context(), room.MessageMove); err != nil {
		t.Fatal(err)
	}

	// They send nothing, and no word of a host changes that or shows them.
	for range 2 {
		if err := spy.Publish(t.Context(), "mic", mediatest.Microphone); !errors.Is(err, mediatest.ErrNotAllowed) {
			t.Errorf("a hidden microphone: %v", err)
		}
		if err := spy.SendData(t.Context(), "parley", `{"kind":"broadcast"}`); err != nil {
			t.Fatal(err)
		}
		if err := h.engine.UpdatePermissions(t.Context(), "r.1", "spy", room.Host, allGrants); err != nil {
			t.Fatal(err)
		}
	}
	spy.Leave()
	h.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "spy", spy.SID(), ""}, observerCall{"r.1", "ben", ben.SID(), ""},
		observerCall{"r.1", "spy", spy.SID(), room.LeftByChoice})

	// What came after all that came: others would have noticed by now.
	if err := h.engine.UpdateMetadata(t.Context(), "r.1", room.Metadata{Breakout: 1}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*mediatest.Participant{ada, ben} {
		if _, err := p.AwaitInfo(t.Context(), func(i room.Metadata) bool { return i.Breakout == 1 }); err != nil {
			t.Fatal(err)
		}
		if p.EverSaw("spy") {
			t.Errorf("%s was told of the hidden one", p.Identity())
		}
		if n := len(p.Infos()); n != 2 {
			t.Errorf("%s was told of the session %d times", p.Identity(), n)
		}
		if slices.ContainsFunc(p.DataMessages(), func(s mediatest.DataMessage) bool { return s.Topic == "parley" }) {
			t.Errorf("%s heard %v", p.Identity(), p.DataMessages())
		}
	}
}

// The newer protocol is for every video session, whatever its holder may send.
func TestProtocol_ByRoomType(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	h.openSession(t, "r.2", room.Audio)
	for _, c := range []struct {
		session string
		allowed room.Authorization
		found   bool
	}{
		{"r.1", room.Authorization{Type: room.Video, Grants: room.Grants{Microphone: true}}, true},
		{"r.1", room.Authorization{Type: room.Video, Hidden: true}, true},
		{"r.2", room.Authorization{Type: room.Audio, Grants: allGrants}, false},
	} {
		// Found, it asks for what it would need to join.
		if got := h.getStatus(t, "/rtc/v1/validate", h.accessTokenFor(t, c.session, "ada", c.allowed)); got != http.StatusNotFound != c.found {
			t.Errorf("%+v: %d", c.allowed, got)
		}
	}
}
