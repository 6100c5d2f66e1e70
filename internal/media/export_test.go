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
	e.node.allocator.codecs = func(room.Type) []*livekit.Codec { return codecsFor(room.Video) }
}

// PublishedTrackCount says how many tracks a participant has published.
func (e *Engine) PublishedTrackCount(session, identity string) int {
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

// SetPreflightDuration has checks end sooner.
func (e *Engine) SetPreflightDuration(d time.Duration) { e.preflightDuration = d }

// SetConnectTimeout sets how long a participant may take to connect. Call it before
// anybody joins.
func (e *Engine) SetConnectTimeout(d time.Duration) { e.admissions.connectTimeout = d }

// HeldCount counts the participants that are held back.
func (e *Engine) HeldCount() int {
	e.admissions.mu.RLock()
	defer e.admissions.mu.RUnlock()
	return len(e.admissions.held)
}

// LogWarning writes a warning as LiveKit does.
func (e *Engine) LogWarning(msg string, value any) {
	(&livekitLogger{}).Warnw(msg, nil, "value", value)
}
