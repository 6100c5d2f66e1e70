package media

import (
	"context"
	"log/slog"
	"sync"

	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/codecs/mime"
	"github.com/livekit/protocol/livekit"

	"parley/internal/refusal"
)

// trackTypes removes published tracks whose media does not match their source. LiveKit
// grants sources, which are labels that a page gives to its tracks, so that a camera can
// be published as a microphone. In an audio session this check is the second line of
// defense behind the codecs.
type trackTypes struct {
	log      *slog.Logger
	refusals *refusal.Recorder
	rooms    *service.RoomManager // set once, before the first room

	mu        sync.Mutex
	offenders map[livekit.ParticipantID]bool
}

// trackPublished checks a track that has just been published.
func (k *trackTypes) trackPublished(name livekit.RoomName, sid livekit.ParticipantID, track livekit.TrackID) {
	rm := k.rooms.GetRoom(context.Background(), name)
	if rm == nil {
		return
	}
	p := rm.GetParticipantByID(sid)
	if p == nil {
		return
	}
	t := p.GetPublishedTrack(track)
	if t == nil {
		return
	}
	if matchesSource(t) {
		k.removeOlderTracks(name, p, t)
		return
	}
	k.refusals.Record(refusal.Track, "a track whose media does not match its source",
		"session", string(name), "identity", string(p.Identity()), "track", string(track))
	p.RemovePublishedTrack(t, false)
	if k.repeatedOffense(sid) {
		k.log.Info("removed a participant that published a second track with a wrong source",
			"session", string(name), "identity", string(p.Identity()))
		rm.RemoveParticipant(p.Identity(), sid, types.ParticipantCloseReasonServiceRequestRemoveParticipant)
	}
}

// removeOlderTracks removes the earlier tracks of a participant with the same source,
// because a participant has at most one microphone, one camera and one screen.
func (k *trackTypes) removeOlderTracks(name livekit.RoomName, p types.LocalParticipant, latest types.MediaTrack) {
	for _, t := range p.GetPublishedTracks() {
		if t.Source() != latest.Source() || t.ID() == latest.ID() {
			continue
		}
		k.refusals.Record(refusal.Track, "a second track of the same source",
			"session", string(name), "identity", string(p.Identity()))
		p.RemovePublishedTrack(t, false)
	}
}

// matchesSource reports whether the media of a track matches its source. It checks the
// receivers, which know the negotiated codec. It also checks the kind, although that is
// only a claim of the publisher, because all pages treat the track as that kind.
func matchesSource(t types.MediaTrack) bool {
	kind, ofKind := livekit.TrackType_VIDEO, mime.IsMimeTypeStringVideo
	switch t.Source() {
	case livekit.TrackSource_MICROPHONE, livekit.TrackSource_SCREEN_SHARE_AUDIO:
		kind, ofKind = livekit.TrackType_AUDIO, mime.IsMimeTypeStringAudio
	}
	if t.Kind() != kind || !ofKind(t.ToProto().MimeType) {
		return false
	}
	for _, r := range t.Receivers() {
		if !ofKind(r.Codec().MimeType) {
			return false
		}
	}
	return true
}

// repeatedOffense records an offense of the connection and reports whether it is not the
// first.
func (k *trackTypes) repeatedOffense(sid livekit.ParticipantID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.offenders[sid] {
		return true
	}
	if k.offenders == nil {
		k.offenders = make(map[livekit.ParticipantID]bool)
	}
	k.offenders[sid] = true
	return false
}

func (k *trackTypes) remove(sid string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.offenders, livekit.ParticipantID(sid))
}
