package signalfilter_test

import (
	"testing"

	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/signalfilter"
)

// A message that passes the scanner and is valid protobuf has at most MaxFields entries,
// however its bytes are split.
func FuzzScan(f *testing.F) {
	for _, req := range []*livekit.SignalRequest{
		{Message: &livekit.SignalRequest_Offer{Offer: &livekit.SessionDescription{Type: "offer", Sdp: offer, MidToTrackId: map[string]string{"0": "TR_x", "1": ""}}}},
		{Message: &livekit.SignalRequest_SyncState{SyncState: &livekit.SyncState{Subscription: &livekit.UpdateSubscription{TrackSids: []string{"TR_x", ""}},
			PublishTracks: []*livekit.TrackPublishedResponse{{},
				{Track: &livekit.TrackInfo{Codecs: []*livekit.SimulcastCodecInfo{{}, {Cid: "c"}}}}}}}},
		{Message: &livekit.SignalRequest_PingReq{PingReq: &livekit.Ping{Timestamp: -1, Rtt: 5}}},
		addTrack(func(*livekit.AddTrackRequest) {}),
	} {
		b, err := proto.Marshal(req)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint16(3), uint16(3))
	}
	one, err := proto.Marshal(&livekit.SignalRequest{Message: &livekit.SignalRequest_SyncState{
		SyncState: &livekit.SyncState{PublishTracks: []*livekit.TrackPublishedResponse{{}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one, uint16(0), uint16(4000))
	f.Add(one, uint16(0), uint16(7000))
	f.Fuzz(func(t *testing.T, unit []byte, cut, times uint16) {
		if len(unit) > 200 {
			return
		}
		b := make([]byte, 0, len(unit)*int(times%12_000))
		for range times % 12_000 {
			b = append(b, unit...)
		}
		whole, pieces := signalfilter.NewScanner(), signalfilter.NewScanner()
		split := min(int(cut), len(b))
		refused := whole.Write(b)
		inPieces := pieces.Write(b[:split])
		if inPieces == nil {
			inPieces = pieces.Write(b[split:])
		}
		if (refused == nil) != (inPieces == nil) {
			t.Fatalf("message of %d bytes: got %v for the whole message, %v for pieces cut at %d, want both or neither refused",
				len(b), refused, inPieces, split)
		}
		var req livekit.SignalRequest
		if refused != nil || proto.Unmarshal(b, &req) != nil {
			return
		}
		if n := repeatedEntries(&req); n > signalfilter.MaxFields {
			t.Errorf("%d entries pass, want at most %d", n, signalfilter.MaxFields)
		}
	})
}

// repeatedEntries counts the entries of the repeated fields whose small encoding becomes
// a large structure.
func repeatedEntries(req *livekit.SignalRequest) int {
	s := req.GetSyncState()
	n := len(s.GetPublishTracks()) + len(s.GetDataChannels()) + len(s.GetSubscription().GetParticipantTracks())
	for _, p := range s.GetPublishTracks() {
		n += len(p.GetTrack().GetLayers()) + len(p.GetTrack().GetCodecs()) //lint:ignore SA1019 LiveKit still reads it
	}
	add := req.GetAddTrack()
	return n + len(add.GetLayers()) + len(add.GetSimulcastCodecs()) + len(req.GetSubscription().GetParticipantTracks())
}
