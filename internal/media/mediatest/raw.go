package mediatest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/signalling"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"
)

// MIME types of the codecs that a Raw participant can publish.
const (
	Opus = webrtc.MimeTypeOpus
	RED  = "audio/red"
	VP8  = webrtc.MimeTypeVP8
	VP9  = webrtc.MimeTypeVP9
	AV1  = webrtc.MimeTypeAV1
	H264 = webrtc.MimeTypeH264
	H265 = webrtc.MimeTypeH265
)

// URIs of RTP header extensions that a Raw participant can offer.
const (
	DependencyDescriptor = "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
	AudioLevel           = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
	MID                  = "urn:ietf:params:rtp-hdrext:sdes:mid"
	StreamID             = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
	RepairedStreamID     = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
	TransportCC          = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	AbsSendTime          = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
	AbsCaptureTime       = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
	TimeOffset           = "urn:ietf:params:rtp-hdrext:toffset"
	PlayoutDelay         = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
	FrameMarking         = "urn:ietf:params:rtp-hdrext:framemarking"
)

// AllExtensions returns the URI of every header extension named here.
func AllExtensions() []string {
	return []string{DependencyDescriptor, AudioLevel, MID, StreamID, RepairedStreamID, TransportCC, AbsSendTime,
		AbsCaptureTime, TimeOffset, PlayoutDelay, FrameMarking}
}

// ErrClosed is the error of the waiting methods of a Raw participant when the server has
// closed the signaling connection.
var ErrClosed = errors.New("mediatest: the server closed the connection")

// RawOptions are the options of a Raw participant. The zero value connects as Join does.
type RawOptions struct {
	// Path of the signaling; "/rtc" if empty.
	Path string
	// Query contains parameters that are added to the default ones, or replace them. A
	// key without a value removes the parameter.
	Query url.Values
	// JoinRequest is sent in the query if it is not nil. On /rtc/v1, nil means
	// DefaultJoinRequest.
	JoinRequest *livekit.JoinRequest
	// HalfConnected leaves the subscriber offer unanswered, so that the participant can
	// publish but LiveKit does not report it as active.
	HalfConnected bool
	// Stalled stops reading from a data channel at its first message.
	Stalled bool
	// Extensions are URIs of header extensions to offer for publishing.
	Extensions []string
	// ChangeOffer changes the session description of each publisher offer.
	ChangeOffer func(sdp string) string
}

func (o *RawOptions) register(me *webrtc.MediaEngine) error {
	red := webrtc.RTPCodecParameters{PayloadType: 63, RTPCodecCapability: webrtc.RTPCodecCapability{
		MimeType: RED, ClockRate: 48000, Channels: 2, SDPFmtpLine: "111/111"}}
	if err := me.RegisterCodec(red, webrtc.RTPCodecTypeAudio); err != nil {
		return err
	}
	for _, uri := range o.Extensions {
		for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeAudio, webrtc.RTPCodecTypeVideo} {
			if err := me.RegisterHeaderExtension(webrtc.RTPHeaderExtensionCapability{URI: uri}, kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// DefaultJoinRequest returns the join request of a client that follows the protocol.
func DefaultJoinRequest() *livekit.JoinRequest {
	return &livekit.JoinRequest{
		ClientInfo:         &livekit.ClientInfo{Protocol: 16, Sdk: livekit.ClientInfo_GO},
		ConnectionSettings: &livekit.ConnectionSettings{AutoSubscribe: true},
	}
}

// EncodeJoinRequest returns the join_request parameter of a query.
func EncodeJoinRequest(req *livekit.JoinRequest) (string, error) {
	inner, err := proto.Marshal(req)
	if err != nil {
		return "", err
	}
	wrapped, err := proto.Marshal(&livekit.WrappedJoinRequest{JoinRequest: inner})
	return base64.URLEncoding.EncodeToString(wrapped), err
}

// Raw is a participant that sends any input without checks and ignores responses of the
// server that it cannot handle. It has all methods of a Participant. Its Wait returns
// ErrClosed as soon as the server has closed the connection.
type Raw struct{ *Participant }

// Dial opens the signaling with a media token and returns when the server has sent its join
// response or has resumed an earlier connection; it does not wait for media. The error is
// *RefusedError with the HTTP status if the server refused the connection, and ErrClosed if
// the server closed it.
func Dial(ctx context.Context, baseURL, token string, options RawOptions) (*Raw, error) {
	ctx, cancel := context.WithTimeout(ctx, WaitTimeout)
	defer cancel()
	query := defaultQuery()
	path := options.Path
	if path == "" {
		path = "/rtc"
	}
	req := options.JoinRequest
	if req == nil && strings.HasPrefix(path, "/rtc/v1") {
		req = DefaultJoinRequest()
	}
	if req != nil {
		encoded, err := EncodeJoinRequest(req)
		if err != nil {
			return nil, err
		}
		query.Set("join_request", encoded)
	}
	for key, values := range options.Query {
		query[key] = values
	}
	p, err := Network{}.openSignaling(ctx, baseURL, token, path, query, &options)
	if err != nil {
		return nil, err
	}
	err = p.Wait(ctx, "the join response", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.joinResponse != nil || p.resumed
	})
	if err != nil {
		p.Abort()
		return nil, err
	}
	return &Raw{Participant: p}, nil
}

// AwaitConnected waits until the subscriber connection is connected.
func (r *Raw) AwaitConnected(ctx context.Context) error {
	return r.Wait(ctx, "media connected", r.subscriberConnected)
}

// AnswerOffer answers the last subscriber offer, which a half-connected participant has left
// unanswered, and all later offers.
func (r *Raw) AnswerOffer() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastOffer == nil {
		return errors.New("mediatest: there is no offer to answer")
	}
	r.raw.HalfConnected = false
	return r.answer(r.lastOffer)
}

// Responses returns the server's responses to requests, in order.
func (r *Raw) Responses() []*livekit.RequestResponse {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*livekit.RequestResponse(nil), r.requestResponses...)
}

