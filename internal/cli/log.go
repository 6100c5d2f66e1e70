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
	logPause = 10 * time.Millisecond
	logFull  = 64 << 10 // bytes that are written at once
)

func newLogger(c config.Config, w *logWriter) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level()}
	if c.LogFormat == config.LogFormatJSON {
		return slog.New(promptHandler{slog.NewJSONHandler(w, options), w})
	}
	return slog.New(promptHandler{slog.NewTextHandler(w, options), w})
}

// promptHandler writes at once what an operator has to know, and with it all
// that led to it.
type promptHandler struct {
	slog.Handler
	w *logWriter
}

// Handle implements slog.Handler.
func (h promptHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.w.flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h promptHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptHandler{h.Handler.WithAttrs(attrs), h.w}
}

// WithGroup implements slog.Handler.
func (h promptHandler) WithGroup(name string) slog.Handler {
	return promptHandler{h.Handler.WithGroup(name), h.w}
}

// logWriter gathers what is written and passes it on a moment later.
type logWriter struct {
	to io.Writer

	mu      sync.Mutex
	waiting []byte
	timer   *time.Timer // runs while something waits; nil before the first line
}

// Write implements io.Writer. It never fails: nobody could be told.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := len(w.waiting) == 0
	w.waiting = append(w.waiting, line...)
	switch {
	case len(w.waiting) >= logFull:
		w.pass()
	case !first: // the timer runs
	case w.timer == nil:
		w.timer = time.AfterFunc(logPause, w.flush)
	default:
		w.timer.Reset(logPause)
	}
	return len(line), nil
}

// flush writes what waits.
func (w *logWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pass()
}

func (w *logWriter) pass() {
	if len(w.waiting) > 0 {
		_, _ = w.to.Write(w.waiting)
		w.waiting = w.waiting[:0]
	}
}
