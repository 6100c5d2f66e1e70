package media

import (
	"context"
	"time"

	"github.com/livekit/protocol/livekit"

	"parley/internal/room"
)

// AllowAllCodecs takes the first line away that keeps pictures out of
// sessions for sound only.
func (e *Engine) AllowAllCodecs() {
	e.node.allocator.codecs = func(room.Type) []*livekit.Codec { return codecsOf(room.Video) }
}

// Published says how many tracks a participant has published.
func (e *Engine) Published(session, identity string) int {
	rm := e.node.rooms.GetRoom(context.Background(), livekit.RoomName(session))
	if rm == nil {
		return 0
	}
	p := rm.GetParticipant(livekit.ParticipantIdentity(identity))
	if p == nil {
		return 0
	}
	return len(p.GetPublishedTracks())
}

// CheckFor has checks end sooner.
func (e *Engine) CheckFor(d time.Duration) { e.checkFor = d }

// ConnectWithin sets how long a participant may take to connect. Call it before
// anybody joins.
func (e *Engine) ConnectWithin(d time.Duration) { e.admissions.within = d }

// Held counts the participants that are held back.
func (e *Engine) Held() int {
	e.admissions.mu.RLock()
	defer e.admissions.mu.RUnlock()
	return len(e.admissions.held)
}

// Log writes a warning as LiveKit does.
func (e *Engine) Log(msg string, value any) { (&livekitLogger{}).Warnw(msg, nil, "value", value) }