// LastAnswer returns the session description of the server's last answer.
func (r *Raw) LastAnswer() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastAnswer
}

// AddTrack sends the request without changes and returns when the server has accepted it.
// The error is ErrNotAllowed if the server does not allow the track.
func (r *Raw) AddTrack(ctx context.Context, req *livekit.AddTrackRequest) error {
	return r.announce(ctx, req)
}

// Offer sends a publisher offer without further changes to the connection.
func (r *Raw) Offer(ctx context.Context) error {
	return r.negotiate(ctx, func(*webrtc.PeerConnection) error { return nil })
}

// OfferTrack offers a track of a codec under a name that may or may not be announced. It
// returns when the publisher connection is connected. It sends no packets. The error is
// ErrRejected if the answer rejects the track.
func (r *Raw) OfferTrack(ctx context.Context, name, mimeType string) (*RawTrack, error) {
	capability := webrtc.RTPCodecCapability{MimeType: mimeType}
	if mimeType == RED {
		capability.ClockRate, capability.Channels, capability.SDPFmtpLine = 48000, 2, "111/111"
	}
	static, err := webrtc.NewTrackLocalStaticRTP(capability, name, "stream")
	if err != nil {
		return nil, err
	}
	track := &RawTrack{TrackLocalStaticRTP: static}
	err = r.negotiate(ctx, func(pc *webrtc.PeerConnection) error {
		_, err := pc.AddTrack(track)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("mediatest: offer %s: %w", name, err)
	}
	err = r.Wait(ctx, "the publisher connection is connected", func() bool {
		return r.Rejected() || track.trackContext() != nil && r.publisherConnected()
	})
	if err == nil && r.Rejected() {
		err = ErrRejected
	}
	return track, err
}

// ErrRejected is the error of OfferTrack when the server's answer rejects the track.
var ErrRejected = errors.New("mediatest: the server rejected this track")

func (r *Raw) publisherConnected() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pub.ConnectionState() == webrtc.PeerConnectionStateConnected
}

// ExtensionID returns the id under which this participant offered a header extension,
// whether or not the server accepted it. It returns 0 if the extension was not offered.
func (r *Raw) ExtensionID(uri string) (id uint8) {
	for line := range strings.Lines(r.Description()) {
		if strings.HasSuffix(strings.TrimSpace(line), " "+uri) {
			if _, err := fmt.Sscanf(line, "a=extmap:%d", &id); err == nil {
				return id
			}
		}
	}
	return 0
}

// WriteRTCP sends bytes as one RTCP packet on the publisher connection. They have to begin
// with a header that SRTCP can read, because the header is not encrypted.
func (r *Raw) WriteRTCP(data []byte) error {
	r.mu.Lock()
	pub := r.pub
	r.mu.Unlock()
	return writeRTCP(pub, data)
}

// WriteFeedback sends bytes as one RTCP packet on the subscriber connection, where the
// server expects reports about its own packets.
func (r *Raw) WriteFeedback(data []byte) error {
	r.mu.Lock()
	sub := r.sub
	r.mu.Unlock()
	return writeRTCP(sub, data)
}

func writeRTCP(pc *webrtc.PeerConnection, data []byte) error {
	if pc == nil {
		return errors.New("mediatest: there is no such connection")
	}
	packet := rtcp.RawPacket(data)
	return pc.WriteRTCP([]rtcp.Packet{&packet})
}

