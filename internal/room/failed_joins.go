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
	// failedJoinInterval is the time in which the failed joins of one browser are
	// recorded once.
	failedJoinInterval = time.Minute
	// maxFailedJoins is the maximum number of failed joins recorded per room in that
	// time.
	maxFailedJoins = 60
)

// failedJoins limits the recorded failures, so that pages that try again and again
// do not fill a room's event log.
type failedJoins struct {
	mu     sync.Mutex
	byRoom map[string]logged
}

// logged maps the hash of a browser's seat key to the time when its failure was
// recorded.
type logged map[string]time.Time

// shouldRecord reports whether a failed join must be recorded, and counts it if so.
func (l *failedJoins) shouldRecord(roomID, keyHash string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, times := range l.byRoom {
		maps.DeleteFunc(times, func(_ string, at time.Time) bool { return now.Sub(at) >= failedJoinInterval })
		if len(times) == 0 {
			delete(l.byRoom, id)
		}
	}
	times := l.byRoom[roomID]
	if times == nil {
		times = logged{}
		l.byRoom[roomID] = times
	}
	if _, known := times[keyHash]; known || len(times) >= maxFailedJoins {
		return false
	}
	times[keyHash] = now
	return true
}

// logRoomFull emits ParticipantJoinFailed for a visitor who found no free seat. A
// failure is only logged, because the visitor's response does not depend on it.
func (s *Joining) logRoomFull(ctx context.Context, roomID string, v JoinRequest) {
	if !s.failedJoins.shouldRecord(roomID, seal.Hash(v.SeatKey), s.now()) {
		return
	}
	err := s.updateRoom(ctx, roomID, func(_ context.Context, r *Room, now time.Time) error {
		if !r.Over() {
			r.emitJoinFailed(v.Name, now)
		}
		return nil
	})
	s.logFailure(ctx, "record failed join", err, "room_id", roomID)
}

// emitJoinFailed emits ParticipantJoinFailed. It does not change the room.
func (r *Room) emitJoinFailed(name string, at time.Time) {
	data := r.eventData()
	data.FailedJoin = &event.FailedJoin{Name: name, Code: codeRoomFull}
	r.appendEvent(event.ParticipantJoinFailed, at, data)
}
