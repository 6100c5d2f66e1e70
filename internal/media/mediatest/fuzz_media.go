package mediatest

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	// LiveKit's own writer of dependency descriptors makes those that its reader accepts.
	dd "github.com/livekit/livekit-server/pkg/sfu/rtpextension/dependencydescriptor"
	"github.com/livekit/protocol/livekit"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"

	"parley/internal/room"
)

const packetsPerRound = 3000

// Media sends random and mutated RTP, RTCP and data messages until ctx ends. Each round
// uses a new guest and the next codec.
func (f *Fuzzer) Media(ctx context.Context) error {
	return f.runRounds(ctx, f.mediaRound)
}

func (f *Fuzzer) codec(round int) string {
	all := []string{Opus, RED}
	if f.Type == room.Video {
		all = []string{VP8, H264, VP9, AV1, H265, Opus, RED}
	}
	return all[round%len(all)]
}

func isAudio(mimeType string) bool { return mimeType == Opus || mimeType == RED }

func (f *Fuzzer) mediaRound(ctx context.Context, n int) error {
	rnd := f.newRand(mediaStream, n)
	mimeType := f.codec(n)
	options := RawOptions{Extensions: AllExtensions(), HalfConnected: oneChanceIn(rnd, 4)}
	if oneChanceIn(rnd, 3) {
		options.Path = "/rtc/v1"
	}
	simulcast := !isAudio(mimeType) && oneChanceIn(rnd, 3)
	if simulcast {
		options.ChangeOffer = toSimulcast
	}
	r, err := f.dialNewGuest(ctx, options)
	if err != nil {
		return err
	}
	defer r.Abort()
	step, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req := &livekit.AddTrackRequest{
		Cid:    "track",
		Name:   "track",
		Type:   livekit.TrackType_VIDEO,
		Source: livekit.TrackSource_CAMERA,
		Width:  640,
		Height: 480,
	}
	if isAudio(mimeType) {
		req.Type, req.Source = livekit.TrackType_AUDIO, livekit.TrackSource_MICROPHONE
	}
	if err := r.AddTrack(step, req); err != nil {
		return err
	}
	track, err := r.OfferTrack(step, req.Cid, mimeType)
	if err != nil {
		return err
	}
	reliable, err := r.OpenDataChannel(step, "_reliable", nil)
	if err != nil {
		return err
	}
	if !options.HalfConnected && options.Path == "" {
		if err := r.AwaitConnected(step); err != nil {
			return err
		}
	}
	a := &mediaAttack{
		Fuzzer:   f,
		rnd:      rnd,
		raw:      r,
		track:    track,
		reliable: reliable,
		mimeType: mimeType,
	}
	for _, uri := range AllExtensions() {
		if id := r.ExtensionID(uri); id != 0 {
			a.ids = append(a.ids, id)
		}
	}
	a.descriptor = r.ExtensionID(DependencyDescriptor)
	if simulcast {
		a.mid, a.midID, a.streamID = midOf(r.Description(), "m=video"), r.ExtensionID(MID), r.ExtensionID(StreamID)
	}
	pace := newPacer(f.PacketsPerSecond)
	for range packetsPerRound {
		if ctx.Err() != nil {
			return nil
		}
		if r.Closed() {
			return ErrClosed
		}
		a.sendRound()
		pace.wait(ctx)
	}
	if oneChanceIn(rnd, 2) {
		r.Leave()
	}
	return nil
}

// toSimulcast changes an offer so that video has three layers, which are distinguished by
// their stream ids instead of their SSRCs.
func toSimulcast(sdp string) string {
	var out strings.Builder
	isVideo := false
	for line := range strings.Lines(sdp) {
		if strings.HasPrefix(line, "m=") {
			isVideo = strings.HasPrefix(line, "m=video")
		}
		if isVideo && strings.HasPrefix(line, "a=ssrc") {
			continue
		}
		out.WriteString(line)
		if isVideo && strings.HasPrefix(line, "a=mid:") {
			out.WriteString("a=rid:q send\r\na=rid:h send\r\na=rid:f send\r\na=simulcast:send q;h;f\r\n")
		}
	}
	return out.String()
}