// OpenDataChannel opens a data channel on the publisher connection and returns when it is
// open. The server knows the labels _reliable and _lossy. The parameter init may be nil.
func (r *Raw) OpenDataChannel(
	ctx context.Context, label string, init *webrtc.DataChannelInit,
) (channel *webrtc.DataChannel, err error) {
	err = r.negotiate(ctx, func(pc *webrtc.PeerConnection) error {
		if channel = r.reliable; label == channel.Label() {
			return nil
		}
		channel, err = pc.CreateDataChannel(label, init)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("mediatest: open the channel %s: %w", label, err)
	}
	return channel, r.Wait(ctx, "the channel opens", func() bool {
		return channel.ReadyState() == webrtc.DataChannelStateOpen
	})
}

// CreateDataChannel opens one more data channel on the publisher connection, with any label. It
// does not wait until the channel is open. OpenDataChannel opens the connection.
func (r *Raw) CreateDataChannel(label string) error {
	r.mu.Lock()
	pub := r.pub
	r.mu.Unlock()
	_, err := pub.CreateDataChannel(label, nil)
	return err
}

// RestartICE makes both sides of the publisher connection look for each other again, and returns
// when they are connected. The server then uses another ICE user name.
func (r *Raw) RestartICE(ctx context.Context) error {
	before := r.LastAnswer()
	err := r.negotiateWith(ctx, &webrtc.OfferOptions{ICERestart: true}, func(*webrtc.PeerConnection) error { return nil })
	if err != nil {
		return fmt.Errorf("mediatest: restart ICE: %w", err)
	}
	return r.Wait(ctx, "the publisher connection is connected again", func() bool {
		return r.LastAnswer() != before && r.publisherConnected()
	})
}

// OpenUnannounced returns a track of Opus packets on the publisher connection that neither the
// signaling nor a session description has. OpenDataChannel opens the connection.
func (r *Raw) OpenUnannounced() (*RawTrack, error) {
	me := &webrtc.MediaEngine{}
	if err := me.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	static, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: Opus}, "unannounced", "stream")
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	pub := r.pub
	r.mu.Unlock()
	track := &RawTrack{TrackLocalStaticRTP: static}
	sender, err := webrtc.NewAPI(webrtc.WithMediaEngine(me)).NewRTPSender(track, pub.SCTP().Transport())
	if err != nil {
		return nil, err
	}
	return track, sender.Send(sender.GetParameters())
}

// RawTrack is a track of a Raw participant. Its WriteRTP sets the payload type
// and the SSRC that were negotiated.
type RawTrack struct {
	*webrtc.TrackLocalStaticRTP

	mu      sync.Mutex
	binding webrtc.TrackLocalContext
}

// Bind records the negotiated context. The peer connection calls it when the server has
// accepted the track.
func (t *RawTrack) Bind(bound webrtc.TrackLocalContext) (webrtc.RTPCodecParameters, error) {
	codec, err := t.TrackLocalStaticRTP.Bind(bound)
	if err == nil {
		t.mu.Lock()
		t.binding = bound
		t.mu.Unlock()
	}
	return codec, err
}

func (t *RawTrack) trackContext() webrtc.TrackLocalContext {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.binding
}

// SSRC returns the negotiated SSRC.
func (t *RawTrack) SSRC() uint32 { return uint32(t.trackContext().SSRC()) }

// PayloadTypes returns the payload types that were negotiated for the type of the track.
// The payload type of the track itself is the first.
func (t *RawTrack) PayloadTypes() (all []uint8) {
	for _, codec := range t.trackContext().CodecParameters() {
		all = append(all, uint8(codec.PayloadType))
	}
	return all
}

// Send sends a packet without changing its header to the negotiated values.
func (t *RawTrack) Send(header *rtp.Header, payload []byte) error {
	_, err := t.trackContext().WriteStream().WriteRTP(header, payload)
	return err
}

// SendBytes sends bytes as one RTP packet. They have to begin with a header that SRTP can
// read, because the header is not encrypted.
func (t *RawTrack) SendBytes(data []byte) error {
	_, err := t.trackContext().WriteStream().Write(data)
	return err
}

// NewOffer returns a publisher offer with a data channel and a track of each MIME type,
// named t0, t1 and so on. Its peer connection is already closed, so media cannot flow.
func NewOffer(options RawOptions, mimeTypes ...string) (*livekit.SessionDescription, error) {
	me := &webrtc.MediaEngine{}
	if err := errors.Join(me.RegisterDefaultCodecs(), options.register(me)); err != nil {
		return nil, err
	}
	pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(me)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = pc.Close() }()
	if _, err := pc.CreateDataChannel("_reliable", nil); err != nil {
		return nil, err
	}
	for i, mimeType := range mimeTypes {
		track, err := webrtc.NewTrackLocalStaticRTP(
			webrtc.RTPCodecCapability{MimeType: mimeType}, fmt.Sprintf("t%d", i), "stream")
		if err != nil {
			return nil, err
		}
		if _, err := pc.AddTrack(track); err != nil {
			return nil, err
		}
	}
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		return nil, err
	}
	if options.ChangeOffer != nil {
		offer.SDP = options.ChangeOffer(offer.SDP)
	}
	return signalling.ToProtoSessionDescription(offer, 1, nil), nil
}
