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

// writes is what came to a log, one element for each write.
type writes struct{ each []string }

func (w *writes) Write(p []byte) (int, error) {
	w.each = append(w.each, string(p))
	return len(p), nil
}

func TestLogLinesShareAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got writes
		lines := &logWriter{to: &got}
		log := newLogger(config.Config{LogFormat: config.LogFormatJSON}, lines).With("a", 1).WithGroup("g")
		for range 2 {
			log.Info("one")
			log.Info("two")
			if len(got.each) != 0 {
				t.Fatalf("written at once: %q", got.each)
			}
			time.Sleep(logPause)
			synctest.Wait()
			if len(got.each) != 1 || strings.Count(got.each[0], "\n") != 2 {
				t.Fatalf("after a pause: %q", got.each)
			}
			got.each = nil
		}
		log.Info("before")
		log.Warn("at once")
		if len(got.each) != 1 || !strings.Contains(got.each[0], "before") || !strings.Contains(got.each[0], "at once") {
			t.Fatalf("a warning waited: %q", got.each)
		}
		log.Info("last")
		lines.flush()
		if len(got.each) != 2 || !strings.Contains(got.each[1], "last") {
			t.Fatalf("flushed: %q", got.each)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(got.each) != 2 {
			t.Fatalf("nothing waited: %q", got.each)
		}
	})
}

// However much is written in a moment, little of it is held.
func TestLogHoldsLittle(t *testing.T) {
	var out bytes.Buffer
	lines := &logWriter{to: &out}
	log := slog.New(slog.NewTextHandler(lines, nil))
	for range 1000 {
		log.Info(strings.Repeat("x", 1000))
		if len(lines.waiting) >= logFull {
			t.Fatalf("%d bytes wait", len(lines.waiting))
		}
	}
	lines.flush()
	if n := strings.Count(out.String(), "\n"); n != 1000 {
		t.Errorf("%d lines", n)
	}
}
