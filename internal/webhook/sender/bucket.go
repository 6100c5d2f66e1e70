package sender

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// The limits of concurrent attempts: for one host of one project, for one project, and in
// total. A host whose last attempt failed gets one attempt at a time. A project gets new slots
// only while it has at most half of those that other projects do not use, so that its
// unreachable hosts delay only its own deliveries.
const (
	maxPerBucket  = 4
	maxPerProject = 16
	maxInFlight   = 128
)

// buckets counts the attempts in flight in this process.
type buckets struct {
	mu        sync.Mutex
	byName    map[string]*bucket
	byProject map[string]int // attempts in flight, without projects that have none
	total     int
	checkedAt time.Time // when forgetOld last looked
}

type bucket struct {
	running  int
	failedAt time.Time // of the last attempt, zero if it succeeded
}

func (b *bucket) failing() bool { return !b.failedAt.IsZero() }

// failureMemory is how long a bucket without attempts counts as failing. After it, a host that
// is still down gets four attempts once.
const failureMemory = time.Hour

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
	if b.failing() {
		n = min(n, 1-b.running)
	}
	project := projectOf(name)
	own, free := l.byProject[project], maxInFlight-l.total
	share := min(maxPerProject, (own+free+1)/2)
	n = max(0, min(n, share-own, free))
	b.running += n
	l.add(project, n)
	return n
}

// add adds n attempts in flight of a project.
func (l *buckets) add(project string, n int) {
	l.total += n
	if l.byProject[project] += n; l.byProject[project] == 0 {
		delete(l.byProject, project)
	}
}

// projectOf returns the project of a bucket.
func projectOf(name string) string {
	project, _, _ := strings.Cut(name, " ")
	return project
}

// inTurn sorts buckets so that each project has one before any has its second.
func inTurn(names []string) {
	place := map[string]int{} // of a bucket among those of its project
	count := map[string]int{}
	for _, name := range names {
		project := projectOf(name)
		place[name] = count[project]
		count[project]++
	}
	slices.SortStableFunc(names, func(a, b string) int { return place[a] - place[b] })
}

// release frees n slots of a bucket.
func (l *buckets) release(name string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.byName[name]
	b.running -= n
	l.add(projectOf(name), -n)
	if b.running == 0 && !b.failing() {
		delete(l.byName, name)
	}
}

// recordSuccess stores that the last attempt of a bucket succeeded.
func (l *buckets) recordSuccess(name string) { l.recordFailure(name, time.Time{}) }

// recordFailure stores when the last attempt of a bucket failed.
func (l *buckets) recordFailure(name string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.byName[name]; b != nil {
		b.failedAt = at
	}
}

// forgetOld forgets buckets that failed long ago, so that their number is bounded. It looks once
// a minute.
func (l *buckets) forgetOld(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.checkedAt) < time.Minute {
		return
	}
	l.checkedAt = now
	maps.DeleteFunc(l.byName, func(_ string, b *bucket) bool {
		return b.running == 0 && now.Sub(b.failedAt) > failureMemory
	})
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
	return b != nil && b.failing() && b.running > 1
}
