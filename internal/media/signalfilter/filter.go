// Package signalfilter checks all signal requests of participants before LiveKit sees
// them. Anyone with a guest link can send any bytes, and LiveKit runs in the process of
// the API, so that a panic in one of its goroutines ends every meeting. Therefore a
// request passes only if a rule allows it. The comment of each rule gives its reason. If
// the rule works around a defect, the comment also names the LiveKit version with the
// fix, and the rule can be removed with that version.
package signalfilter

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/signalling"
	"github.com/pion/ice/v4"

	"parley/internal/refusal"
)

// These are the bounds of a request. livekit-client stays far below each of them.
const (
	// MaxDescriptionBytes is the maximum length of a session description, in bytes. The
	// longest are those of a full room on a single peer connection.
	MaxDescriptionBytes = 1 << 20
	// MaxTracks is the maximum number of track ids in one request. A full room has a few
	// hundred.
	MaxTracks = 2500
	// maxTextBytes is the maximum length of ids, names and other short texts, in bytes.
	maxTextBytes = 256
	// maxCandidateBytes is the maximum length of an ICE candidate, in bytes.
	maxCandidateBytes = 1024
	// maxLayers is the number of layers of a simulcast track: low, medium and high.
	maxLayers = 3
	// maxDimension is the maximum width and height of video, in pixels.
	maxDimension = 16384
	// maxCodecs is the maximum number of codecs in an announcement: the codec of the
	// track and a backup codec.
	maxCodecs = 2
	// maxAddTracks is the maximum number of announcements in a join request.
	maxAddTracks = 8
)

