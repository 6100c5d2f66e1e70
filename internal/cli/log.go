package cli

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"parley/internal/config"
)

// Log lines of a busy server share a write, because a write per line costs as much
// as the line itself.
const (
	logFlushInterval = 10 * time.Millisecond // longest delay of a line
	logBufferSize    = 64 << 10              // bytes that are written at once
)

func newLogger(c config.Config, w *logWriter) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level()}
	if c.LogFormat == config.LogFormatJSON {
		return slog.New(flushOnWarnHandler{lineHandler{slog.NewJSONHandler(w, options), w, true}, w})
	}
	return slog.New(flushOnWarnHandler{lineHandler{slog.NewTextHandler(w, options), w, false}, w})
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
