package sender

import "sync"

// The limits of concurrent attempts: for one host of one project, and in total.
// A host whose last attempt failed gets one attempt at a time, so that many
// unreachable hosts cannot use up all slots.
const (
	maxPerBucket = 4
	maxInFlight  = 128
)

// buckets counts the attempts in flight in this process.
type buckets struct {
	mu     sync.Mutex
	byName map[string]*bucket
	total  int
}

type bucket struct {
	running int
	failing bool
}

// acquire takes all free slots of a bucket and returns their number, which may
// be 0.
func (l *buckets) acquire(name string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.byName[name]
	if b == nil {
		b = &bucket{}
		l.byName[name] = b
	}
	n = maxPerBucket - b.running
	if b.failing {
		n = min(n, 1-b.running)
	}
	n = max(0, min(n, maxInFlight-l.total))
	b.running += n
	l.total += n
	return n
}

// release frees n slots of a bucket.
func (l *buckets) release(name string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.byName[name]
	b.running -= n
	l.total -= n
	if b.running == 0 && !b.failing {
		delete(l.byName, name)
	}
}

// recordResult stores whether the last attempt of a bucket failed.
func (l *buckets) recordResult(name string, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.byName[name]; b != nil {
		b.failing = failed
	}
}

// full reports whether all slots of the process are taken.
func (l *buckets) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total >= maxInFlight
}

// overLimit reports whether a failing bucket uses more than its one slot.
func (l *buckets) overLimit(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.byName[name]
	return b != nil && b.failing && b.running > 1
}
