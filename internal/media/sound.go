package media

import (
	"context"
	"log/slog"
	"sync"

	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/codecs/mime"
	"github.com/livekit/protocol/livekit"

	"parley/internal/room"
)

// soundOnly is the second line behind the codecs of a session for sound
// only: it looks at what a published track really is and takes out what is
// not sound. The names a page gives to its tracks prove nothing.
type soundOnly struct {
	log   *slog.Logger
	rooms *service.RoomManager // set once, before the first room

	mu      sync.Mutex
	offence map[livekit.ParticipantID]bool
}

// published is called with a track that has just been published.
func (s *soundOnly) published(name livekit.RoomName, sid livekit.ParticipantID, track livekit.TrackID) {
	rm := s.rooms.GetRoom(context.Background(), name)
	if rm == nil || room.Type(rm.ToProto().Metadata) != room.Audio {
		return
	}
	p := rm.GetParticipantByID(sid)
	if p == nil {
		return
	}
	t := p.GetPublishedTrack(track)
	if t == nil || isSound(t) {
		return
	}
	s.log.Info("removed a track that is not sound from a session for sound only",
		"session", string(name), "identity", string(p.Identity()), "track", string(track))
	p.RemovePublishedTrack(t, false)
	if s.again(sid) {
		s.log.Info("removed a participant who published something else than sound again",
			"session", string(name), "identity", string(p.Identity()))
		rm.RemoveParticipant(p.Identity(), sid, types.ParticipantCloseReasonServiceRequestRemoveParticipant)
	}
}

// isSound asks the receivers, which know the negotiated codec. The kind is
// the publisher's own word, but a track that is called a picture is treated
// as one by everybody, so it has to go too.
func isSound(t types.MediaTrack) bool {
	if t.Kind() != livekit.TrackType_AUDIO || !mime.IsMimeTypeStringAudio(t.ToProto().MimeType) {
		return false
	}
	for _, r := range t.Receivers() {
		if !mime.IsMimeTypeStringAudio(r.Codec().MimeType) {
			return false
		}
	}
	return true
}

func (s *soundOnly) again(sid livekit.ParticipantID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offence[sid] {
		return true
	}
	if s.offence == nil {
		s.offence = make(map[livekit.ParticipantID]bool)
	}
	s.offence[sid] = true
	return false
}

func (s *soundOnly) forget(sid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.offence, livekit.ParticipantID(sid))
}
