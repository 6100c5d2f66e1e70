// Package signalfilter checks everything a participant says in LiveKit's
// signaling before LiveKit sees it. Anyone with a guest link can send any
// bytes there, and LiveKit runs in the process of the API: a panic in one of
// its goroutines ends every meeting. So a request passes only if a rule allows
// it. Each rule says why it is there, and where it works around a defect, which
// version of LiveKit has the fix; it can be removed with that version.
package signalfilter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/livekit/protocol/livekit"

	"parley/internal/refusal"
)

// The bounds of a request. livekit-client stays far below each of them.
const (
	// MaxDescription bounds a session description, in bytes. The largest are
	// those of a full room on a single peer connection.
	MaxDescription = 1 << 20
	// MaxTracks bounds the track ids in one request. A full room has some
	// hundred.
	MaxTracks = 2500
	// maxText bounds ids, names and other short texts, in bytes.
	maxText = 256
	// maxCandidate bounds an ICE candidate, in bytes.
	maxCandidate = 1024
	// maxLayers is how many layers a simulcast track has: low, medium, high.
	maxLayers = 3
	// maxSide bounds the width and height of a picture, in pixels.
	maxSide = 16384
	// maxCodecs is how often a track is announced: once for its codec and once
	// for a backup codec.
	maxCodecs = 2
	// maxAddTracks bounds the announcements in a join request.
	maxAddTracks = 8
)

// Refusal is why a request does not reach LiveKit.
type Refusal struct {
	Kind   refusal.Kind // how it is counted
	Reason string       // for the log; never repeats what the participant sent
	// Malformed is set where an honest client cannot have sent the request.
	Malformed bool
}

// Error implements error.
func (r *Refusal) Error() string { return r.Reason }

func refuse(kind refusal.Kind, format string, args ...any) *Refusal {
	return &Refusal{Kind: kind, Reason: fmt.Sprintf(format, args...), Malformed: true}
}

// Request checks one signal request and makes it safe: it changes session
// descriptions, announcements and why somebody leaves. It returns nil when LiveKit may have the request. The
// request must not be used after a refusal.
func Request(req *livekit.SignalRequest) *Refusal {
	switch m := req.GetMessage().(type) {
	case *livekit.SignalRequest_Offer:
		return description(m.Offer, "offer")
	case *livekit.SignalRequest_Answer:
		return description(m.Answer, "answer")
	case *livekit.SignalRequest_Trickle:
		return trickle(m.Trickle)
	case *livekit.SignalRequest_AddTrack:
		return AddTrack(m.AddTrack)
	case *livekit.SignalRequest_Mute:
		return texts(m.Mute.GetSid())
	case *livekit.SignalRequest_Subscription:
		return subscription(m.Subscription)
	case *livekit.SignalRequest_TrackSetting:
		return trackSetting(m.TrackSetting)
	case *livekit.SignalRequest_UpdateAudioTrack:
		if len(m.UpdateAudioTrack.GetFeatures()) > maxText {
			return refuse(refusal.SignalRequest, "too many audio features")
		}
		return texts(m.UpdateAudioTrack.GetTrackSid())
	case *livekit.SignalRequest_UpdateVideoTrack:
		if w, h := m.UpdateVideoTrack.GetWidth(), m.UpdateVideoTrack.GetHeight(); w > maxSide || h > maxSide {
			return refuse(refusal.SignalRequest, "a picture of more than %d pixels", maxSide)
		}
		return texts(m.UpdateVideoTrack.GetTrackSid())
	case *livekit.SignalRequest_SyncState:
		return SyncState(m.SyncState)
	case *livekit.SignalRequest_Leave:
		if m.Leave == nil {
			return refuse(refusal.SignalRequest, "an empty leave request")
		}
		// The reason is told to the others and recorded. Who leaves could
		// claim that the server disconnected them.
		m.Leave.Reason = livekit.DisconnectReason_CLIENT_INITIATED
		return nil
	case *livekit.SignalRequest_Ping:
		return nil
	case *livekit.SignalRequest_PingReq:
		if m.PingReq == nil {
			return refuse(refusal.SignalRequest, "an empty ping")
		}
		return nil
	case *livekit.SignalRequest_UpdateLayers, *livekit.SignalRequest_UpdateMetadata,
		*livekit.SignalRequest_UpdateDataSubscription:
		// livekit-client may send these; here they have no effect. UpdateLayers
		// is deprecated, nobody may write metadata, and there are no data tracks.
		return &Refusal{Kind: refusal.SignalRequest, Reason: "a request without effect"}
	}
	// Simulate is meant for tests of LiveKit: it would let anybody fake who is
	// speaking, and leave goroutines behind that sleep for years.
	// SubscriptionPermission would undo that the engine holds back the tracks of
	// a participant. Data tracks and data blobs are not used.
	return refuse(refusal.SignalRequest, "a request that is not used here")
}