// Refusal is the reason why a request is not passed on to LiveKit.
type Refusal struct {
	Kind   refusal.Kind // of the counter
	Reason string       // for the log; never contains input of the participant
	// Malformed is set if an honest client cannot send such a request.
	Malformed bool
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

func refuse(kind refusal.Kind, format string, args ...any) *Refusal {
	return &Refusal{Kind: kind, Reason: fmt.Sprintf(format, args...), Malformed: true}
}

// SanitizeRequest checks one signal request and makes it safe: it changes session
// descriptions, announcements and the reason for leaving. It returns nil if the request
// may be passed on to LiveKit. The request must not be used after a refusal.
func SanitizeRequest(req *livekit.SignalRequest) *Refusal {
	switch m := req.GetMessage().(type) {
	case *livekit.SignalRequest_Offer:
		return sanitizeDescription(m.Offer, "offer")
	case *livekit.SignalRequest_Answer:
		return sanitizeDescription(m.Answer, "answer")
	case *livekit.SignalRequest_Trickle:
		return checkTrickle(m.Trickle)
	case *livekit.SignalRequest_AddTrack:
		return SanitizeAddTrack(m.AddTrack)
	case *livekit.SignalRequest_Mute:
		return checkTexts(m.Mute.GetSid())
	case *livekit.SignalRequest_Subscription:
		return checkSubscription(m.Subscription)
	case *livekit.SignalRequest_TrackSetting:
		return checkTrackSettings(m.TrackSetting)
	case *livekit.SignalRequest_UpdateAudioTrack:
		if len(m.UpdateAudioTrack.GetFeatures()) > maxTextBytes {
			return refuse(refusal.SignalRequest, "too many audio features")
		}
		return checkTexts(m.UpdateAudioTrack.GetTrackSid())
	case *livekit.SignalRequest_UpdateVideoTrack:
		if w, h := m.UpdateVideoTrack.GetWidth(), m.UpdateVideoTrack.GetHeight(); w > maxDimension || h > maxDimension {
			return refuse(refusal.SignalRequest, "video of more than %d pixels", maxDimension)
		}
		return checkTexts(m.UpdateVideoTrack.GetTrackSid())
	case *livekit.SignalRequest_SyncState:
		return SanitizeSyncState(m.SyncState)
	case *livekit.SignalRequest_Leave:
		if m.Leave == nil {
			return refuse(refusal.SignalRequest, "an empty leave request")
		}
		// The reason is sent to the others and recorded, so that a participant could
		// claim that the server disconnected it.
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
		// livekit-client may send these requests, but they have no effect here:
		// UpdateLayers is deprecated, participants must not write metadata, and there are
		// no data tracks.
		return &Refusal{Kind: refusal.SignalRequest, Reason: "a request without effect"}
	}
	// Simulate is meant for tests of LiveKit. A participant could fake active speakers
	// with it, and it leaves goroutines behind that sleep for years.
	// SubscriptionPermission would release tracks that the engine holds back; see
	// IsDefaultPermission. Data tracks and data blobs are not used.
	return refuse(refusal.SignalRequest, "a request that is not used here")
}

// IsDefaultPermission reports whether a request lets all participants subscribe to all
// tracks of the sender. livekit-client sends it on each connection. It changes nothing,
// because that is the default, but LiveKit would release tracks that it holds back.
func IsDefaultPermission(req *livekit.SignalRequest) bool {
	p := req.GetSubscriptionPermission()
	return p.GetAllParticipants() && len(p.GetTrackPermissions()) == 0
}

// SanitizeAddTrack checks the announcement of a track.
//
// LiveKit indexes tables with the quality of a layer without a check
// (LayerPresenceFromTrackInfo in videolayerutils.go; not fixed up to 1.13.11). It also
// accepts a track whose type does not match its source, so that video could be announced
// in an audio session.
func SanitizeAddTrack(req *livekit.AddTrackRequest) *Refusal {
	if req == nil {
		return refuse(refusal.SignalRequest, "an empty announcement")
	}
	want, known := typeOfSource[req.Source]
	if !known || req.Type != want {
		return refuse(refusal.Track, "a track whose type does not match its source")
	}
	if r := checkTexts(req.Cid, req.Name, req.Sid, req.Stream); r != nil {
		return r
	}
	switch {
	case req.Cid == "":
		return refuse(refusal.Track, "a track without an id")
	case req.Width > maxDimension || req.Height > maxDimension:
		return refuse(refusal.Track, "video of more than %d pixels", maxDimension)
	case !isEnumValue(livekit.Encryption_Type_name, req.Encryption),
		!isEnumValue(livekit.BackupCodecPolicy_name, req.BackupCodecPolicy):
		return refuse(refusal.Track, "an unknown encryption or backup codec policy")
	case len(req.AudioFeatures) > maxTextBytes:
		return refuse(refusal.Track, "too many audio features")
	case len(req.SimulcastCodecs) > maxCodecs:
		return refuse(refusal.Track, "more than %d codecs", maxCodecs)
	}
	if r := checkLayers(req.Layers); r != nil {
		return r
	}
	for _, c := range req.SimulcastCodecs {
		if r := checkCodec(c, req.Type); r != nil {
			return r
		}
	}
	req.PacketTrailerFeatures = nil // nothing here reads packet trailers
	return nil
}

var typeOfSource = map[livekit.TrackSource]livekit.TrackType{
	livekit.TrackSource_MICROPHONE:         livekit.TrackType_AUDIO,
	livekit.TrackSource_SCREEN_SHARE_AUDIO: livekit.TrackType_AUDIO,
	livekit.TrackSource_CAMERA:             livekit.TrackType_VIDEO,
	livekit.TrackSource_SCREEN_SHARE:       livekit.TrackType_VIDEO,
}

// checkCodec checks one codec of an announcement. With an empty name LiveKit chooses the
// codec.
func checkCodec(c *livekit.SimulcastCodec, kind livekit.TrackType) *Refusal {
	if c == nil {
		return refuse(refusal.SignalRequest, "an empty codec")
	}
	if r := checkTexts(c.Codec, c.Cid); r != nil {
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
	if !isEnumValue(livekit.VideoLayer_Mode_name, c.VideoLayerMode) {
		return refuse(refusal.Track, "an unknown mode of layers")
	}
	return checkLayers(c.Layers)
}

// Codecs returns the names of the codecs that are negotiated for a kind of
// track, in lower case and without "audio/" or "video/".
//
// VP9 and AV1 are not included, because one VP9 packet with a payload of one byte ends
// the process (IsVP9KeyFrame in mediatransportutil/pkg/codec/keyframe.go, not fixed in
// 20260821), and because both use the dependency descriptor; see allowedExtensions. H265
// is not included because it adds a parser that is not needed. Browsers do not need PCMU
// and PCMA.
func Codecs(kind livekit.TrackType) []string {
	if kind == livekit.TrackType_AUDIO {
		return []string{"opus", "red"}
	}
	return []string{"vp8", "h264"}
}

func checkLayers(all []*livekit.VideoLayer) *Refusal {
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
		case l.Width > maxDimension || l.Height > maxDimension:
			return refuse(refusal.Track, "a layer of more than %d pixels", maxDimension)
		}
		if r := checkTexts(l.Rid); r != nil {
			return r
		}
	}
	return nil
}

