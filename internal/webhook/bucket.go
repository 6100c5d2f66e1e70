package webhook

import "sync"

// How many attempts are under way at once: to one host of one project, and in
// all. A host that has just failed is tried by one at a time, so that many
// dead ones do not take all there are.
const (
	maxPerBucket = 4
	maxInFlight  = 128
)

// buckets counts what is under way in this process.
type buckets struct {
	mu     sync.Mutex
	byName map[string]*bucket
	total  int
}

type bucket struct {
	running int
	failing bool
}

// acquire takes as many places as there are, at most a bound.
func (l *buckets) acquire(name string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.byName[name]
	if of == nil {
		of = &bucket{}
		l.byName[name] = of
	}
	n = maxPerBucket - of.running
	if of.failing {
		n = min(n, 1-of.running)
	}
	n = max(0, min(n, maxInFlight-l.total))
	of.running += n
	l.total += n
	return n
}

// release gives places back.
func (l *buckets) release(name string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.byName[name]
	of.running -= n
	l.total -= n
	if of.running == 0 && !of.failing {
		delete(l.byName, name)
	}
}

// recordResult remembers how the last attempt in a lane went.
func (l *buckets) recordResult(name string, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of := l.byName[name]; of != nil {
		of.failing = failed
	}
}

// full reports whether others may be waiting for a place.
func (l *buckets) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total >= maxInFlight
}

// overLimit reports whether a lane has more places taken than it should.
func (l *buckets) overLimit(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.byName[name]
	return of != nil && of.failing && of.running > 1
}
