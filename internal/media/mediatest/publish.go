package mediatest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/signalling"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"
)

// Source is the label of a track.
type Source string

// The labels of tracks.
const (
	Camera           Source = "camera"
	Microphone       Source = "microphone"
	ScreenShare      Source = "screen_share"
	ScreenShareAudio Source = "screen_share_audio"
	UnknownSource    Source = "unknown"
)

func sourceFromProto(s livekit.TrackSource) Source { return Source(strings.ToLower(s.String())) }

func (s Source) proto() livekit.TrackSource {
	return livekit.TrackSource(livekit.TrackSource_value[strings.ToUpper(string(s))])
}

// TrackType is the type of media of a track.
type TrackType string

// The types of tracks. Audio is sent as Opus, video as VP8.
const (
	Audio TrackType = "audio"
	Video TrackType = "video"
)

func (k TrackType) proto() livekit.TrackType {
	if k == Video {
		return livekit.TrackType_VIDEO
	}
	return livekit.TrackType_AUDIO
}

func (s Source) trackType() TrackType {
	if s == Microphone || s == ScreenShareAudio {
		return Audio
	}
	return Video
}

// ErrNotAllowed is the error of Publish when the server refuses a track because of its
// source.
var ErrNotAllowed = errors.New("mediatest: the server does not allow this track")

// publication is a track that the participant publishes.
type publication struct {
	sid         string // the server's id, once it has accepted the announcement
	refusal     string
	unpublished bool
}

// Publish publishes a track of the type that matches its source. It returns when the server
// has accepted the announcement; packets flow soon after, until the participant leaves.
// The participant chooses the name, which must be new for each track.
func (p *Participant) Publish(ctx context.Context, name string, source Source) error {
	return p.PublishMislabeled(ctx, name, source, source.trackType(), source.trackType())
}

// PublishMislabeled publishes a track whose announced type may differ from its real type
// and from its source.
func (p *Participant) PublishMislabeled(ctx context.Context, name string, source Source, announced,
	real TrackType) error {
	if err := p.Announce(ctx, name, source, announced); err != nil {
		return err
	}
	return p.StartTrack(ctx, name, real)
}

// Announce is the first half of publishing: it asks the server for permission.
func (p *Participant) Announce(ctx context.Context, name string, source Source, kind TrackType) error {
	return p.announce(ctx, &livekit.AddTrackRequest{
		Cid:    name,
		Name:   name,
		Type:   kind.proto(),
		Source: source.proto(),
		Width:  640,
		Height: 480,
	})
}

func (p *Participant) announce(ctx context.Context, req *livekit.AddTrackRequest) error {
	name := req.Cid
	p.mu.Lock()
	pub := &publication{}
	p.publications[name] = pub
	p.mu.Unlock()
	err := p.sendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_AddTrack{AddTrack: req}})
	if err != nil {
		return fmt.Errorf("mediatest: announce a track: %w", err)
	}
	var refusal string
	err = p.Wait(ctx, fmt.Sprintf("an answer about %s", name), func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		refusal = pub.refusal
		return pub.sid != "" || refusal != ""
	})
	switch {
	case err != nil:
		return err
	case refusal == livekit.RequestResponse_NOT_ALLOWED.String():
		return ErrNotAllowed
	case refusal != "":
		return fmt.Errorf("mediatest: the server refused %s: %s", name, refusal)
	}
	return nil
}

// Traffic is how a track sends.
type Traffic struct {
	PerSecond int          // packets
	Bytes     int          // of the payload of a packet, at least 12
	Paused    *atomic.Bool // while it is set, the track sends nothing; nil for never
}

// PublishTraffic publishes a track with traffic of its own.
func (p *Participant) PublishTraffic(ctx context.Context, name string, source Source, traffic Traffic) error {
	if err := p.Announce(ctx, name, source, source.trackType()); err != nil {
		return err
	}
	return p.startTrack(ctx, name, source.trackType(), traffic)
}

// StartTrack is the second half of publishing: it sends packets of the type under the name
// of an announced track.
func (p *Participant) StartTrack(ctx context.Context, name string, kind TrackType) error {
	return p.startTrack(ctx, name, kind, Traffic{PerSecond: 100})
}

func (p *Participant) startTrack(ctx context.Context, name string, kind TrackType, traffic Traffic) error {
	mime := webrtc.MimeTypeOpus
	if kind == Video {
		mime = webrtc.MimeTypeVP8
	}
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: mime}, name, "stream")
	if err != nil {
		return err
	}
	err = p.negotiate(ctx, func(pc *webrtc.PeerConnection) error {
		_, err := pc.AddTrack(track)
		return err
	})
	if err != nil {
		return fmt.Errorf("mediatest: publish %s: %w", name, err)
	}
	p.tasks.Go(func() { p.writePackets(track, kind, traffic) })
	return nil
}