// AddTrack checks the announcement of a track.
//
// LiveKit indexes tables with the quality of a layer without a check
// (LayerPresenceFromTrackInfo in videolayerutils.go, seen up to 1.13.11: not
// fixed), and believes a track whose type does not fit its source, so that a
// picture can be announced in a session for sound only.
func AddTrack(req *livekit.AddTrackRequest) *Refusal {
	if req == nil {
		return refuse(refusal.SignalRequest, "an empty announcement")
	}
	want, known := typeOf[req.Source]
	if !known || req.Type != want {
		return refuse(refusal.Track, "a track whose type does not match its source")
	}
	if r := texts(req.Cid, req.Name, req.Sid, req.Stream); r != nil {
		return r
	}
	switch {
	case req.Cid == "":
		return refuse(refusal.Track, "a track without an id")
	case req.Width > maxSide || req.Height > maxSide:
		return refuse(refusal.Track, "a picture of more than %d pixels", maxSide)
	case !valid(livekit.Encryption_Type_name, req.Encryption), !valid(livekit.BackupCodecPolicy_name, req.BackupCodecPolicy):
		return refuse(refusal.Track, "an unknown encryption or backup codec policy")
	case len(req.AudioFeatures) > maxText:
		return refuse(refusal.Track, "too many audio features")
	case len(req.SimulcastCodecs) > maxCodecs:
		return refuse(refusal.Track, "more than %d codecs", maxCodecs)
	}
	if r := layers(req.Layers); r != nil {
		return r
	}
	for _, c := range req.SimulcastCodecs {
		if r := codec(c, req.Type); r != nil {
			return r
		}
	}
	req.PacketTrailerFeatures = nil // nothing here reads packet trailers
	return nil
}

var typeOf = map[livekit.TrackSource]livekit.TrackType{
	livekit.TrackSource_MICROPHONE:         livekit.TrackType_AUDIO,
	livekit.TrackSource_SCREEN_SHARE_AUDIO: livekit.TrackType_AUDIO,
	livekit.TrackSource_CAMERA:             livekit.TrackType_VIDEO,
	livekit.TrackSource_SCREEN_SHARE:       livekit.TrackType_VIDEO,
}

// codec checks one codec of an announcement. An empty name leaves the choice to
// LiveKit.
func codec(c *livekit.SimulcastCodec, kind livekit.TrackType) *Refusal {
	if c == nil {
		return refuse(refusal.SignalRequest, "an empty codec")
	}
	if r := texts(c.Codec, c.Cid); r != nil {
		return r
	}
	name := strings.ToLower(c.Codec)
	_, short, mime := strings.Cut(name, "/")
	if mime {
		name = short
	}
	if name != "" && !slices.Contains(Codecs(kind), name) {
		return &Refusal{Kind: refusal.Codec, Reason: "a codec that is not enabled"}
	}
	if !valid(livekit.VideoLayer_Mode_name, c.VideoLayerMode) {
		return refuse(refusal.Track, "an unknown mode of layers")
	}
	return layers(c.Layers)
}

// Codecs returns the names of the codecs that are negotiated for a kind of
// track, in lower case and without "audio/" or "video/".
//
// VP9 and AV1 are left out: one VP9 packet with a payload of one byte ends the
// process (IsVP9KeyFrame in mediatransportutil/pkg/codec/keyframe.go, not fixed
// in 20260821), and both bring the dependency descriptor; see description. H265
// has a parser that nobody here needs. PCMU and PCMA have no user in a browser.
func Codecs(kind livekit.TrackType) []string {
	if kind == livekit.TrackType_AUDIO {
		return []string{"opus", "red"}
	}
	return []string{"vp8", "h264"}
}

func layers(all []*livekit.VideoLayer) *Refusal {
	if len(all) > maxLayers {
		return refuse(refusal.Track, "more than %d layers", maxLayers)
	}
	for _, l := range all {
		switch {
		case l == nil:
			return refuse(refusal.Track, "an empty layer")
		case l.Quality < livekit.VideoQuality_LOW || l.Quality > livekit.VideoQuality_HIGH:
			return refuse(refusal.Track, "a layer whose quality is not low, medium or high")
		case l.SpatialLayer < 0 || l.SpatialLayer >= maxLayers:
			return refuse(refusal.Track, "a spatial layer that is not 0 to %d", maxLayers-1)
		case l.Width > maxSide || l.Height > maxSide:
			return refuse(refusal.Track, "a layer of more than %d pixels", maxSide)
		}
		if r := texts(l.Rid); r != nil {
			return r
		}
	}
	return nil
}

func trickle(t *livekit.TrickleRequest) *Refusal {
	switch {
	case t == nil:
		return refuse(refusal.SignalRequest, "an empty candidate")
	case len(t.CandidateInit) > maxCandidate:
		return refuse(refusal.SignalRequest, "a candidate of more than %d bytes", maxCandidate)
	case !valid(livekit.SignalTarget_name, t.Target):
		return refuse(refusal.SignalRequest, "a candidate for an unknown connection")
	}
	return nil
}

