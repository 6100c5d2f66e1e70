// Package testkit provides helpers for tests that start servers and wait for them: polling
// for a condition, free ports, a proxy, a buffer for logs, and child processes.
package testkit

import (
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Timeout is how long Eventually waits for a condition. It is long, because a busy machine must not
// fail a test; benchmarks measure what must be quick.
const Timeout = time.Minute

// Slow skips a test that needs more than a few seconds, unless all tests run (`make test-all`).
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs more than a few seconds: make test-all runs it")
	}
}

// pollInterval is the time between two checks of a condition.
const pollInterval = 5 * time.Millisecond

// Eventually waits until ok reports true, and fails the test after Timeout. The description
// of the condition is part of the failure message.
func Eventually(t testing.TB, condition string, ok func() bool) {
	t.Helper()
	EventuallyWithin(t, Timeout, condition, ok)
}

// EventuallyWithin waits until ok reports true, and fails the test after the timeout.
func EventuallyWithin(t testing.TB, timeout time.Duration, condition string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(timeout); !ok(); time.Sleep(pollInterval) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out after %s waiting for: %s", timeout, condition)
		}
	}
}

// WithinOne waits until the next time of a length is within one hour or one day of UTC, the period. It is for tests of
// figures that count by hour or by day.
func WithinOne(t testing.TB, period, length time.Duration) {
	t.Helper()
	now := time.Now()
	if end := now.Truncate(period).Add(period); end.Sub(now) < length {
		t.Logf("wait for %s", end.UTC().Format(time.TimeOnly))
		time.Sleep(time.Until(end))
	}
}

// FreeTCPPort returns a TCP port of the loopback address that was free a moment ago. It is
// for programs that cannot report the port that they chose.
func FreeTCPPort(t testing.TB) int {
	t.Helper()
	port, err := PickTCPPort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// FreeUDPPort returns a UDP port of the loopback address that was free a moment ago.
func FreeUDPPort(t testing.TB) int {
	t.Helper()
	port, err := PickUDPPort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// PickTCPPort is FreeTCPPort for programs that are not tests.
func PickTCPPort() (int, error) {
	return pickPort(func(port int) (io.Closer, error) {
		return net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	})
}

// PickUDPPort is FreeUDPPort for programs that are not tests.
func PickUDPPort() (int, error) {
	return pickPort(func(port int) (io.Closer, error) {
		return net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	})
}

// pickPort returns a port on which open succeeds. The system gives none of these ports to sockets
// that ask for any port, so a port stays free until it is used, and while its server restarts.
func pickPort(open func(port int) (io.Closer, error)) (port int, err error) {
	const first, last = 20_000, 31_999
	for range 100 {
		port = first + rand.IntN(last-first+1)
		var c io.Closer
		if c, err = open(port); err == nil {
			return port, c.Close()
		}
	}
	return 0, err
}

// Buffer collects text, such as the log of a server. Its methods may be called from any
// goroutine. The zero value is an empty buffer.
type Buffer struct {
	mu   sync.Mutex
	text []byte
}

// Write appends p to the buffer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

// String returns the whole text.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// Tail returns the last n bytes of the text.
func (b *Buffer) Tail(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text[max(0, len(b.text)-n):])
}

// Len returns the length of the text in bytes.
func (b *Buffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.text)
}

// HasLine reports whether a line of the text contains all the parts.
func (b *Buffer) HasLine(parts ...string) bool {
	for line := range strings.Lines(b.String()) {
		missing := func(part string) bool { return !strings.Contains(line, part) }
		if !slices.ContainsFunc(parts, missing) {
			return true
		}
	}
	return false
}

// Measured logs how long something took that people wait for. `make bench` sets GOALS, and then a time above its goal
// fails the test. Otherwise it has no such limit, because a busy machine must not fail it.
func Measured(t testing.TB, what string, took, goal time.Duration) {
	t.Helper()
	t.Logf("%s: %s (goal %s)", what, took.Round(time.Millisecond), goal)
	if os.Getenv("GOALS") != "" && took > goal {
		t.Errorf("%s: got %s, want at most %s", what, took, goal)
	}
}

// ReadFiles returns the content of all files that match one of the patterns, which filepath.Glob describes. Only a
// pattern that ends with _test.go matches files of tests. It fails the test if a pattern matches no file.
func ReadFiles(t testing.TB, patterns ...string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("got the files %v, %v, want some at %s", files, err, pattern)
		}
		for _, file := range files {
			if strings.HasSuffix(pattern, "_test.go") != strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}
