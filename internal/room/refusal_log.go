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
	// refusalLogInterval is how long a browser that keeps asking is told of once.
	refusalLogInterval = time.Minute
	// maxLoggedRefusals bounds what strangers can add to a room's log in that time.
	maxLoggedRefusals = 60
)

// refusalLog remembers who was told of, so that a page that asks again and again
// does not fill the log.
type refusalLog struct {
	mu     sync.Mutex
	byRoom map[string]logged
}

// logged is when each browser was told of, by the hash of its key.
type logged map[string]time.Time

// shouldLog reports whether a refusal is worth telling of.
func (f *refusalLog) shouldLog(roomID, keyHash string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, t := range f.byRoom {
		maps.DeleteFunc(t, func(_ string, at time.Time) bool { return now.Sub(at) >= refusalLogInterval })
		if len(t) == 0 {
			delete(f.byRoom, id)
		}
	}
	t := f.byRoom[roomID]
	if t == nil {
		t = logged{}
		f.byRoom[roomID] = t
	}
	if _, before := t[keyHash]; before || len(t) >= maxLoggedRefusals {
		return false
	}
	t[keyHash] = now
	return true
}

// emitJoinFailed notes that somebody found no seat. What they are told does not
// wait for its success.
func (s *Service) logRoomFull(ctx context.Context, roomID string, v JoinRequest) {
	if !s.refusalLog.shouldLog(roomID, seal.Hash(v.SeatKey), s.now()) {
		return
	}
	err := s.updateRoom(ctx, roomID, func(_ context.Context, r *Room, now time.Time) error {
		if !r.Over() {
			r.emitJoinFailed(v.Name, now)
		}
		return nil
	})
	s.logFailure(ctx, "note who found no seat", err, "room_id", roomID)
}

// emitJoinFailed notes that somebody found no seat. It moves nothing.
func (r *Room) emitJoinFailed(name string, at time.Time) {
	data := r.eventData()
	data.Refusal = &event.JoinRefusal{Name: name, Code: codeRoomFull}
	r.appendEvent(event.ParticipantJoinFailed, at, data)
}
