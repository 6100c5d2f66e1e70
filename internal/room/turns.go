package room

import "sync"

// turns lets one at a time do something about a room.
type turns struct {
	mu    sync.Mutex
	rooms map[string]*turn
}

type turn struct {
	mu    sync.Mutex
	users int // has it or waits for it
}

// take waits for the turn of a room, and returns what gives it back.
func (t *turns) take(roomID string) (give func()) {
	t.mu.Lock()
	own := t.rooms[roomID]
	if own == nil {
		own = &turn{}
		if t.rooms == nil {
			t.rooms = map[string]*turn{}
		}
		t.rooms[roomID] = own
	}
	own.users++
	t.mu.Unlock()
	own.mu.Lock()
	return func() {
		own.mu.Unlock()
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.rooms, roomID)
		}
	}
}
