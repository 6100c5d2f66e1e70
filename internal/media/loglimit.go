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
	// maxLines is how many lines with the same text are logged in each window.
	maxLines   = 20
	lineWindow = 10 * time.Second
	// maxTexts bounds the texts that are told apart; the rest count as one.
	maxTexts = 500
)

// lineLimit bounds how often the engine logs the same text, because most of
// these lines are about what a participant sent.
type lineLimit struct {
	mu    sync.Mutex
	texts map[string]*lineCount
}

type lineCount struct {
	since              time.Time
	logged, suppressed int
}

// take reports whether a line may be logged, and how many with the same text
// were left out in the window before.
func (l *lineLimit) take(text string, now time.Time) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.texts == nil {
		l.texts = map[string]*lineCount{}
	}
	c := l.texts[text]
	if c == nil {
		if len(l.texts) >= maxTexts {
			text = ""
			c = l.texts[text]
		}
		if c == nil {
			c = &lineCount{since: now}
			l.texts[text] = c
		}
	}
	if now.Sub(c.since) >= lineWindow {
		suppressed = c.suppressed
		*c = lineCount{since: now}
	}
	if c.logged == maxLines {
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