// Candidate returns the UDP address in a request that names an address of the client, and
// whether the request names one. The address is invalid for names, for TCP, and for the end
// of the candidates.
//
// LiveKit sends packets to each address that it learns in this way, so that a client could
// make it send to any host. It needs few of them or none: clients send the first packets, to
// the addresses of the server, and ICE learns the address of the client from these
// (RFC 8445, section 7.3.1.3), about a second more slowly.
func Candidate(req *livekit.SignalRequest) (addr netip.Addr, ok bool) {
	trickle := req.GetTrickle()
	if trickle == nil {
		return netip.Addr{}, false
	}
	init, err := signalling.FromProtoTrickle(trickle)
	if err != nil {
		return netip.Addr{}, true
	}
	candidate, err := ice.UnmarshalCandidate(init.Candidate)
	if err != nil || candidate.NetworkType().IsTCP() {
		return netip.Addr{}, true
	}
	addr, _ = netip.ParseAddr(candidate.Address())
	return addr.Unmap(), true
}

func checkTrickle(t *livekit.TrickleRequest) *Refusal {
	switch {
	case t == nil:
		return refuse(refusal.SignalRequest, "an empty candidate")
	case len(t.CandidateInit) > maxCandidateBytes:
		return refuse(refusal.SignalRequest, "a candidate of more than %d bytes", maxCandidateBytes)
	case !isEnumValue(livekit.SignalTarget_name, t.Target):
		return refuse(refusal.SignalRequest, "a candidate for an unknown connection")
	}
	return nil
}

func checkSubscription(s *livekit.UpdateSubscription) *Refusal {
	if s == nil {
		return refuse(refusal.SignalRequest, "an empty subscription")
	}
	for _, p := range s.ParticipantTracks {
		if r := checkTexts(append(p.GetTrackSids(), p.GetParticipantSid())...); r != nil {
			return r
		}
	}
	if TrackCount(s) > MaxTracks {
		return refuse(refusal.SignalRequest, "a subscription to more than %d tracks", MaxTracks)
	}
	return checkTexts(s.TrackSids...)
}

// TrackCount returns how many tracks and participants a subscription names.
func TrackCount(s *livekit.UpdateSubscription) int {
	n := len(s.GetTrackSids())
	for _, p := range s.GetParticipantTracks() {
		n += 1 + len(p.GetTrackSids())
	}
	return n
}

// StateTrackCount returns how many tracks and participants the state of a resumed connection
// names.
func StateTrackCount(s *livekit.SyncState) int {
	return TrackCount(s.GetSubscription()) + len(s.GetTrackSidsDisabled())
}

