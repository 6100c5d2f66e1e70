package media

import (
	"net"
	"sync"
	"time"
)

// signalConns are the signalling connections of this process, by session. Those of
// a session on another node are relayed, and stay open for long after that
// node was lost: nothing comes through any more, and their pages do not know.
type signalConns struct {
	mu   sync.Mutex
	open map[string]map[*signalConn]struct{}
}

type signalConn struct {
	conn     net.Conn
	openedAt time.Time
}

// add notes a line and returns what forgets it.
func (l *signalConns) add(session string, conn net.Conn) (forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[string]map[*signalConn]struct{}{}
	}
	if l.open[session] == nil {
		l.open[session] = map[*signalConn]struct{}{}
	}
	n := &signalConn{conn: conn, openedAt: time.Now()}
	l.open[session][n] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open[session], n)
		if len(l.open[session]) == 0 {
			delete(l.open, session)
		}
	}
}

// DropRelayedConnections drops the lines to a session that were opened before a moment. Their
// pages connect anew, to where the session lives now.
func (e *Engine) DropRelayedConnections(session string, before time.Time) {
	e.signalConns.mu.Lock()
	defer e.signalConns.mu.Unlock()
	for n := range e.signalConns.open[session] {
		if n.openedAt.Before(before) {
			_ = n.conn.Close()
		}
	}
}
