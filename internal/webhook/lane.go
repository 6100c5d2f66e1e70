package webhook

import "sync"

// How many attempts are under way at once: to one host of one project, and in
// all. A host that has just failed is tried by one at a time, so that many
// dead ones do not take all there are.
const (
	laneBound = 4
	bound     = 128
)

// lanes counts what is under way in this process.
type lanes struct {
	mu    sync.Mutex
	of    map[string]*lane
	total int
}

type lane struct {
	running int
	failing bool
}

// take takes as many places as there are, at most a bound.
func (l *lanes) take(name string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.of[name]
	if of == nil {
		of = &lane{}
		l.of[name] = of
	}
	n = laneBound - of.running
	if of.failing {
		n = min(n, 1-of.running)
	}
	n = max(0, min(n, bound-l.total))
	of.running += n
	l.total += n
	return n
}

// give gives places back.
func (l *lanes) give(name string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.of[name]
	of.running -= n
	l.total -= n
	if of.running == 0 && !of.failing {
		delete(l.of, name)
	}
}

// note remembers how the last attempt in a lane went.
func (l *lanes) note(name string, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of := l.of[name]; of != nil {
		of.failing = failed
	}
}

// full reports whether others may be waiting for a place.
func (l *lanes) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total >= bound
}

// crowded reports whether a lane has more places taken than it should.
func (l *lanes) crowded(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.of[name]
	return of != nil && of.failing && of.running > 1
}
