package refusal

import (
	"log/slog"
	"time"
)

const (
	// maxLogLines is how many lines of one kind are logged in each window.
	maxLogLines = 10
	window      = 10 * time.Second
)

// Recorder counts refusals and logs them, at most ten lines of a kind in ten
// seconds. The first line of the next window has the number of suppressed lines.
type Recorder struct {
	log *slog.Logger
	now func() time.Time

	lines *LogLimiter[Kind]
}

// logWindow counts the lines of one kind in the current window.
type logWindow struct {
	since      time.Time
	logged     int
	suppressed int
}

// NewRecorder returns a Recorder that logs to log.
func NewRecorder(log *slog.Logger, now func() time.Time) *Recorder {
	return &Recorder{log: log, now: now, lines: NewLogLimiter[Kind](maxLogLines, int(kindCount))}
}

// Record counts one refusal and logs it with its reason and the attributes,
// unless the kind has used up its lines. The attributes must not contain secrets
// or names; the caller truncates long values.
func (r *Recorder) Record(kind Kind, reason string, attributes ...any) {
	Count(kind)
	suppressed, ok := r.allowLine(kind)
	if !ok {
		return
	}
	all := append([]any{"kind", kind.String(), "reason", reason}, attributes...)
	if suppressed > 0 {
		all = append(all, "suppressed", suppressed)
	}
	r.log.Warn("refused", all...)
}

// allowLine reports whether another line of a kind may be logged, and how many
// lines were suppressed before it.
func (r *Recorder) allowLine(kind Kind) (suppressed int, ok bool) {
	return r.lines.Allow(kind, r.now())
}
