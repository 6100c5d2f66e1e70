package media

import (
	"net"
	"sync"
	"time"
)

// lines are the signalling connections of this process, by session. Those of
// a session on another node are relayed, and stay open for long after that
// node was lost: nothing comes through any more, and their pages do not know.
type lines struct {
	mu   sync.Mutex
	open map[string]map[*line]struct{}
}

type line struct {
	conn  net.Conn
	since time.Time
}

// add notes a line and returns what forgets it.
func (l *lines) add(session string, conn net.Conn) (forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[string]map[*line]struct{}{}
	}
	if l.open[session] == nil {
		l.open[session] = map[*line]struct{}{}
	}
	n := &line{conn: conn, since: time.Now()}
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

// HangUp drops the lines to a session that were opened before a moment. Their
// pages connect anew, to where the session lives now.
func (e *Engine) HangUp(session string, before time.Time) {
	e.lines.mu.Lock()
	defer e.lines.mu.Unlock()
	for n := range e.lines.open[session] {
		if n.since.Before(before) {
			_ = n.conn.Close()
		}
	}
}
