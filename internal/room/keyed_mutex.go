package room

import "sync"

// keyedMutex lets one at a time do something about a room.
type keyedMutex struct {
	mu      sync.Mutex
	entries map[string]*keyedMutexEntry
}

type keyedMutexEntry struct {
	held chan struct{} // holds one, while somebody has it
	refs int           // who has it or waits for it
}

// lock waits for the turn of a room, and returns what gives it back.
func (t *keyedMutex) lock(roomID string) (give func()) {
	t.mu.Lock()
	own := t.entries[roomID]
	if own == nil {
		own = &keyedMutexEntry{held: make(chan struct{}, 1)}
		if t.entries == nil {
			t.entries = map[string]*keyedMutexEntry{}
		}
		t.entries[roomID] = own
	}
	own.refs++
	t.mu.Unlock()
	own.held <- struct{}{}
	return func() {
		<-own.held
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.refs--; own.refs == 0 {
			delete(t.entries, roomID)
		}
	}
}
