package media_test

import (
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
