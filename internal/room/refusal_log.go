package room

import (
	"context"
	"maps"
	"sync"
	"time"

	"parley/internal/event"
	"parley/internal/seal"
)

// codeRoomFull is the error code when a room has no free seat.
const codeRoomFull = "room_full"

const (
	// refusalLogInterval is the time in which refusals of one browser are recorded
	// once.
	refusalLogInterval = time.Minute
	// maxLoggedRefusals is the maximum number of refusals recorded per room in that
	// time.
	maxLoggedRefusals = 60
)

// refusalLog limits the recorded refusals, so that pages that ask again and again
// do not fill a room's event log.
type refusalLog struct {
	mu     sync.Mutex
	byRoom map[string]logged
}

// logged maps the hash of a browser's seat key to the time when its refusal was
// recorded.
type logged map[string]time.Time

// shouldLog reports whether a refusal must be recorded, and counts it if so.
func (l *refusalLog) shouldLog(roomID, keyHash string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, times := range l.byRoom {
		maps.DeleteFunc(times, func(_ string, at time.Time) bool { return now.Sub(at) >= refusalLogInterval })
		if len(times) == 0 {
			delete(l.byRoom, id)
		}
	}
	times := l.byRoom[roomID]
	if times == nil {
		times = logged{}
		l.byRoom[roomID] = times
	}
	if _, known := times[keyHash]; known || len(times) >= maxLoggedRefusals {
		return false
	}
	times[keyHash] = now
	return true
}

// logRoomFull emits ParticipantJoinFailed for a visitor who found no free seat. A
// failure is only logged, because the visitor's response does not depend on it.
func (s *Joining) logRoomFull(ctx context.Context, roomID string, v JoinRequest) {
	if !s.refusalLog.shouldLog(roomID, seal.Hash(v.SeatKey), s.now()) {
		return
	}
	err := s.updateRoom(ctx, roomID, func(_ context.Context, r *Room, now time.Time) error {
		if !r.Over() {
			r.emitJoinFailed(v.Name, now)
		}
		return nil
	})
	s.logFailure(ctx, "record refused join", err, "room_id", roomID)
}

// emitJoinFailed emits ParticipantJoinFailed. It does not change the room.
func (r *Room) emitJoinFailed(name string, at time.Time) {
	data := r.eventData()
	data.Refusal = &event.JoinRefusal{Name: name, Code: codeRoomFull}
	r.appendEvent(event.ParticipantJoinFailed, at, data)
}
