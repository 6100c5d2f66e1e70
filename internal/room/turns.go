package room

import "sync"

// turns lets one at a time do something about a room.
type turns struct {
	mu    sync.Mutex
	rooms map[string]*turn
}

type turn struct {
	taken chan struct{} // holds one, while somebody has it
	users int           // who has it or waits for it
}

// take waits for the turn of a room, and returns what gives it back.
func (t *turns) take(roomID string) (give func()) {
	t.mu.Lock()
	own := t.rooms[roomID]
	if own == nil {
		own = &turn{taken: make(chan struct{}, 1)}
		if t.rooms == nil {
			t.rooms = map[string]*turn{}
		}
		t.rooms[roomID] = own
	}
	own.users++
	t.mu.Unlock()
	own.taken <- struct{}{}
	return func() {
		<-own.taken
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.rooms, roomID)
		}
	}
}