// RemoveUnknownTracks removes the ids of tracks that do not exist from a request. It
// reports whether the request still has an effect.
//
// LiveKit keeps a record for each id that is subscribed to or has settings, also for
// tracks that do not exist, until the participant leaves. No version of LiveKit limits
// the number of records.
func RemoveUnknownTracks(req *livekit.SignalRequest, exists func(sid string) bool) bool {
	switch m := req.GetMessage().(type) {
	case *livekit.SignalRequest_Subscription:
		return removeUnknownSubscriptions(m.Subscription, exists)
	case *livekit.SignalRequest_TrackSetting:
		m.TrackSetting.TrackSids = existingTracks(m.TrackSetting.TrackSids, exists)
		return len(m.TrackSetting.TrackSids) > 0
	case *livekit.SignalRequest_SyncState:
		RemoveUnknownTracksFromState(m.SyncState, exists)
	}
	return true
}

// RemoveUnknownTracksFromState removes the ids of tracks that do not exist from the state
// that a participant sends when it resumes a connection.
func RemoveUnknownTracksFromState(s *livekit.SyncState, exists func(sid string) bool) {
	if s != nil {
		removeUnknownSubscriptions(s.Subscription, exists)
		s.TrackSidsDisabled = existingTracks(s.TrackSidsDisabled, exists)
	}
}

func removeUnknownSubscriptions(s *livekit.UpdateSubscription, exists func(sid string) bool) bool {
	if s == nil {
		return false
	}
	s.TrackSids = existingTracks(s.TrackSids, exists)
	for _, p := range s.ParticipantTracks {
		if p != nil {
			p.TrackSids = existingTracks(p.TrackSids, exists)
		}
	}
	s.ParticipantTracks = slices.DeleteFunc(s.ParticipantTracks, func(p *livekit.ParticipantTracks) bool {
		return len(p.GetTrackSids()) == 0
	})
	return len(s.TrackSids) > 0 || len(s.ParticipantTracks) > 0
}

func existingTracks(sids []string, exists func(sid string) bool) []string {
	return slices.DeleteFunc(sids, func(sid string) bool { return !exists(sid) })
}

func checkTrackSettings(s *livekit.UpdateTrackSettings) *Refusal {
	switch {
	case s == nil:
		return refuse(refusal.SignalRequest, "empty track settings")
	case len(s.TrackSids) > MaxTracks:
		return refuse(refusal.SignalRequest, "settings of more than %d tracks", MaxTracks)
	case !isEnumValue(livekit.VideoQuality_name, s.Quality):
		return refuse(refusal.SignalRequest, "an unknown video quality")
	}
	return checkTexts(s.TrackSids...)
}

// SanitizeSyncState checks the state that a participant sends when it resumes a
// connection.
func SanitizeSyncState(s *livekit.SyncState) *Refusal {
	if s == nil {
		return nil
	}
	if s.Subscription != nil {
		if r := checkSubscription(s.Subscription); r != nil {
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
		if r := sanitizeDescription(d, d.Type); r != nil {
			return r
		}
	}
	for _, c := range s.DataChannels {
		if r := checkTexts(c.GetLabel()); r != nil {
			return r
		}
	}
	for _, p := range s.PublishTracks {
		t := p.GetTrack()
		if t == nil {
			return refuse(refusal.SignalRequest, "a state with an empty track")
		}
		//lint:ignore SA1019 LiveKit still reads it
		if r := checkLayers(t.Layers); r != nil {
			return r
		}
		for _, c := range t.Codecs {
			if r := checkLayers(c.GetLayers()); r != nil {
				return r
			}
		}
	}
	return checkTexts(s.TrackSidsDisabled...)
}

func checkTexts(all ...string) *Refusal {
	for _, text := range all {
		if len(text) > maxTextBytes {
			return refuse(refusal.SignalRequest, "a text of more than %d bytes", maxTextBytes)
		}
	}
	return nil
}

// isEnumValue reports whether a value is defined in its enumeration.
func isEnumValue[E ~int32](names map[int32]string, value E) bool {
	_, ok := names[int32(value)]
	return ok
}
