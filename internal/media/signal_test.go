package media

import (
	"testing"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
)

// roomSink keeps what a participant would be told of the room.
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

// Counts include hidden participants, and so does the news that they changed.
func TestCountsStayInside(t *testing.T) {
	out := &roomSink{}
	r := &responses{MessageSink: out}
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
	shared := update("at last", 4) // goes to others too

	var got []string
	for _, rm := range out.sent {
		got = append(got, rm.Metadata)
		if rm.NumParticipants != 0 || rm.NumPublishers != 0 {
			t.Errorf("told of %d participants and %d publishers", rm.NumParticipants, rm.NumPublishers)
		}
	}
	if len(got) != 3 || got[1] != "after" || got[2] != "at last" {
		t.Errorf("told %v", got)
	}
	if shared.NumParticipants != 4 {
		t.Error("what goes to others was changed")
	}
}
