package media

import (
	"net"
	"sync"
	"time"
)

// signalConns are the signaling connections of this process, by session. The connections
// of a session on another node are relayed. When that node is lost, they stay open for a
// long time although nothing is relayed any more, and pages do not notice.
type signalConns struct {
	mu   sync.Mutex
	open map[string]map[*signalConn]struct{}
}

type signalConn struct {
	conn     net.Conn
	openedAt time.Time
}

// add adds a connection and returns the function that removes it.
func (l *signalConns) add(session string, conn net.Conn) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[string]map[*signalConn]struct{}{}
	}
	if l.open[session] == nil {
		l.open[session] = map[*signalConn]struct{}{}
	}
	opened := &signalConn{conn: conn, openedAt: time.Now()}
	l.open[session][opened] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open[session], opened)
		if len(l.open[session]) == 0 {
			delete(l.open, session)
		}
	}
}

// DropRelayedConnections closes the connections of a session that were opened before the
// given time. Their pages connect again, to the node that hosts the session now.
func (e *Engine) DropRelayedConnections(session string, before time.Time) {
	e.signalConns.mu.Lock()
	defer e.signalConns.mu.Unlock()
	for opened := range e.signalConns.open[session] {
		if opened.openedAt.Before(before) {
			_ = opened.conn.Close()
		}
	}
}