// midOf returns the media id of the first section that begins with the given text.
func midOf(sdp, section string) string {
	_, after, _ := strings.Cut(sdp, section)
	_, after, _ = strings.Cut(after, "a=mid:")
	mid, _, _ := strings.Cut(after, "\r\n")
	return mid
}

type mediaAttack struct {
	*Fuzzer
	rnd        *rand.Rand
	raw        *Raw
	track      *RawTrack
	reliable   *webrtc.DataChannel
	mimeType   string
	ids        []uint8 // of header extensions
	descriptor uint8   // the one of the dependency descriptor, or 0

	mid             string // of the track, if it is simulcast
	midID, streamID uint8

	sequence  uint16
	timestamp uint32
	structure *dd.FrameDependencyStructure
}

// sendRound sends one packet, and some others now and then.
func (a *mediaAttack) sendRound() {
	a.sendRTP()
	if oneChanceIn(a.rnd, 8) {
		_ = a.raw.WriteRTCP(a.rtcp())
		a.Packets.Add(1)
	}
	if oneChanceIn(a.rnd, 8) {
		_ = a.raw.WriteFeedback(a.rtcp())
		a.Packets.Add(1)
	}
	// Unsent messages stay in memory, so their size is limited.
	if oneChanceIn(a.rnd, 40) && a.reliable.BufferedAmount() < 1<<16 {
		_ = a.reliable.Send(a.message())
		a.Packets.Add(1)
	}
}

func (a *mediaAttack) sendRTP() {
	rnd := a.rnd
	switch rnd.IntN(20) {
	case 0:
		a.sequence += uint16(rnd.Uint32())
	case 1:
		a.sequence -= uint16(rnd.IntN(20))
	default:
		a.sequence++
	}
	if oneChanceIn(rnd, 3) {
		a.timestamp += rnd.Uint32N(1 << 20)
	}
	header := &rtp.Header{
		Version:        2,
		Marker:         oneChanceIn(rnd, 2),
		SequenceNumber: a.sequence,
		Timestamp:      a.timestamp,
		SSRC:           a.track.SSRC(),
		PayloadType:    a.track.PayloadTypes()[0],
	}
	if oneChanceIn(rnd, 30) {
		header.PayloadType = uint8(rnd.IntN(128))
	}
	if oneChanceIn(rnd, 100) {
		header.SSRC = a.track.SSRC() + uint32(1+rnd.IntN(3))
	}
	if oneChanceIn(rnd, 10) {
		header.Padding, header.PaddingSize = true, uint8(1+rnd.IntN(255))
	}
	for _, id := range a.ids {
		switch {
		case id == a.descriptor && !oneChanceIn(rnd, 4):
			_ = header.SetExtension(id, a.dependencyDescriptor())
		case oneChanceIn(rnd, 4):
			_ = header.SetExtension(id, randomBytes(rnd, 1+rnd.IntN(16)))
		}
	}
	if a.mid != "" && !oneChanceIn(rnd, 20) {
		layer := rnd.IntN(3)
		header.SSRC = a.track.SSRC() + uint32(1+layer)
		_ = header.SetExtension(a.midID, []byte(a.mid))
		_ = header.SetExtension(a.streamID, []byte{"qhf"[layer]})
	}
	payload := a.payload()
	a.Packets.Add(1)
	if !oneChanceIn(rnd, 20) {
		_ = a.track.Send(header, payload)
		return
	}
	// The first twelve bytes are not changed, so that SRTP can usually read the header. A
	// packet with a header that it cannot read is not sent.
	data, err := (&rtp.Packet{Header: *header, Payload: payload}).Marshal()
	if err == nil && len(data) > 12 {
		_ = a.track.SendBytes(append(data[:12:12], mutate(rnd, data[12:])...))
	}
}

