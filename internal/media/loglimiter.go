package media

import (
	"strings"
	"sync"
	"time"
)

const (
	// maxLogValue bounds one value of a line of the engine, in bytes: LiveKit
	// logs whole session descriptions and packets of participants.
	maxLogValue = 1 << 10
	// maxLogLines is how many lines with the same text are logged in each window.
	maxLogLines = 20
	logWindow   = 10 * time.Second
	// maxLogMessages bounds the texts that are told apart; the rest count as one.
	maxLogMessages = 500
)

// logLimiter bounds how often the engine logs the same text, because most of
// these lines are about what a participant sent.
type logLimiter struct {
	mu       sync.Mutex
	messages map[string]*logCount
}

type logCount struct {
	since              time.Time
	logged, suppressed int
}

// allow reports whether a line may be logged, and how many with the same text
// were left out in the window before.
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

// truncate returns text, cut to maxLogValue bytes.
func truncate(text string) string {
	if len(text) <= maxLogValue {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogValue], "") + "…"
}
