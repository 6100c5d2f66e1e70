package mediatest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"strings"

	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parley/internal/media/signalfilter"
	"parley/internal/room"
)

const requestsPerRound = 150

// Signaling sends random and mutated signal requests, session descriptions and join
// requests until ctx ends. Each round uses a new guest.
func (f *Fuzzer) Signaling(ctx context.Context) error {
	offers, err := f.offers()
	if err != nil {
		return err
	}
	return f.runRounds(ctx, func(ctx context.Context, n int) error { return f.signalRound(ctx, n, offers) })
}

// offers returns valid session descriptions that the rounds mutate.
func (f *Fuzzer) offers() (all []string, err error) {
	audio, video := []string{Opus, Opus}, []string{VP8, Opus, H264, VP8, Opus}
	for _, tracks := range [][]string{audio, video} {
		offer, err := NewOffer(RawOptions{Extensions: AllExtensions()}, tracks...)
		if err != nil {
			return nil, err
		}
		all = append(all, offer.Sdp)
	}
	if f.Type == room.Audio {
		return all, nil
	}
	simulcast := strings.Replace(all[1], "a=sendrecv\r\n",
		"a=rid:q send\r\na=rid:h send\r\na=rid:f send\r\na=simulcast:send q;h;f\r\na=sendrecv\r\n", 1)
	return append(all, simulcast), nil
}

type signalAttack struct {
	*Fuzzer
	rnd    *rand.Rand
	offers []string
	texts  []string
	// gentle rounds change only few session descriptions, because a description that
	// LiveKit cannot handle ends the connection before the later requests.
	gentle bool
}

func (f *Fuzzer) signalRound(ctx context.Context, n int, offers []string) error {
	rnd := f.newRand(signalStream, n)
	a := &signalAttack{
		Fuzzer: f,
		rnd:    rnd,
		offers: offers,
		gentle: oneChanceIn(rnd, 2),
		texts: []string{
			"", "t0", "t1", "t2", "track", "TR_x", "PA_x", "video/VP8", "video/VP9", "video/AV1", "video/H264",
			"audio/opus",
			"audio/red", "vp8", "vp9", "av1", "h264", "offer", "answer", "rollback", "pranswer", "q", "h", "f", "\x00",
			"-1",
			`{"candidate":"candidate:1 1 udp 1 127.0.0.1 9 typ host","sdpMid":"0","sdpMLineIndex":0}`,
			`{"candidate":"x"}`, `{"candidate":"candidate:1 1 tcp 1 ::1 9 typ host tcptype active"}`,
			strings.Repeat("A", 5000), pick(rnd, offers)},
	}
	options := RawOptions{HalfConnected: oneChanceIn(rnd, 2)}
	switch rnd.IntN(4) {
	case 0:
		options.Path = "/rtc/v1"
		options.JoinRequest = a.joinRequest()
	case 1:
		options.JoinRequest = a.joinRequest()
	case 2:
		options.Query = url.Values{pick(rnd, []string{"protocol", "sdk", "version", "os", "browser", "device_model",
			"network", "reconnect", "sid", "reconnect_reason", "attributes", "client_protocol", "adaptive_stream",
			"publish", "auto_subscribe", "join_request"}): {pick(rnd, a.texts)}}
	}
	f.Requests.Add(1)
	token, err := f.Token(ctx)
	if err != nil {
		return connectError{err}
	}
	r, err := f.dial(ctx, token, options)
	if err != nil {
		var refused *RefusedError
		if errors.As(err, &refused) || errors.Is(err, ErrClosed) {
			return nil // an invalid join request is refused
		}
		return err
	}
	defer r.Abort()
	if joined := r.JoinResponse(); joined != nil && joined.Participant != nil {
		a.texts = append(a.texts, joined.Participant.Sid, joined.Participant.Identity)
		for _, other := range r.RemoteParticipants() {
			a.texts = append(a.texts, other.SID, other.Identity)
		}
	}
	a.sendRequests(ctx, r, requestsPerRound)
	if joined := r.JoinResponse(); joined == nil || joined.Participant == nil || r.Closed() {
		return nil
	}
	// Resume the same connection, as a page does after its network was interrupted.
	resume := RawOptions{HalfConnected: true, Query: url.Values{"reconnect": {"1"}, "sid": {r.SID()},
		"reconnect_reason": {pick(rnd, []string{"0", "1", "-1", "99999999999"})}}}
	if oneChanceIn(rnd, 2) {
		resume.JoinRequest = a.joinRequest()
		resume.JoinRequest.Reconnect, resume.JoinRequest.ParticipantSid = true, r.SID()
	}
	f.Requests.Add(1)
	resumed, err := f.dial(ctx, token, resume)
	if err != nil {
		return nil // it was disconnected because of its requests
	}
	defer resumed.Abort()
	a.sendRequests(ctx, resumed, requestsPerRound/3)
	return nil
}

