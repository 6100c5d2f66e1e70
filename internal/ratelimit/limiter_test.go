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
	spend := func(caller string) (n int) {
		for {
			if ok, _ := r.Allow(caller); !ok {
				return n
			}
			n++
		}
	}
	if n := spend("a"); n != 200 {
		t.Errorf("a burst is %d", n)
	}
	if ok, after := r.Allow("a"); ok || after != 10*time.Millisecond {
		t.Errorf("%v %v", ok, after)
	}
	if n := spend("b"); n != 200 {
		t.Errorf("another caller has a budget of their own: %d", n)
	}
	now = now.Add(time.Second)
	if n := spend("a"); n != 100 {
		t.Errorf("after a second: %d", n)
	}
	now = now.Add(time.Hour)
	if n := spend("a"); n != 200 {
		t.Errorf("after an hour: %d", n)
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
		t.Errorf("%d callers", len(r.buckets))
	}
}

func BenchmarkLimiter(b *testing.B) {
	r := New(100, time.Now, nil)
	b.ReportAllocs()
	for b.Loop() {
		r.Allow("0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10")
	}
}
