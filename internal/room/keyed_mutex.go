package room

import "sync"

// keyedMutex is a mutex for each room. The zero value is ready to use.
type keyedMutex struct {
	mu      sync.Mutex
	entries map[string]*keyedMutexEntry
}

type keyedMutexEntry struct {
	held chan struct{} // has one element while the mutex is locked
	refs int           // holders and waiters
}

// lock locks the mutex of a room and returns a function that unlocks it.
func (m *keyedMutex) lock(roomID string) (unlock func()) {
	m.mu.Lock()
	entry := m.entries[roomID]
	if entry == nil {
		entry = &keyedMutexEntry{held: make(chan struct{}, 1)}
		if m.entries == nil {
			m.entries = map[string]*keyedMutexEntry{}
		}
		m.entries[roomID] = entry
	}
	entry.refs++
	m.mu.Unlock()
	entry.held <- struct{}{}
	return func() {
		<-entry.held
		m.mu.Lock()
		defer m.mu.Unlock()
		if entry.refs--; entry.refs == 0 {
			delete(m.entries, roomID)
		}
	}
}
