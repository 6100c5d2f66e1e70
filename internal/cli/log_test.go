package cli

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/config"
	"parley/internal/fault"
)

// writeRecorder records each write to a log as one element. It has a lock because the timer of a logWriter writes on
// its own goroutine.
type writeRecorder struct {
	mu    sync.Mutex
	calls []string
}

func (w *writeRecorder) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, string(p))
	return len(p), nil
}

// take returns the writes since the last call.
func (w *writeRecorder) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

func TestLogWriter_BatchesLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got writeRecorder
		lines := &logWriter{out: &got}
		log := newLogger(config.Config{LogFormat: config.LogFormatJSON}, lines).With("a", 1).WithGroup("g")
		for range 2 {
			log.Info("one")
			log.Info("two")
			if writes := got.take(); len(writes) != 0 {
				t.Fatalf("before the flush interval: got writes %q, want none", writes)
			}
			time.Sleep(logFlushInterval) // of the fake clock
			synctest.Wait()
			if writes := got.take(); len(writes) != 1 || strings.Count(writes[0], "\n") != 2 {
				t.Fatalf("after the flush interval: got writes %q, want one with two lines", writes)
			}
		}
		log.Info("before")
		log.Warn("at once")
		if writes := got.take(); len(writes) != 1 || !strings.Contains(writes[0], "before") ||
			!strings.Contains(writes[0], "at once") {
			t.Fatalf("after a warning: got writes %q, want one with both lines", writes)
		}
		log.Info("last")
		lines.flush()
		if writes := got.take(); len(writes) != 1 || !strings.Contains(writes[0], "last") {
			t.Fatalf("after flush: got writes %q, want one with the last line", writes)
		}
		time.Sleep(time.Hour) // proves that nothing more is written
		synctest.Wait()
		if writes := got.take(); len(writes) != 0 {
			t.Fatalf("an hour later: got writes %q, want no more", writes)
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
		lines.mu.Lock() // the timer may flush at the same time
		pending := len(lines.pending)
		lines.mu.Unlock()
		if pending >= logBufferSize {
			t.Fatalf("got %d pending bytes, want less than %d", pending, logBufferSize)
		}
	}
	lines.flush()
	if n := strings.Count(out.String(), "\n"); n != 1000 {
		t.Errorf("got %d lines, want 1000", n)
	}
}

// Another cause of an outage has a line at once, and causes that take turns are limited.
func TestLogger_OutageChangesCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		lines := &logWriter{out: &out}
		log := newLogger(config.Config{}, lines)
		fail := func(cause string, args ...any) string {
			out.Reset()
			log.Warn("list rooms failed", "error", &fault.Error{Kind: fault.Unavailable,
				Message: "the database does not answer", Err: fmt.Errorf(cause, args...)})
			lines.flush()
			time.Sleep(time.Second) // of the fake clock
			return out.String()
		}
		const refused, password = "dial tcp %s: connection refused after %s", "password authentication failed"
		if got := fail(refused, "127.0.0.1:5432", "1ms"); got == "" {
			t.Error("the first failure: got no line, want one")
		}
		for _, address := range []string{"127.0.0.2:5433", "[2001:db8::1]:5432", "db.example.org:5432"} {
			if got := fail(refused, address, "1.5s"); got != "" {
				t.Errorf("the same cause at %s: got %s, want no line", address, got)
			}
		}
		if got := fail(password); !strings.Contains(got, password) || !strings.Contains(got, "suppressed=3") {
			t.Errorf("another cause: got %s, want a line with suppressed=3", got)
		}
		if got := fail(password) + fail(refused, "127.0.0.1:5432", "1ms"); got != "" {
			t.Errorf("both causes again: got %s, want no line", got)
		}
		written := 0
		for i := range 23 { // until 30 seconds after the first failure
			if fail("cause %s", strings.Repeat("x", i)) != "" {
				written++
			}
		}
		if written != 2 {
			t.Errorf("23 other causes: got %d lines, want 2, because 4 causes have lines in 30 seconds", written)
		}
	})
}

// In a long outage, each operation has a line every 30 seconds, which says how many were left out.
func TestLogger_OutageHasFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		lines := &logWriter{out: &out}
		log := newLogger(config.Config{}, lines)
		down := &fault.Error{Kind: fault.Unavailable, Message: "the database does not answer"}
		for i := range 61 { // seconds
			log.Warn("list rooms failed", "error", down)
			log.With("node", 1).Warn("list sessions failed", "error", fmt.Errorf("wrapped: %w", down))
			log.Error("close session failed", "error", errors.New("another reason"))
			log.Warn("update room failed", "room_id", i%2, "error", down)
			time.Sleep(time.Second) // of the fake clock
		}
		lines.flush()
		for message, want := range map[string]int{
			"list rooms failed": 3, "list sessions failed": 3, "close session failed": 61,
			"room_id=0": 3, "room_id=1": 2, // each room has lines of its own
		} {
			if got := strings.Count(out.String(), message); got != want {
				t.Errorf("%s: got %d lines in 61 seconds, want %d", message, got, want)
			}
		}
		if got := strings.Count(out.String(), "suppressed=29"); got != 4 {
			t.Errorf("got %d lines with suppressed=29, want two of each operation: %s", got, out.String())
		}
		out.Reset()
		time.Sleep(time.Hour)
		log.Warn("list rooms failed", "error", down)
		log.Warn("list rooms failed", "error", down)
		lines.flush()
		if got := out.String(); strings.Count(got, "list rooms failed") != 1 || strings.Contains(got, "suppressed") {
			t.Errorf("the next outage: got %s, want one line without a number of lines that were left out", got)
		}
	})
}
