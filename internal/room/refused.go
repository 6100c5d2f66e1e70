package room

import (
	"context"
	"maps"
	"sync"
	"time"

	"parley/internal/event"
	"parley/internal/seal"
)

// codeRoomFull is what somebody is told who finds no seat.
const codeRoomFull = "room_full"

const (
	// tellAgain is how long a browser that keeps asking is told of once.
	tellAgain = time.Minute
	// tellAtMost bounds what strangers can add to a room's log in that time.
	tellAtMost = 60
)

// refusals remembers who was told of, so that a page that asks again and again
// does not fill the log.
type refusals struct {
	mu    sync.Mutex
	rooms map[string]told
}

// told is when each browser was told of, by the hash of its key.
type told map[string]time.Time

// news reports whether a refusal is worth telling of.
func (f *refusals) news(roomID, keyHash string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, t := range f.rooms {
		maps.DeleteFunc(t, func(_ string, at time.Time) bool { return now.Sub(at) >= tellAgain })
		if len(t) == 0 {
			delete(f.rooms, id)
		}
	}
	t := f.rooms[roomID]
	if t == nil {
		t = told{}
		f.rooms[roomID] = t
	}
	if _, before := t[keyHash]; before || len(t) >= tellAtMost {
		return false
	}
	t[keyHash] = now
	return true
}

// turnedAway notes that somebody found no seat. What they are told does not
// wait for its success.
func (s *Service) turnedAway(ctx context.Context, roomID string, v Visit) {
	if !s.refusals.news(roomID, seal.Hash(v.SeatKey), s.now()) {
		return
	}
	err := s.change(ctx, roomID, func(_ context.Context, r *Room, now time.Time) error {
		if !r.Over() {
			r.turnedAway(v.Name, now)
		}
		return nil
	})
	s.note(ctx, "note who found no seat", err, "room_id", roomID)
}

// turnedAway notes that somebody found no seat. It moves nothing.
func (r *Room) turnedAway(name string, at time.Time) {
	data := r.data()
	data.Refusal = &event.Refusal{Name: name, Code: codeRoomFull}
	r.note(event.ParticipantJoinFailed, at, data)
}