// sendRequests sends a number of requests, or until the server closes the connection.
func (a *signalAttack) sendRequests(ctx context.Context, r *Raw, requests int) {
	pace := newPacer(a.RequestsPerSecond)
	for range requests {
		if ctx.Err() != nil || r.Closed() || r.Write(a.request()) != nil {
			return
		}
		a.Requests.Add(1)
		pace.wait(ctx)
	}
}

// request returns one encoded signal request. Nine of ten pass the filter, because the
// others never reach LiveKit.
func (a *signalAttack) request() []byte {
	req := a.random()
	for range 200 {
		if oneChanceIn(a.rnd, 10) || signalfilter.SanitizeRequest(proto.CloneOf(req)) == nil {
			break
		}
		req = a.random()
	}
	data, err := proto.MarshalOptions{AllowPartial: true}.Marshal(req)
	if err != nil {
		return randomBytes(a.rnd, a.rnd.IntN(60))
	}
	if oneChanceIn(a.rnd, 150) {
		return mutate(a.rnd, data)
	}
	return data
}

func (a *signalAttack) random() *livekit.SignalRequest {
	req := &livekit.SignalRequest{}
	switch a.rnd.IntN(10) {
	case 0, 1, 2:
		desc := a.description()
		req.Message = &livekit.SignalRequest_Offer{Offer: desc}
		// Answers are rare because most of them end the connection.
		if oneChanceIn(a.rnd, 30) {
			req.Message = &livekit.SignalRequest_Answer{Answer: desc}
		}
	case 3:
		// The announcement is often valid, so that a later offer can contain the track.
		req.Message = &livekit.SignalRequest_AddTrack{AddTrack: a.addTrack()}
	default:
		a.fillRandomRequest(req)
	}
	return req
}

// fillRandomRequest fills one kind of request at random.
func (a *signalAttack) fillRandomRequest(req *livekit.SignalRequest) {
	fields := req.ProtoReflect().Descriptor().Oneofs().Get(0).Fields()
	field := fields.Get(a.rnd.IntN(fields.Len()))
	if field.Name() == "leave" && !oneChanceIn(a.rnd, 60) {
		return
	}
	if field.Kind() == protoreflect.MessageKind {
		fillRandom(a.rnd, req.ProtoReflect().Mutable(field).Message(), 0, a.texts)
	} else {
		req.ProtoReflect().Set(field, protoreflect.ValueOfInt64(a.rnd.Int64()))
	}
}

func (a *signalAttack) addTrack() *livekit.AddTrackRequest {
	req := &livekit.AddTrackRequest{}
	fillRandom(a.rnd, req.ProtoReflect(), 0, a.texts)
	req.Cid = pick(a.rnd, []string{"t0", "t1", "t2", "t3", "t4"})
	if oneChanceIn(a.rnd, 2) {
		req.Sid = ""
		req.Type, req.Source = livekit.TrackType_AUDIO, livekit.TrackSource_MICROPHONE
		if a.Type == room.Video && oneChanceIn(a.rnd, 2) {
			req.Type, req.Source = livekit.TrackType_VIDEO, livekit.TrackSource_CAMERA
		}
	}
	return req
}

// joinRequest returns a join request that usually passes the filter.
func (a *signalAttack) joinRequest() *livekit.JoinRequest {
	for range 200 {
		req := a.randomJoin()
		if oneChanceIn(a.rnd, 10) || signalfilter.SanitizeJoinRequest(proto.CloneOf(req)) == nil {
			return req
		}
	}
	return DefaultJoinRequest()
}

func (a *signalAttack) randomJoin() *livekit.JoinRequest {
	req := DefaultJoinRequest()
	if oneChanceIn(a.rnd, 2) {
		fillRandom(a.rnd, req.ProtoReflect(), 0, a.texts)
	}
	req.AddTrackRequests = nil
	for range a.rnd.IntN(4) {
		req.AddTrackRequests = append(req.AddTrackRequests, a.addTrack())
	}
	req.PublisherOffer = nil
	if oneChanceIn(a.rnd, 2) {
		req.PublisherOffer = a.description()
	}
	return req
}

