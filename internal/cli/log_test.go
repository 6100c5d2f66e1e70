package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/config"
)

// writeRecorder records each write to a log as one element.
type writeRecorder struct{ calls []string }

func (w *writeRecorder) Write(p []byte) (int, error) {
	w.calls = append(w.calls, string(p))
	return len(p), nil
}

func TestLogWriter_BatchesLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got writeRecorder
		lines := &logWriter{out: &got}
		log := newLogger(config.Config{LogFormat: config.LogFormatJSON}, lines).With("a", 1).WithGroup("g")
		for range 2 {
			log.Info("one")
			log.Info("two")
			if len(got.calls) != 0 {
				t.Fatalf("before the flush interval: got writes %q, want none", got.calls)
			}
			time.Sleep(logFlushInterval) // of the fake clock
			synctest.Wait()
			if len(got.calls) != 1 || strings.Count(got.calls[0], "\n") != 2 {
				t.Fatalf("after the flush interval: got writes %q, want one with two lines", got.calls)
			}
			got.calls = nil
		}
		log.Info("before")
		log.Warn("at once")
		if len(got.calls) != 1 || !strings.Contains(got.calls[0], "before") ||
			!strings.Contains(got.calls[0], "at once") {
			t.Fatalf("after a warning: got writes %q, want one with both lines", got.calls)
		}
		log.Info("last")
		lines.flush()
		if len(got.calls) != 2 || !strings.Contains(got.calls[1], "last") {
			t.Fatalf("after flush: got writes %q, want a second one", got.calls)
		}
		time.Sleep(time.Hour) // proves that nothing more is written
		synctest.Wait()
		if len(got.calls) != 2 {
			t.Fatalf("an hour later: got writes %q, want no third one", got.calls)
		}
	})
}

// TestLogWriter_BoundedBuffer checks that the buffer stays small under many
// writes.
func TestLogWriter_BoundedBuffer(t *testing.T) {
	var out bytes.Buffer
	lines := &logWriter{out: &out}
	log := slog.New(slog.NewTextHandler(lines, nil))
	for range 1000 {
		log.Info(strings.Repeat("x", 1000))
		if len(lines.pending) >= logBufferSize {
			t.Fatalf("got %d pending bytes, want less than %d", len(lines.pending), logBufferSize)
		}
	}
	lines.flush()
	if n := strings.Count(out.String(), "\n"); n != 1000 {
		t.Errorf("got %d lines, want 1000", n)
	}
}
