package cli

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"parley/internal/config"
	"parley/internal/fault"
)

// Log lines of a busy server share a write, because a write per line costs as much
// as the line itself.
const (
	logFlushInterval = 10 * time.Millisecond // longest delay of a line
	logBufferSize    = 64 << 10              // bytes that are written at once
)

func newLogger(c config.Config, w *logWriter) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level()}
	inner := lineHandler{slog.NewTextHandler(w, options), w, false}
	if c.LogFormat == config.LogFormatJSON {
		inner = lineHandler{slog.NewJSONHandler(w, options), w, true}
	}
	return slog.New(outageHandler{flushOnWarnHandler{inner, w}, &outages{logged: map[string]*outage{}}})
}

const (
	// outageInterval is the time in which an operation that fails because a dependency does not answer has one line
	// for each object and cause.
	outageInterval = 30 * time.Second
	// maxCauses is the number of causes of one outage that have a line each within outageInterval, so that causes that
	// take turns do not fill the log.
	maxCauses = 4
	// maxOutages is the number of operations and objects that outages remembers. Lines of others are all written.
	maxOutages = 1000
)

// outageHandler leaves out most of the lines with which background operations say each second that the database does
// not answer, because they would hide the other lines. A line says how many were left out before it. Another cause is
// logged at once, because it needs another remedy. Lines of the access log do not pass through Handle, and are all
// written.
type outageHandler struct {
	flushOnWarnHandler
	outages *outages
}

// Handle writes a record, unless its operation failed for the same object and with the same cause a moment ago.
func (h outageHandler) Handle(ctx context.Context, r slog.Record) error {
	if operation, cause := failedOperation(r); cause != "" {
		suppressed, log := h.outages.take(operation, cause, r.Time)
		if !log {
			return nil
		}
		if suppressed > 0 {
			r = r.Clone()
			r.AddAttrs(slog.Int("suppressed", suppressed))
		}
	}
	return h.flushOnWarnHandler.Handle(ctx, r)
}

// WithAttrs returns a handler with more attributes that counts together with h.
func (h outageHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

// WithGroup returns a handler with a group that counts together with h.
func (h outageHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}

// failedOperation returns the message of a warning or an error and the object that it names, such as a room, with the
// error of a dependency that does not answer. The cause is empty if there is no such error.
func failedOperation(r slog.Record) (operation, cause string) {
	if r.Level < slog.LevelWarn {
		return "", ""
	}
	operation = r.Message
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); !ok {
			operation += " " + a.String()
		} else if fault.Is(err, fault.Unavailable) {
			cause = wordWithDigit.ReplaceAllString(err.Error(), "#")
		}
		return true
	})
	return operation, cause
}

// wordWithDigit matches an address, a port, a duration or another part of an error that differs between errors with the
// same cause.
var wordWithDigit = regexp.MustCompile(`\S*[0-9]\S*`)

// outages knows when each operation was last logged as failed.
type outages struct {
	mu     sync.Mutex
	logged map[string]*outage
}

type outage struct {
	loggedAt, failedAt time.Time
	suppressed         int      // lines that were left out since the last line
	causes             []string // those that were logged since loggedAt
}

// take reports whether the failure of an operation is logged now, and how many were left out before in the same outage.
func (o *outages) take(operation, cause string, now time.Time) (suppressed int, log bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.logged) >= maxOutages {
		maps.DeleteFunc(o.logged, func(_ string, old *outage) bool { return old.isOver(now) })
	}
	last := o.logged[operation]
	switch {
	case last == nil && len(o.logged) >= maxOutages:
		return 0, true
	case last == nil || last.isOver(now):
		o.logged[operation] = &outage{loggedAt: now, failedAt: now, causes: []string{cause}}
		return 0, true
	}
	last.failedAt = now
	switch isNew := !slices.Contains(last.causes, cause); {
	case now.Sub(last.loggedAt) >= outageInterval:
		last.causes = []string{cause}
		last.loggedAt = now
	case isNew && len(last.causes) < maxCauses:
		last.causes = append(last.causes, cause)
	default:
		last.suppressed++
		return 0, false
	}
	suppressed = last.suppressed
	last.suppressed = 0
	return suppressed, true
}

// isOver reports whether an operation has not failed for so long that its next failure belongs to another outage.
func (o *outage) isOver(now time.Time) bool { return now.Sub(o.failedAt) >= outageInterval }

// flushOnWarnHandler flushes the log at once after a record with level warn or
// higher.
type flushOnWarnHandler struct {
	slog.Handler
	w *logWriter
}

// Handle writes a record.
func (h flushOnWarnHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.w.flush()
	}
	return err
}

// HandleAttrs writes the record with this time, level, message and attributes. Package httpx writes the access log with
// it.
func (h flushOnWarnHandler) HandleAttrs(
	ctx context.Context, at time.Time, level slog.Level, message string, attrs []slog.Attr,
) error {
	lines, ok := h.Handler.(lineHandler)
	if !ok || level >= slog.LevelWarn {
		r := slog.NewRecord(at, level, message, 0)
		r.AddAttrs(attrs...)
		return h.Handle(ctx, r)
	}
	return lines.HandleAttrs(ctx, at, level, message, attrs)
}

// WithAttrs returns a handler with more attributes that also flushes on warnings.
func (h flushOnWarnHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return flushOnWarnHandler{h.Handler.WithAttrs(attrs), h.w}
}

// WithGroup returns a handler with a group that also flushes on warnings.
func (h flushOnWarnHandler) WithGroup(name string) slog.Handler {
	return flushOnWarnHandler{h.Handler.WithGroup(name), h.w}
}

// logWriter buffers lines for at most logFlushInterval.
type logWriter struct {
	out io.Writer

	mu      sync.Mutex
	pending []byte
	timer   *time.Timer // runs while lines are pending; nil before the first line
}

// Write buffers a line. It never fails, because an error could not be logged.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := len(w.pending) == 0
	w.pending = append(w.pending, line...)
	switch {
	case len(w.pending) >= logBufferSize:
		w.flushLocked()
	case !first: // the timer is already running
	case w.timer == nil:
		w.timer = time.AfterFunc(logFlushInterval, w.flush)
	default:
		w.timer.Reset(logFlushInterval)
	}
	return len(line), nil
}

// flush writes the pending lines.
func (w *logWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushLocked()
}

func (w *logWriter) flushLocked() {
	if len(w.pending) > 0 {
		_, _ = w.out.Write(w.pending)
		w.pending = w.pending[:0]
	}
}