// sdpLines are inserted into session descriptions.
var sdpLines = []string{
	"a=simulcast:send q;h;f", "a=rid:q send", "a=rid: send", "a=ssrc-group:SIM 1 2 3", "a=ssrc-group:FID 1 1",
	"a=extmap:0 x", "a=extmap:15 urn:x", "a=extmap:255 " + DependencyDescriptor, "a=mid:", "a=fmtp:111 x",
	"a=rtpmap:300 VP8/90000", "a=rtpmap:96 vp9/90000", "m=video 9 UDP/TLS/RTP/SAVPF", "m=audio 0 X 0",
	"m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=group:BUNDLE", "a=group:BUNDLE 0 0 9", "c=IN",
	"a=fingerprint:sha-256", "a=fingerprint:x 00", "a=candidate:", "a=candidate:1 1 udp 1 127.0.0.1 9 typ host",
	"a=msid:", "a=msid:- t0", "a=ssrc:1 msid:x t0", "a=ssrc:0", "a=ssrc:4294967296 cname:x", "a=bundle-only",
	"a=setup:holdconn", "a=inactive", "a=sctp-port:0", "a=max-message-size:0", "a=ice-ufrag:", "a=ice-pwd:x",
	"a=rtcp-fb:* nack", "t=0 0 0", "s=", "v=1",
}

// description returns a session description with up to six changes.
func (a *signalAttack) description() *livekit.SessionDescription {
	rnd := a.rnd
	lines := strings.Split(pick(rnd, a.offers), "\r\n")
	changes := rnd.IntN(7)
	if a.gentle && !oneChanceIn(rnd, 40) {
		changes = 0
	}
	for range changes {
		if len(lines) == 0 {
			break
		}
		index := rnd.IntN(len(lines))
		switch rnd.IntN(7) {
		case 0:
			lines = append(lines[:index], lines[index+1:]...)
		case 1:
			lines = insertLine(lines, index, lines[rnd.IntN(len(lines))])
		case 2:
			lines[index] = strings.Map(func(c rune) rune {
				if c >= '0' && c <= '9' && oneChanceIn(rnd, 3) {
					return '0' + rune(rnd.IntN(10))
				}
				return c
			}, lines[index])
		case 3:
			lines[index] = lines[index][:rnd.IntN(len(lines[index])+1)]
		case 4:
			lines[index] += strings.Repeat(" 99999", rnd.IntN(5))
		case 5:
			lines = insertLine(lines, index, pick(rnd, sdpLines))
		case 6:
			lines[index] = strings.ToValidUTF8(string(mutate(rnd, []byte(lines[index]))), "?")
		}
	}
	kind := "offer"
	if oneChanceIn(rnd, 20) {
		kind = pick(rnd, []string{"answer", "pranswer", "rollback", "x"})
	}
	return &livekit.SessionDescription{Type: kind,
		Sdp: strings.Join(lines, "\r\n"), Id: uint32(rnd.IntN(4))}
}

func insertLine(lines []string, index int, line string) []string {
	return append(lines[:index:index], append([]string{line}, lines[index:]...)...)
}

// fillRandom sets about half of the fields of a message at random.
func fillRandom(rnd *rand.Rand, m protoreflect.Message, depth int, texts []string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if oneChanceIn(rnd, 3) || depth > 4 || f.ContainingOneof() != nil && !oneChanceIn(rnd, 3) || f.IsMap() {
			continue
		}
		switch {
		case f.IsList():
			list := m.Mutable(f).List()
			for range rnd.IntN(4) {
				if f.Kind() == protoreflect.MessageKind {
					element := list.NewElement()
					fillRandom(rnd, element.Message(), depth+1, texts)
					list.Append(element)
				} else {
					list.Append(randomValue(rnd, f, texts))
				}
			}
		case f.Kind() == protoreflect.MessageKind:
			fillRandom(rnd, m.Mutable(f).Message(), depth+1, texts)
		default:
			m.Set(f, randomValue(rnd, f, texts))
		}
	}
}

// randomValue returns a value of a scalar field, often the lowest or highest one.
func randomValue(rnd *rand.Rand, f protoreflect.FieldDescriptor, texts []string) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(oneChanceIn(rnd, 2))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(pick(rnd, texts))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(randomBytes(rnd, rnd.IntN(40)))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(pick(rnd, []int32{0, 1, -1, 5, 1 << 30, -1 << 31}))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(pick(rnd, []int64{0, 1, -1, 1 << 62, -1 << 63}))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(pick(rnd, []uint32{0, 1, 7, 640, 1<<32 - 1}))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(pick(rnd, []uint64{0, 1, 1<<64 - 1}))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(rnd.Float32())
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rnd.Float64())
	default: // an enumeration
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rnd.IntN(8) - 1))
	}
}
