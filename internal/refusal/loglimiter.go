package refusal

import (
	"sync"
	"time"
)

// LogLimiter limits the log lines of each key to a maximum in ten seconds. Its methods may be
// called from any goroutine.
type LogLimiter[K comparable] struct {
	maxLines, maxKeys int

	mu      sync.Mutex
	windows map[K]*logWindow
}

// NewLogLimiter returns a LogLimiter that allows maxLines lines of each key in ten seconds.
// After maxKeys keys, all further keys share the limit of the zero value of K, so that the
// memory is bounded.
func NewLogLimiter[K comparable](maxLines, maxKeys int) *LogLimiter[K] {
	return &LogLimiter[K]{maxLines: maxLines, maxKeys: maxKeys, windows: map[K]*logWindow{}}
}

// Allow reports whether a line of the key may be logged, and how many lines of the key were
// suppressed in the previous window.
func (l *LogLimiter[K]) Allow(key K, now time.Time) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.windowOf(key, now)
	if now.Sub(w.since) >= window {
		suppressed = w.suppressed
		*w = logWindow{since: now}
	}
	if w.logged == l.maxLines {
		w.suppressed++
		return 0, false
	}
	w.logged++
	return suppressed, true
}

func (l *LogLimiter[K]) windowOf(key K, now time.Time) *logWindow {
	w := l.windows[key]
	if w == nil && len(l.windows) >= l.maxKeys {
		var shared K
		key = shared
		w = l.windows[key]
	}
	if w == nil {
		w = &logWindow{since: now}
		l.windows[key] = w
	}
	return w
}
