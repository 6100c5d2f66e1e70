package room

import (
	"sync"
	"time"
)

// What one person may show the others by this node, and all people of a room
// together: everything is sent to everybody, so the second bounds the square.
const (
	paceEvery     = time.Second
	paceBurst     = 5
	paceRoomEvery = time.Second / 20
	paceRoomBurst = 60
)

// paces holds people to a bearable number of reactions and raised hands. What
// it remembers of somebody who was slow enough is nothing, and is forgotten.
type paces struct {
	mu     sync.Mutex
	free   map[string]time.Time // by seat or room: when all of the burst is there again
	pruned time.Time
}

// wait takes one of a seat's and one of its room's, or says how long until
// there is one of both.
func (p *paces) wait(roomID, seatID string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == nil {
		p.free = map[string]time.Time{}
	}
	if now.Sub(p.pruned) >= time.Minute {
		p.pruned = now
		for id, free := range p.free {
			if !free.After(now) {
				delete(p.free, id)
			}
		}
	}
	seat := later(p.free[seatID], now).Add(paceEvery)
	all := later(p.free[roomID], now).Add(paceRoomEvery)
	if over := max(seat.Sub(now)-paceBurst*paceEvery, all.Sub(now)-paceRoomBurst*paceRoomEvery); over > 0 {
		return over
	}
	p.free[seatID], p.free[roomID] = seat, all
	return 0
}