// payloadPrefixes are the beginnings of payloads that a codec's parser accepts for long.
var payloadPrefixes = map[string][][]byte{
	VP8: {
		{0x10, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0xe0, 0x01, 0x00},
		{0x90, 0x80, 0x01, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0xe0, 0x01},
		{0x90, 0xf0, 0x81, 0x01, 0x02, 0x43, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a},
	},
	VP9: {
		{0x90, 0x80, 0x01, 0x82, 0x49, 0x83, 0x42, 0x00, 0x01, 0xf0, 0x00},
		{0xea, 0x81, 0x01, 0x20, 0x00, 0x82, 0x49, 0x83, 0x42},
		{0x8b, 0x01, 0x18, 0x02, 0x80, 0x01, 0x68, 0x00, 0x82, 0x49},
	},
	H264: {
		{0x67, 0x42, 0xc0, 0x1f, 0x95, 0xa0, 0x14, 0x01, 0x6e, 0x40},
		{0x78, 0x00, 0x04, 0x67, 0x42, 0xc0, 0x1f, 0x00, 0x02, 0x68, 0xce},
		{0x7c, 0x85, 0x88, 0x84}, {0x65, 0x88, 0x84, 0x00},
	},
	H265: {
		{0x40, 0x01, 0x0c, 0x01}, {0x42, 0x01, 0x01, 0x01, 0x60}, {0x62, 0x01, 0x93, 0x00},
		{0x60, 0x01, 0x00, 0x04, 0x40, 0x01, 0x0c, 0x01, 0x00, 0x02, 0x42, 0x01},
	},
	AV1: {
		{0x18, 0x0a, 0x0b, 0x00, 0x00, 0x00, 0x24, 0xce, 0x7f}, {0x08, 0x32, 0x10, 0x00},
		{0x30, 0x02, 0x12, 0x00, 0x0a},
	},
	Opus: {{0xf8, 0xff, 0xfe}, {0xfc}},
	RED: {
		{0xef, 0x00, 0x10, 0x03, 0x6f, 0xf8, 0xff, 0xfe, 0xf8}, {0x6f, 0xf8, 0xff, 0xfe},
		{0xef, 0xff, 0xff, 0xff, 0xef, 0x00, 0x00, 0x00, 0x6f},
	},
}

func (a *mediaAttack) payload() []byte {
	rnd := a.rnd
	start := pick(rnd, payloadPrefixes[a.mimeType])
	switch rnd.IntN(4) {
	case 0:
		return randomBytes(rnd, pick(rnd, []int{0, 1, 2, 3, 4, 5, 7, 10, 30, 200, 1100}))
	case 1:
		return append(slices.Clone(start), randomBytes(rnd, rnd.IntN(60))...)
	case 2:
		return start[:rnd.IntN(len(start)+1)]
	default:
		return mutate(rnd, start)
	}
}

// dependencyDescriptor returns a dependency descriptor. Most are well-formed, with random
// layers, chains and targets.
func (a *mediaAttack) dependencyDescriptor() (out []byte) {
	rnd := a.rnd
	defer func() {
		// LiveKit's writer panics at structures that it cannot write.
		if recover() != nil || len(out) == 0 || len(out) > 255 {
			out = append([]byte{0x80 | byte(rnd.Uint32())}, randomBytes(rnd, 2+rnd.IntN(20))...)
		}
		if oneChanceIn(rnd, 5) {
			if out = mutate(rnd, out); len(out) == 0 {
				out = []byte{0}
			}
		}
	}()
	number := a.sequence + uint16(rnd.IntN(4))
	attach := a.structure == nil || oneChanceIn(rnd, 4)
	if attach {
		a.structure = randomStructure(rnd)
	}
	descriptor := &dd.DependencyDescriptor{FirstPacketInFrame: !oneChanceIn(rnd, 4),
		LastPacketInFrame: oneChanceIn(rnd, 2),
		FrameNumber:       number, FrameDependencies: pick(rnd, a.structure.Templates)}
	if attach {
		descriptor.AttachedStructure = a.structure
		mask := rnd.Uint32() & (1<<a.structure.NumDecodeTargets - 1)
		descriptor.ActiveDecodeTargetsBitmask = &mask
	}
	out, err := (&dd.DependencyDescriptorExtension{Descriptor: descriptor, Structure: a.structure}).Marshal()
	if err != nil {
		return nil
	}
	return out
}

