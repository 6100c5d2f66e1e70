package media_test

import (
	"net/http"
	"testing"

	"github.com/livekit/protocol/livekit"
	"github.com/pion/webrtc/v4"

	"parley/internal/room"
)

func TestTwoHearEachOther(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Video)
	h.open(t, "r.1", room.Video) // changes nothing
	ada := h.enter(t, "r.1", "ada", room.Video)
	ben := h.enter(t, "r.1", "ben", room.Video)

	ada.publish("mic-a", livekit.TrackType_AUDIO, livekit.TrackSource_MICROPHONE, webrtc.MimeTypeOpus)
	ben.publish("mic-b", livekit.TrackType_AUDIO, livekit.TrackSource_MICROPHONE, webrtc.MimeTypeOpus)
	ada.publish("cam-a", livekit.TrackType_VIDEO, livekit.TrackSource_CAMERA, webrtc.MimeTypeVP8)
	eventually(t, "ben hears ada", func() bool { return ben.received(webrtc.RTPCodecTypeAudio) > 5 })
	eventually(t, "ada hears ben", func() bool { return ada.received(webrtc.RTPCodecTypeAudio) > 5 })
	eventually(t, "ben sees ada", func() bool { return ben.received(webrtc.RTPCodecTypeVideo) > 0 })
	if err := h.engine.Healthy(); err != nil {
		t.Error(err)
	}

	list := h.present(t, "r.1")
	sids := map[string]string{}
	for _, p := range list {
		sids[p.Identity] = p.SID
		if p.JoinedAt.IsZero() {
			t.Errorf("%s has no time of joining", p.Identity)
		}
	}
	if len(list) != 2 || sids["ada"] != ada.sid() || sids["ben"] != ben.sid() {
		t.Fatalf("participants are %v", list)
	}
	if got := h.present(t, "r.2"); len(got) != 0 {
		t.Fatalf("an unknown session has %v", got)
	}

	if n := len(ada.join.IceServers); n != 0 {
		t.Errorf("browsers are sent to %d servers of others", n)
	}
	if ada.join.Room.TurnPassword != "" {
		t.Error("a password goes to browsers")
	}

	ada.goodbye()
	h.expect(t,
		seen{"r.1", "ada", ada.sid(), ""},
		seen{"r.1", "ben", ben.sid(), ""},
		seen{"r.1", "ada", ada.sid(), room.LeftByChoice})
	eventually(t, "ada is gone from the list", func() bool { return len(h.present(t, "r.1")) == 1 })
}

func TestClose(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Video)
	pass := h.pass(t, "r.1", "ada", room.Video)
	ada := connect(t, h.url, pass)
	if err := h.engine.Close(t.Context(), "r.1"); err != nil {
		t.Fatal(err)
	}
	if leave := ada.awaitLeave(livekit.DisconnectReason_ROOM_DELETED); leave.Action != livekit.LeaveRequest_DISCONNECT {
		t.Errorf("told to %s", leave.Action)
	}
	h.expect(t, seen{"r.1", "ada", ada.sid(), ""}, seen{"r.1", "ada", ada.sid(), room.LeftRoomOver})
	if got := h.present(t, "r.1"); len(got) != 0 {
		t.Errorf("still there: %v", got)
	}

	_, res, err := dial(h.url, pass, "")
	if err == nil || res == nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("a closed session answers %v, %v", res, err)
	}
	for _, name := range []string{"r.1", "never"} {
		if err := h.engine.Close(t.Context(), name); err != nil {
			t.Errorf("close %s: %v", name, err)
		}
	}
}

func TestRemove(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Video)
	pass := h.pass(t, "r.1", "eve", room.Video)
	eve := connect(t, h.url, pass)
	eventually(t, "a fresh token", func() bool {
		eve.mu.Lock()
		defer eve.mu.Unlock()
		return eve.refresh != ""
	})
	if err := h.engine.Remove(t.Context(), "r.1", "eve"); err != nil {
		t.Fatal(err)
	}
	eve.awaitLeave(livekit.DisconnectReason_PARTICIPANT_REMOVED)
	h.expect(t, seen{"r.1", "eve", eve.sid(), ""}, seen{"r.1", "eve", eve.sid(), room.LeftRemoved})

	for name, token := range map[string]string{"the old token": pass, "the token the server sent": eve.refresh} {
		if _, res, err := dial(h.url, token, ""); err == nil || res == nil || res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s still opens: %v, %v", name, res, err)
		}
	}
	h.enter(t, "r.1", "eve", room.Video) // a new pass is a decision
	for _, session := range []string{"r.1", "never"} {
		if err := h.engine.Remove(t.Context(), session, "nobody"); err != nil {
			t.Errorf("remove nobody from %s: %v", session, err)
		}
	}
}

func TestSecondConnectionReplacesTheFirst(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Video)
	first := h.enter(t, "r.1", "ada", room.Video)
	h.expect(t, seen{"r.1", "ada", first.sid(), ""})
	second := h.enter(t, "r.1", "ada", room.Video)
	first.awaitLeave(livekit.DisconnectReason_DUPLICATE_IDENTITY)
	h.expect(t,
		seen{"r.1", "ada", first.sid(), ""},
		seen{"r.1", "ada", first.sid(), room.LeftReplaced},
		seen{"r.1", "ada", second.sid(), ""})
	if list := h.present(t, "r.1"); len(list) != 1 || list[0].SID != second.sid() {
		t.Errorf("participants are %v", list)
	}
}

func TestMaxParticipants(t *testing.T) {
	h := newHouse(t)
	if err := h.engine.Open(t.Context(), room.MediaSession{Name: "r.1", Type: room.Video, MaxParticipants: 1}); err != nil {
		t.Fatal(err)
	}
	h.enter(t, "r.1", "ada", room.Video)
	if ws, res, err := dial(h.url, h.pass(t, "r.1", "ben", room.Video), ""); err == nil {
		_ = ws.Close()
		t.Fatalf("a second participant was let in: %v", res)
	}
	h.enter(t, "r.1", "ada", room.Video) // the same person again takes no second place
}

// What a participant may say but must not achieve.
func TestParticipantsCannotTestTheServer(t *testing.T) {
	h := newHouse(t)
	h.open(t, "r.1", room.Video)
	eve := h.enter(t, "r.1", "eve", room.Video)
	for _, req := range []*livekit.SignalRequest{
		{Message: &livekit.SignalRequest_Simulate{Simulate: &livekit.SimulateScenario{
			Scenario: &livekit.SimulateScenario_ServerLeave{ServerLeave: true}}}},
		{Message: &livekit.SignalRequest_UpdateMetadata{UpdateMetadata: &livekit.UpdateParticipantMetadata{
			Attributes: map[string]string{"role": "host"}}}},
	} {
		if err := eve.say(req); err != nil {
			t.Fatal(err)
		}
	}
	eve.publish("mic", livekit.TrackType_AUDIO, livekit.TrackSource_MICROPHONE, webrtc.MimeTypeOpus)
	ben := h.enter(t, "r.1", "ben", room.Video)
	eventually(t, "sound arrives", func() bool { return ben.received(webrtc.RTPCodecTypeAudio) > 0 })
	if eve.left() != nil {
		t.Error("eve made the server look as if it failed")
	}
	ben.mu.Lock()
	defer ben.mu.Unlock()
	if role := ben.others[eve.join.Participant.Sid].Attributes["role"]; role != "guest" {
		t.Errorf("eve is a %s now", role)
	}
}
