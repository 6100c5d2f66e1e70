package media

import (
	"testing"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
)

// roomSink records the rooms that are sent to a participant.
type roomSink struct {
	routing.MessageSink
	sent []*livekit.Room
}

func (s *roomSink) WriteMessage(msg proto.Message) error {
	res := msg.(*livekit.SignalResponse)
	if join := res.GetJoin(); join != nil {
		s.sent = append(s.sent, join.Room)
	} else {
		s.sent = append(s.sent, res.GetRoomUpdate().GetRoom())
	}
	return nil
}

func noICEServers() []*livekit.ICEServer { return nil }

// LiveKit's counts include hidden participants, so counts and updates that only change them
// are not sent.
func TestResponseFilter_HidesCounts(t *testing.T) {
	out := &roomSink{}
	r := &responseFilter{MessageSink: out, iceServers: noICEServers}
	rm := &livekit.Room{Name: "r.1", Metadata: "before", NumParticipants: 1, NumPublishers: 1}
	if err := r.WriteMessage(&livekit.SignalResponse{Message: &livekit.SignalResponse_Join{
		Join: &livekit.JoinResponse{Room: rm}}}); err != nil {
		t.Fatal(err)
	}
	update := func(metadata string, participants uint32) *livekit.Room {
		t.Helper()
		rm := &livekit.Room{Name: "r.1", Metadata: metadata, NumParticipants: participants, NumPublishers: participants}
		if err := r.WriteMessage(&livekit.SignalResponse{Message: &livekit.SignalResponse_RoomUpdate{
			RoomUpdate: &livekit.RoomUpdate{Room: rm}}}); err != nil {
			t.Fatal(err)
		}
		return rm
	}
	update("before", 2)
	update("after", 3)
	update("after", 3)
	shared := update("at last", 4) // is also sent to others

	var got []string
	for _, rm := range out.sent {
		got = append(got, rm.Metadata)
		if rm.NumParticipants != 0 || rm.NumPublishers != 0 {
			t.Errorf("sent %d participants and %d publishers, want 0", rm.NumParticipants, rm.NumPublishers)
		}
	}
	if len(got) != 3 || got[1] != "after" || got[2] != "at last" {
		t.Errorf("sent rooms with metadata %v, want before, after, at last", got)
	}
	if shared.NumParticipants != 4 {
		t.Errorf("NumParticipants in the message to the others: got %d, want 4", shared.NumParticipants)
	}
}

// A participant receives only the server information that livekit-client needs, and the ICE servers of this service
// instead of public ones, also after a reconnect.
func TestResponseFilter_HidesServerDetails(t *testing.T) {
	info := &livekit.ServerInfo{
		Version:       "1.13.5",
		Protocol:      17,
		Region:        "here",
		NodeId:        "ND_1",
		DebugInfo:     "x",
		AgentProtocol: 3,
	}
	want := &livekit.ServerInfo{Version: "1.13.0", Protocol: 17}
	public := []*livekit.ICEServer{{Urls: []string{"stun:stun.example.org:3478"}}}
	join := &livekit.JoinResponse{
		Room:          &livekit.Room{MaxParticipants: 26},
		ServerInfo:    info,
		ServerVersion: "1.13.5",
		ServerRegion:  "here",
		IceServers:    public,
	}
	back := &livekit.ReconnectResponse{ServerInfo: info, IceServers: public}
	own := &livekit.ICEServer{Urls: []string{"turn:meet.example.org:443?transport=tcp"}, Username: "user", Credential: "x"}
	r := &responseFilter{MessageSink: &roomSink{}, iceServers: func() []*livekit.ICEServer {
		return []*livekit.ICEServer{own}
	}}
	for _, msg := range []*livekit.SignalResponse{{Message: &livekit.SignalResponse_Join{Join: join}},
		{Message: &livekit.SignalResponse_Reconnect{Reconnect: back}}} {
		if err := r.WriteMessage(msg); err != nil {
			t.Fatal(err)
		}
	}
	if !proto.Equal(join.ServerInfo, want) || !proto.Equal(back.ServerInfo, want) ||
		join.ServerVersion+join.ServerRegion != "" || join.Room.MaxParticipants != 0 {
		t.Errorf("sent %v and %v, want server information %v only", join, back, want)
	}
	for name, got := range map[string][]*livekit.ICEServer{"join": join.IceServers, "reconnect": back.IceServers} {
		if len(got) != 1 || !proto.Equal(got[0], own) {
			t.Errorf("ICE servers of the %s response: got %v, want %v only", name, got, own)
		}
	}
	if info.Version != "1.13.5" {
		t.Errorf("version in the server information of LiveKit: got %q, want 1.13.5", info.Version)
	}
}
