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
				t.Fatalf("written at once: %q", got.calls)
			}
			time.Sleep(logFlushInterval)
			synctest.Wait()
			if len(got.calls) != 1 || strings.Count(got.calls[0], "\n") != 2 {
				t.Fatalf("after a pause: %q", got.calls)
			}
			got.calls = nil
		}
		log.Info("before")
		log.Warn("at once")
		if len(got.calls) != 1 || !strings.Contains(got.calls[0], "before") ||
			!strings.Contains(got.calls[0], "at once") {
			t.Fatalf("a warning waited: %q", got.calls)
		}
		log.Info("last")
		lines.flush()
		if len(got.calls) != 2 || !strings.Contains(got.calls[1], "last") {
			t.Fatalf("flushed: %q", got.calls)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(got.calls) != 2 {
			t.Fatalf("nothing waited: %q", got.calls)
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
			t.Fatalf("%d bytes wait", len(lines.pending))
		}
	}
	lines.flush()
	if n := strings.Count(out.String(), "\n"); n != 1000 {
		t.Errorf("%d lines", n)
	}
}
