package supervise

import (
	"slices"
	"testing"
	"time"
)

func TestCrashes_BackoffAndReset(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	var c crashes
	var delays []time.Duration
	var loops []bool
	for _, ran := range []time.Duration{time.Hour, time.Second, 0, quietPeriod - 1, 0, 0, 0, 0, quietPeriod, 0} {
		delays = append(delays, c.record(now, ran))
		loops = append(loops, c.isLoop())
	}
	const ms = time.Millisecond
	want := []time.Duration{0, 250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 5000 * ms, 5000 * ms, 0, 250 * ms}
	if !slices.Equal(delays, want) {
		t.Errorf("delays %v, want %v", delays, want)
	}
	if want := []bool{false, false, true, true, true, true, true, true, false, false}; !slices.Equal(loops, want) {
		t.Errorf("crash loop %v, want %v", loops, want)
	}
	if c.Restarts != 10 {
		t.Errorf("%d restarts, want 10", c.Restarts)
	}
}

func TestService_CrashLoopEndsAfterQuietPeriod(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	s := &Service{crashes: crashes{Restarts: 5, InARow: crashLoopThreshold, LastAt: now}}
	if !s.CrashLoop(now.Add(quietPeriod - 1)) {
		t.Error("got no crash loop before the end of the quiet period")
	}
	if s.CrashLoop(now.Add(quietPeriod)) {
		t.Error("got a crash loop after the quiet period")
	}
	s.crashes.InARow = crashLoopThreshold - 1
	if s.CrashLoop(now) {
		t.Error("got a crash loop after two crashes")
	}
	if s = nil; s.CrashLoop(now) || s.Restarts() != 0 || !s.CrashedAt().IsZero() {
		t.Error("a nil Service has crashes, want none")
	}
}
