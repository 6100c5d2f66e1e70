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

// kinds holds published tracks to what was granted. LiveKit grants sources,
// which are labels that a page gives to its tracks and prove nothing: a camera
// may be called a microphone. So it looks at what a track really is, and takes
// out what is not what its label says. In a session for sound only it is the
// second line behind the codecs.
type kinds struct {
	log      *slog.Logger
	refusals *refusal.Recorder
	rooms    *service.RoomManager // set once, before the first room

	mu      sync.Mutex
	offence map[livekit.ParticipantID]bool
}

// published is called with a track that has just been published.
func (k *kinds) published(name livekit.RoomName, sid livekit.ParticipantID, track livekit.TrackID) {
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
	if isWhatItSays(t) {
		k.replace(name, p, t)
		return
	}
	k.refusals.Record(refusal.Track, "removed a track that is not what its label says",
		"session", string(name), "identity", string(p.Identity()), "track", string(track))
	p.RemovePublishedTrack(t, false)
	if k.again(sid) {
		k.log.Info("removed a participant who published under a wrong label again",
			"session", string(name), "identity", string(p.Identity()))
		rm.RemoveParticipant(p.Identity(), sid, types.ParticipantCloseReasonServiceRequestRemoveParticipant)
	}
}

// replace removes the tracks of the same source that a participant has
// published before: there is one microphone, one camera and one screen.
func (k *kinds) replace(name livekit.RoomName, p types.LocalParticipant, latest types.MediaTrack) {
	for _, t := range p.GetPublishedTracks() {
		if t.Source() != latest.Source() || t.ID() == latest.ID() {
			continue
		}
		k.refusals.Record(refusal.Track, "a second track of the same source",
			"session", string(name), "identity", string(p.Identity()))
		p.RemovePublishedTrack(t, false)
	}
}

// isWhatItSays asks the receivers, which know the negotiated codec. The kind
// is the publisher's own word, but a track that is called a picture is treated
// as one by everybody, so it has to agree too.
func isWhatItSays(t types.MediaTrack) bool {
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

func (k *kinds) again(sid livekit.ParticipantID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.offence[sid] {
		return true
	}
	if k.offence == nil {
		k.offence = make(map[livekit.ParticipantID]bool)
	}
	k.offence[sid] = true
	return false
}

func (k *kinds) forget(sid string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.offence, livekit.ParticipantID(sid))
}
