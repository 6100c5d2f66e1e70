package media

import (
	"sync"
	"time"
)

// shutDoors remembers whom the host took out. LiveKit forgets a removed
// participant at once, so that without this their token, or the fresh one it
// sent them, would open the door again for as long as it is valid.
//
// It is kept in memory and by the process that was asked to remove: after a
// restart, and through another process of a cluster, only the token's own
// time bounds it.
type shutDoors struct {
	mu      sync.Mutex
	removed map[string]map[string]time.Time // session, identity: when
}

func (s *shutDoors) remove(session, identity string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed == nil {
		s.removed = make(map[string]map[string]time.Time)
	}
	if s.removed[session] == nil {
		s.removed[session] = make(map[string]time.Time)
	}
	s.removed[session][identity] = at
}

func (s *shutDoors) forgive(session, identity string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.removed[session], identity)
}

func (s *shutDoors) forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.removed, session)
}

// refuses reports whether a token issued at the given time is from before
// the removal. Tokens know whole seconds only.
func (s *shutDoors) refuses(session, identity string, issued time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.removed[session][identity]
	return ok && issued.Unix() <= at.Unix()
}
