package room

import (
	"sync"
	"time"
)

// The limits of reactions and raised hands per participant and per room, on each
// node. The room has its own limit because every reaction is sent to every
// participant, so that traffic would grow with the square of their number.
const (
	reactionInterval     = time.Second
	reactionBurst        = 5
	roomReactionInterval = time.Second / 20
	roomReactionBurst    = 60
)

// reactionLimiter limits reactions and raised hands with a token bucket per seat
// and one per room. Full buckets are deleted once a minute. The zero value is ready
// to use.
type reactionLimiter struct {
	mu     sync.Mutex
	fullAt map[string]time.Time // by seat or room: when the bucket is full again
	pruned time.Time
}

// acquire takes one token of the seat and one of its room and returns 0, or takes
// none and returns how long until both are available.
func (l *reactionLimiter) acquire(roomID, seatID string, now time.Time) (retryAfter time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fullAt == nil {
		l.fullAt = map[string]time.Time{}
	}
	if now.Sub(l.pruned) >= time.Minute {
		l.pruned = now
		for id, fullAt := range l.fullAt {
			if !fullAt.After(now) {
				delete(l.fullAt, id)
			}
		}
	}
	seatFullAt := later(l.fullAt[seatID], now).Add(reactionInterval)
	roomFullAt := later(l.fullAt[roomID], now).Add(roomReactionInterval)
	retryAfter = max(seatFullAt.Sub(now)-reactionBurst*reactionInterval,
		roomFullAt.Sub(now)-roomReactionBurst*roomReactionInterval)
	if retryAfter > 0 {
		return retryAfter
	}
	l.fullAt[seatID], l.fullAt[roomID] = seatFullAt, roomFullAt
	return 0
}
