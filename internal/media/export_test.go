package media

import (
	"context"
	"net/netip"
	"time"

	"github.com/livekit/protocol/livekit"

	"parley/internal/room"
)

// AllowAllCodecs removes the first line of defense against video in audio sessions.
func (e *Engine) AllowAllCodecs() {
	e.node.allocator.codecs = func(room.Type) []*livekit.Codec { return codecsFor(room.Video) }
}

// PublishedTrackCount returns the number of tracks that a participant has published.
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

// SetPreflightDuration sets the maximum duration of a connection test.
func (e *Engine) SetPreflightDuration(d time.Duration) { e.preflightDuration = d }

// SetPreflightClock sets the clock of the reservations for connection tests.
func (e *Engine) SetPreflightClock(now func() time.Time) { e.preflightClock = now }

// SetConnectTimeout sets the time in which participants who join from now on have to connect media.
func (e *Engine) SetConnectTimeout(d time.Duration) {
	e.admissions.mu.Lock()
	defer e.admissions.mu.Unlock()
	e.admissions.connectTimeout = d
}

// UseUpConnections uses up the connections that a participant may make for an hour.
func (e *Engine) UseUpConnections(session, identity string) {
	for ok := true; ok; {
		_, ok = e.connectLimiter.allow(session, identity, time.Now().Add(time.Hour))
	}
}

// HeldCount returns the number of participants that are held back.
func (e *Engine) HeldCount() int {
	e.admissions.mu.RLock()
	defer e.admissions.mu.RUnlock()
	held := 0
	for _, c := range e.admissions.connections {
		if !c.admitted.Load() {
			held++
		}
	}
	return held
}

// LogWarning writes a warning as LiveKit does.
func (e *Engine) LogWarning(msg string, value any) {
	(&livekitLogger{}).Warnw(msg, nil, "value", value)
}

// IsReachable exports isReachable.
func IsReachable(addr netip.Addr, announced []netip.Addr) bool { return isReachable(addr, announced) }
