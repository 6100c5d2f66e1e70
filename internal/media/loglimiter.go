package media

import (
	"strings"
	"sync"
	"time"
)

const (
	// maxLogValue is the maximum length of one value in a log line, in bytes, because
	// LiveKit logs whole session descriptions and packets of participants.
	maxLogValue = 1 << 10
	// maxLogLines is the maximum number of lines with the same text in each window.
	maxLogLines = 20
	logWindow   = 10 * time.Second
	// maxLogMessages is the maximum number of texts with a limit of their own; all
	// further texts share one limit.
	maxLogMessages = 500
)

// logLimiter limits how often the engine logs the same text, because participants cause
// most of these lines.
type logLimiter struct {
	mu       sync.Mutex
	messages map[string]*logCount
}

type logCount struct {
	since              time.Time
	logged, suppressed int
}

// allow reports whether a line may be logged, and how many lines with the same text were
// suppressed in the previous window.
func (l *logLimiter) allow(text string, now time.Time) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.messages == nil {
		l.messages = map[string]*logCount{}
	}
	c := l.messages[text]
	if c == nil {
		if len(l.messages) >= maxLogMessages {
			text = ""
			c = l.messages[text]
		}
		if c == nil {
			c = &logCount{since: now}
			l.messages[text] = c
		}
	}
	if now.Sub(c.since) >= logWindow {
		suppressed = c.suppressed
		*c = logCount{since: now}
	}
	if c.logged == maxLogLines {
		c.suppressed++
		return 0, false
	}
	c.logged++
	return suppressed, true
}

// truncate returns the first maxLogValue bytes of text, with "…" if it is longer.
func truncate(text string) string {
	if len(text) <= maxLogValue {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogValue], "") + "…"
}