func subscription(s *livekit.UpdateSubscription) *Refusal {
	if s == nil {
		return refuse(refusal.SignalRequest, "an empty subscription")
	}
	for _, p := range s.ParticipantTracks {
		if r := texts(append(p.GetTrackSids(), p.GetParticipantSid())...); r != nil {
			return r
		}
	}
	if Tracks(s) > MaxTracks {
		return refuse(refusal.SignalRequest, "a subscription to more than %d tracks", MaxTracks)
	}
	return texts(s.TrackSids...)
}

// Tracks returns how many tracks and participants a subscription names.
func Tracks(s *livekit.UpdateSubscription) int {
	n := len(s.GetTrackSids())
	for _, p := range s.GetParticipantTracks() {
		n += 1 + len(p.GetTrackSids())
	}
	return n
}

// KeepTracks leaves out of a request the ids of other participants' tracks that
// exists does not report. It reports whether LiveKit has anything to do then.
//
// LiveKit keeps a record for each id that is subscribed to or has settings, also
// for tracks that do not exist, until the participant leaves. Not bounded in any
// version of LiveKit.
func KeepTracks(req *livekit.SignalRequest, exists func(sid string) bool) bool {
	switch m := req.GetMessage().(type) {
	case *livekit.SignalRequest_Subscription:
		return keepSubscription(m.Subscription, exists)
	case *livekit.SignalRequest_TrackSetting:
		m.TrackSetting.TrackSids = keep(m.TrackSetting.TrackSids, exists)
		return len(m.TrackSetting.TrackSids) > 0
	case *livekit.SignalRequest_SyncState:
		KeepTracksInState(m.SyncState, exists)
	}
	return true
}

// KeepTracksInState is KeepTracks for what a participant who resumes a
// connection says of it.
func KeepTracksInState(s *livekit.SyncState, exists func(sid string) bool) {
	if s != nil {
		keepSubscription(s.Subscription, exists)
		s.TrackSidsDisabled = keep(s.TrackSidsDisabled, exists)
	}
}

func keepSubscription(s *livekit.UpdateSubscription, exists func(sid string) bool) bool {
	if s == nil {
		return false
	}
	s.TrackSids = keep(s.TrackSids, exists)
	for _, p := range s.ParticipantTracks {
		if p != nil {
			p.TrackSids = keep(p.TrackSids, exists)
		}
	}
	s.ParticipantTracks = slices.DeleteFunc(s.ParticipantTracks, func(p *livekit.ParticipantTracks) bool { return len(p.GetTrackSids()) == 0 })
	return len(s.TrackSids) > 0 || len(s.ParticipantTracks) > 0
}

func keep(sids []string, exists func(sid string) bool) []string {
	return slices.DeleteFunc(sids, func(sid string) bool { return !exists(sid) })
}

func trackSetting(s *livekit.UpdateTrackSettings) *Refusal {
	switch {
	case s == nil:
		return refuse(refusal.SignalRequest, "empty track settings")
	case len(s.TrackSids) > MaxTracks:
		return refuse(refusal.SignalRequest, "settings of more than %d tracks", MaxTracks)
	case !valid(livekit.VideoQuality_name, s.Quality):
		return refuse(refusal.SignalRequest, "an unknown video quality")
	}
	return texts(s.TrackSids...)
}

// SyncState checks what a participant who resumes a connection says of it.
func SyncState(s *livekit.SyncState) *Refusal {
	if s == nil {
		return nil
	}
	if s.Subscription != nil {
		if r := subscription(s.Subscription); r != nil {
			return r
		}
	}
	n := len(s.TrackSidsDisabled) + len(s.PublishTracks) + len(s.DataChannels) + len(s.DatachannelReceiveStates)
	if n > MaxTracks {
		return refuse(refusal.SignalRequest, "a state of more than %d tracks", MaxTracks)
	}
	for _, d := range []*livekit.SessionDescription{s.Offer, s.Answer} {
		if d == nil {
			continue
		}
		if r := description(d, d.Type); r != nil {
			return r
		}
	}
	for _, c := range s.DataChannels {
		if r := texts(c.GetLabel()); r != nil {
			return r
		}
	}
	for _, p := range s.PublishTracks {
		t := p.GetTrack()
		if t == nil {
			return refuse(refusal.SignalRequest, "a state with an empty track")
		}
		//lint:ignore SA1019 LiveKit still reads it
		if r := layers(t.Layers); r != nil {
			return r
		}
		for _, c := range t.Codecs {
			if r := layers(c.GetLayers()); r != nil {
				return r
			}
		}
	}
	return texts(s.TrackSidsDisabled...)
}

func texts(all ...string) *Refusal {
	for _, text := range all {
		if len(text) > maxText {
			return refuse(refusal.SignalRequest, "a text of more than %d bytes", maxText)
		}
	}
	return nil
}

// valid reports whether a value is one of its enumeration.
func valid[E ~int32](names map[int32]string, value E) bool {
	_, ok := names[int32(value)]
	return ok
}