func randomStructure(rnd *rand.Rand) *dd.FrameDependencyStructure {
	targets := 1 + rnd.IntN(6)
	s := &dd.FrameDependencyStructure{
		StructureId: rnd.IntN(64), NumDecodeTargets: targets, NumChains: rnd.IntN(targets + 1)}
	spatial, temporal := 0, 0
	for i := range 1 + rnd.IntN(8) {
		if i > 0 {
			switch rnd.IntN(3) {
			case 1:
				temporal = min(temporal+1, 7)
			case 2:
				spatial, temporal = min(spatial+1, 3), 0
			}
		}
		template := &dd.FrameDependencyTemplate{SpatialId: spatial, TemporalId: temporal}
		for range targets {
			template.DecodeTargetIndications = append(template.DecodeTargetIndications,
				dd.DecodeTargetIndication(rnd.IntN(4)))
		}
		for range rnd.IntN(3) {
			template.FrameDiffs = append(template.FrameDiffs, 1+rnd.IntN(15))
		}
		for range s.NumChains {
			template.ChainDiffs = append(template.ChainDiffs, rnd.IntN(16))
		}
		s.Templates = append(s.Templates, template)
	}
	if s.NumChains > 0 {
		for range targets {
			s.DecodeTargetProtectedByChain = append(s.DecodeTargetProtectedByChain, rnd.IntN(s.NumChains))
		}
	}
	if oneChanceIn(rnd, 2) {
		for range spatial + 1 {
			s.Resolutions = append(s.Resolutions, dd.RenderResolution{Width: 1 + rnd.IntN(1<<16), Height: 1 +
				rnd.IntN(1<<16)})
		}
	}
	return s
}

// rtcp returns a compound of one to three packets.
func (a *mediaAttack) rtcp() (all []byte) {
	rnd := a.rnd
	for range 1 + rnd.IntN(3) {
		words := 1 + rnd.IntN(20)
		body := randomBytes(rnd, 4*words)
		if oneChanceIn(rnd, 2) {
			binary.BigEndian.PutUint32(body, a.track.SSRC())
		}
		if words > 1 && oneChanceIn(rnd, 2) {
			binary.BigEndian.PutUint32(body[4:], a.track.SSRC())
		}
		if words > 2 && oneChanceIn(rnd, 4) {
			copy(body[8:], "REMB")
		}
		length := uint16(words)
		if oneChanceIn(rnd, 10) {
			length = uint16(rnd.Uint32())
		}
		all = append(all, 0x80|byte(rnd.IntN(64)), 200+byte(rnd.IntN(8)), byte(length>>8), byte(length))
		all = append(all, body...)
	}
	return all
}

// message returns a data message.
func (a *mediaAttack) message() []byte {
	rnd := a.rnd
	if oneChanceIn(rnd, 3) {
		return randomBytes(rnd, rnd.IntN(300))
	}
	packet := &livekit.DataPacket{}
	fillRandom(rnd, packet.ProtoReflect(), 0, []string{"", "chat", "parley", "\x00", "lk.file-chunk"})
	data, err := proto.MarshalOptions{AllowPartial: true}.Marshal(packet)
	if err != nil || len(data) > 10_000 {
		return randomBytes(rnd, 20)
	}
	if oneChanceIn(rnd, 3) {
		return mutate(rnd, data)
	}
	return data
}
