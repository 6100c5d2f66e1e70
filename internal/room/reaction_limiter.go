package room

import (
	"sync"
	"time"
)

// What one person may show the others by this node, and all people of a room
// together: everything is sent to everybody, so the second bounds the square.
const (
	reactionInterval     = time.Second
	reactionBurst        = 5
	roomReactionInterval = time.Second / 20
	roomReactionBurst    = 60
)

// reactionLimiter holds people to a bearable number of reactions and raised hands. What
// it remembers of somebody who was slow enough is nothing, and is forgotten.
type reactionLimiter struct {
	mu     sync.Mutex
	fullAt map[string]time.Time // by seat or room: when all of the burst is there again
	pruned time.Time
}

// acquire takes one of a seat's and one of its room's, or says how long until
// there is one of both.
func (p *reactionLimiter) acquire(roomID, seatID string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fullAt == nil {
		p.fullAt = map[string]time.Time{}
	}
	if now.Sub(p.pruned) >= time.Minute {
		p.pruned = now
		for id, free := range p.fullAt {
			if !free.After(now) {
				delete(p.fullAt, id)
			}
		}
	}
	seat := later(p.fullAt[seatID], now).Add(reactionInterval)
	all := later(p.fullAt[roomID], now).Add(roomReactionInterval)
	if over := max(seat.Sub(now)-reactionBurst*reactionInterval, all.Sub(now)-roomReactionBurst*roomReactionInterval); over > 0 {
		return over
	}
	p.fullAt[seatID], p.fullAt[roomID] = seat, all
	return 0
}
