package cli

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"parley/internal/config"
)

// Log lines of a busy server share a write: one for each costs as much as
// the line itself. A line waits that long at most.
const (
	logFlushInterval = 10 * time.Millisecond
	logBufferSize    = 64 << 10 // bytes that are written at once
)

func newLogger(c config.Config, w *logWriter) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level()}
	if c.LogFormat == config.LogFormatJSON {
		return slog.New(flushOnWarnHandler{slog.NewJSONHandler(w, options), w})
	}
	return slog.New(flushOnWarnHandler{slog.NewTextHandler(w, options), w})
}

// flushOnWarnHandler writes at once what an operator has to know, and with it all
// that led to it.
type flushOnWarnHandler struct {
	slog.Handler
	w *logWriter
}

// Handle implements slog.Handler.
func (h flushOnWarnHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.w.flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h flushOnWarnHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return flushOnWarnHandler{h.Handler.WithAttrs(attrs), h.w}
}

// WithGroup implements slog.Handler.
func (h flushOnWarnHandler) WithGroup(name string) slog.Handler {
	return flushOnWarnHandler{h.Handler.WithGroup(name), h.w}
}

// logWriter gathers what is written and passes it on a moment later.
type logWriter struct {
	out io.Writer

	mu      sync.Mutex
	pending []byte
	timer   *time.Timer // runs while something waits; nil before the first line
}

// Write implements io.Writer. It never fails: nobody could be told.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := len(w.pending) == 0
	w.pending = append(w.pending, line...)
	switch {
	case len(w.pending) >= logBufferSize:
		w.flushLocked()
	case !first: // the timer runs
	case w.timer == nil:
		w.timer = time.AfterFunc(logFlushInterval, w.flush)
	default:
		w.timer.Reset(logFlushInterval)
	}
	return len(line), nil
}

// flush writes what waits.
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