// negotiate applies the change to the publisher connection and sends an offer.
func (p *Participant) negotiate(ctx context.Context, change func(*webrtc.PeerConnection) error) error {
	return p.negotiateWith(ctx, nil, change)
}

// negotiateWith is negotiate with options of the offer, which may be nil.
func (p *Participant) negotiateWith(
	ctx context.Context, options *webrtc.OfferOptions, change func(*webrtc.PeerConnection) error,
) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pub == nil {
		pc, err := p.newPeerConnection(livekit.SignalTarget_PUBLISHER)
		if err != nil {
			return err
		}
		p.pub = pc
		// The data channel makes the offer acceptable even if all tracks are rejected.
		if p.reliable, err = pc.CreateDataChannel("_reliable", nil); err != nil {
			return err
		}
	}
	for p.pub.SignalingState() != webrtc.SignalingStateStable {
		p.mu.Unlock()
		err := p.Wait(ctx, "an answer to the last offer", func() bool {
			return p.pub.SignalingState() == webrtc.SignalingStateStable
		})
		p.mu.Lock()
		if err != nil {
			return err
		}
	}
	if err := change(p.pub); err != nil {
		return err
	}
	offer, err := p.pub.CreateOffer(options)
	if err != nil {
		return err
	}
	if err := p.pub.SetLocalDescription(offer); err != nil {
		return err
	}
	if p.raw != nil && p.raw.ChangeOffer != nil {
		offer.SDP = p.raw.ChangeOffer(offer.SDP)
	}
	return p.sendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Offer{
		Offer: signalling.ToProtoSessionDescription(offer, 0, nil)}})
}

// writePackets sends packets until the participant leaves. Each video packet is the start
// of a VP8 key frame, so that the server can start to forward at any packet.
func (p *Participant) writePackets(track *webrtc.TrackLocalStaticRTP, kind TrackType, traffic Traffic) {
	tick := time.NewTicker(time.Second / time.Duration(traffic.PerSecond))
	defer tick.Stop()
	payload, clock := []byte{0xf8, 0xff, 0xfe}, 48_000
	if kind == Video {
		payload = []byte{0x10, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0xe0, 0x01, 0x00}
		clock = 90_000
	}
	payload = append(payload, make([]byte, max(0, traffic.Bytes-len(payload)))...)
	step := uint32(clock / traffic.PerSecond)
	// The sequence number wraps after a second, so that every test sees it wrap.
	for n := uint32(1<<16 - 100); ; {
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
		if traffic.Paused != nil && traffic.Paused.Load() {
			continue
		}
		_ = track.WriteRTP(&rtp.Packet{
			Header:  rtp.Header{Version: 2, Marker: kind == Video, SequenceNumber: uint16(n), Timestamp: n * step},
			Payload: payload,
		})
		p.sent[kind].Add(1)
		n++
	}
}

// Rejected reports whether the server's answer rejected a track because its type is not
// negotiated.
func (p *Participant) Rejected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rejected
}

// Unpublished reports whether the server announced that it removed the named track.
func (p *Participant) Unpublished(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pub := p.publications[name]
	return pub != nil && pub.unpublished
}

// SetMuted tells the server whether the named track is muted, as a page does. Its packets
// are still sent.
func (p *Participant) SetMuted(name string, muted bool) error {
	p.mu.Lock()
	sid := p.publications[name].sid
	p.mu.Unlock()
	return p.sendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Mute{
		Mute: &livekit.MuteTrackRequest{Sid: sid, Muted: muted}}})
}

// SendData sends a message on the reliable data channel to the given identities, or to all
// if there are none. The message names no sender, as messages of the server do. The server
// drops messages of a participant without permission and does not report that.
func (p *Participant) SendData(ctx context.Context, topic, text string, to ...string) error {
	p.mu.Lock()
	closed := p.reliable == nil
	p.mu.Unlock()
	if closed {
		if err := p.negotiate(ctx, func(*webrtc.PeerConnection) error { return nil }); err != nil {
			return fmt.Errorf("mediatest: open a channel: %w", err)
		}
	}
	data, err := proto.Marshal(&livekit.DataPacket{
		DestinationIdentities: to,
		Value: &livekit.DataPacket_User{User: &livekit.UserPacket{Topic: &topic,
			Payload: []byte(text)}},
	})
	if err != nil {
		return err
	}
	err = p.Wait(ctx, "the channel opens", func() bool {
		return p.reliable.ReadyState() == webrtc.DataChannelStateOpen
	})
	if err != nil {
		return err
	}
	return p.reliable.Send(data)
}
