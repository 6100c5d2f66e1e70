package ratelimit

import (
	"strconv"
	"testing"
	"time"
	"unsafe"
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

// TestLimiter_ClockSetBack checks that setting the wall clock back does not limit a caller.
func TestLimiter_ClockSetBack(t *testing.T) {
	t.Parallel()
	back := false
	r := New(1, func() time.Time {
		now := time.Now()
		if back {
			// The wall clock of a time with a monotonic reading: 33 bits of seconds above 30 bits of nanoseconds.
			*(*uint64)(unsafe.Pointer(&now)) -= uint64(time.Hour/time.Second) << 30
		}
		return now
	}, nil)
	began := time.Now()
	ok, _ := r.Allow("a")
	back = true
	if set := r.now(); began.Unix()-set.Unix() < 3500 || set.Sub(began) < 0 {
		t.Fatalf("got %v after %v, want the wall clock an hour earlier and the monotonic one later", set, began)
	}
	if after, wait := r.Allow("a"); !ok || !after {
		t.Errorf("before and after: got %t, %t, wait %v, want true, true", ok, after, wait)
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
