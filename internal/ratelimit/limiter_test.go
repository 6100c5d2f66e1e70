package ratelimit

import (
	"strconv"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	r := New(100, func() time.Time { return now }, nil)
	countCalls := func(caller string) (n int) {
		for {
			if ok, _ := r.Allow(caller); !ok {
				return n
			}
			n++
		}
	}
	if n := countCalls("a"); n != 200 {
		t.Errorf("got a burst of %d calls, want 200", n)
	}
	if ok, after := r.Allow("a"); ok || after != 10*time.Millisecond {
		t.Errorf("after the burst: got %v, retry after %v, want false, 10ms", ok, after)
	}
	if n := countCalls("b"); n != 200 {
		t.Errorf("another caller: got a burst of %d calls, want 200", n)
	}
	now = now.Add(time.Second)
	if n := countCalls("a"); n != 100 {
		t.Errorf("after a second: got %d calls, want 100", n)
	}
	now = now.Add(time.Hour)
	if n := countCalls("a"); n != 200 {
		t.Errorf("after an hour: got %d calls, want 200", n)
	}
}

func TestLimiter_BoundedMemory(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	r := New(1, func() time.Time { return now }, nil)
	for i := range maxBuckets + 10 {
		if i == maxBuckets/2 {
			now = now.Add(time.Minute)
		}
		r.Allow(strconv.Itoa(i))
	}
	if len(r.buckets) > maxBuckets {
		t.Errorf("got %d buckets, want at most %d", len(r.buckets), maxBuckets)
	}
}

func BenchmarkLimiter(b *testing.B) {
	r := New(100, time.Now, nil)
	b.ReportAllocs()
	for b.Loop() {
		r.Allow("0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10")
	}
}
