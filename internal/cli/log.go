package cli

import (
	"context"
	"io"
	"log/slog"
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

// outageInterval is the time in which an operation that fails because a dependency does not answer has one line.
const outageInterval = 30 * time.Second

// outageHandler leaves out most of the lines with which background operations say each second that the database does
// not answer, because they would hide the other lines. A line says how many were left out before it. Lines of the
// access log do not pass through Handle, and are all written.
type outageHandler struct {
	flushOnWarnHandler
	outages *outages
}

// Handle writes a record, unless its operation failed for the same reason a moment ago.
func (h outageHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn && failedUnavailable(r) {
		suppressed, log := h.outages.take(r.Message, r.Time)
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

// failedUnavailable reports whether a record has the error of a dependency that does not answer.
func failedUnavailable(r slog.Record) bool {
	found := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		found = ok && fault.Is(err, fault.Unavailable)
		return !found
	})
	return found
}

// outages knows when each operation was last logged as failed. Its keys are messages, which are constants of the
// program.
type outages struct {
	mu     sync.Mutex
	logged map[string]*outage
}

type outage struct {
	at         time.Time
	suppressed int // lines that were left out since
}

// take reports whether the failure of an operation is logged now, and how many were left out before.
func (o *outages) take(message string, now time.Time) (suppressed int, log bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.logged[message]
	if last != nil && now.Sub(last.at) < outageInterval {
		last.suppressed++
		return 0, false
	}
	if last != nil {
		suppressed = last.suppressed
	}
	o.logged[message] = &outage{at: now}
	return suppressed, true
}

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
