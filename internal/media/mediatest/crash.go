package mediatest

import (
	"github.com/livekit/protocol/livekit"
	"github.com/pion/rtp"

	// LiveKit's own writer of dependency descriptors makes those that its reader accepts.
	dd "github.com/livekit/livekit-server/pkg/sfu/rtpextension/dependencydescriptor"
)

// CrashPayload is a VP9 payload that ends at the start of a frame, which LiveKit's parser
// cannot handle.
var CrashPayload = []byte{0x08}

// InvalidLayerTrack returns the announcement of a VP8 track with a layer of quality -1, which
// LiveKit uses as an index without a check.
func InvalidLayerTrack(cid string, source livekit.TrackSource) *livekit.AddTrackRequest {
	layers := []*livekit.VideoLayer{{Quality: -1}}
	return &livekit.AddTrackRequest{
		Cid:             cid,
		Name:            cid,
		Type:            livekit.TrackType_VIDEO,
		Source:          source,
		Layers:          layers,
		SimulcastCodecs: []*livekit.SimulcastCodec{{Codec: "vp8", Cid: cid, Layers: layers}},
	}
}

// InvalidLayerJoin returns a join request that announces InvalidLayerTrack and offers it.
func InvalidLayerJoin(source livekit.TrackSource) (*livekit.JoinRequest, error) {
	offer, err := NewOffer(RawOptions{}, VP8)
	if err != nil {
		return nil, err
	}
	req := DefaultJoinRequest()
	req.AddTrackRequests = []*livekit.AddTrackRequest{InvalidLayerTrack("t0", source)}
	req.PublisherOffer = offer
	return req, nil
}

// CrashHeader returns the header of the n-th packet of a track, with FiveTemporalLayers as the
// extension of each id.
func CrashHeader(track *RawTrack, n uint16, extensionIDs ...uint8) (*rtp.Header, error) {
	header := &rtp.Header{
		Version:        2,
		Marker:         true,
		SequenceNumber: n,
		Timestamp:      uint32(n) * 3000,
		SSRC:           track.SSRC(),
		PayloadType:    track.PayloadTypes()[0],
	}
	descriptor, err := FiveTemporalLayers(n)
	if err != nil {
		return nil, err
	}
	for _, id := range extensionIDs {
		if err := header.SetExtension(id, descriptor); err != nil {
			return nil, err
		}
	}
	return header, nil
}

// FiveTemporalLayers returns a dependency descriptor of a frame with the temporal layers 0 to
// 4. LiveKit has room for four.
func FiveTemporalLayers(frame uint16) ([]byte, error) {
	var templates []*dd.FrameDependencyTemplate
	for layer := range 5 {
		first := dd.DecodeTargetNotPresent
		if layer == 0 {
			first = dd.DecodeTargetRequired
		}
		templates = append(templates, &dd.FrameDependencyTemplate{TemporalId: layer,
			DecodeTargetIndications: []dd.DecodeTargetIndication{first, dd.DecodeTargetRequired}})
	}
	structure, mask := &dd.FrameDependencyStructure{NumDecodeTargets: 2, Templates: templates}, uint32(3)
	return (&dd.DependencyDescriptorExtension{Structure: structure, Descriptor: &dd.DependencyDescriptor{
		FirstPacketInFrame:         true,
		LastPacketInFrame:          true,
		FrameNumber:                frame,
		FrameDependencies:          templates[0],
		AttachedStructure:          structure,
		ActiveDecodeTargetsBitmask: &mask,
	}}).Marshal()
}
