package sender

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// However many hosts of however many projects hang, a further project gets slots, and no
// project has more than its share.
func TestBuckets_ShareOfProject(t *testing.T) {
	t.Parallel()
	l := buckets{byName: map[string]*bucket{}, byProject: map[string]int{}}
	for project := range 8 {
		own := 0
		for host := range 400 {
			own += l.acquire(fmt.Sprintf("p%d host%d", project, host))
		}
		if own == 0 || own > maxPerProject {
			t.Errorf("project %d with 400 hosts: got %d slots, want 1 to %d", project, own, maxPerProject)
		}
	}
	if n := l.acquire("honest example.org"); n == 0 || l.total > maxInFlight {
		t.Errorf("a further project: got %d slots of %d in use, want at least 1 of %d", n, l.total, maxInFlight)
	}
	for host := range 400 {
		name := fmt.Sprintf("p0 host%d", host)
		l.release(name, l.byName[name].running)
	}
	if l.byProject["p0"] != 0 || l.acquire("p0 host1") == 0 {
		t.Errorf("after the release: got %d slots in use by the project, want none and new ones", l.byProject["p0"])
	}
}

// A host that fails is remembered only for a while after its last attempt.
func TestBuckets_Forget(t *testing.T) {
	t.Parallel()
	l := buckets{byName: map[string]*bucket{}, byProject: map[string]int{}}
	now := time.Now()
	for host := range 1000 {
		name := fmt.Sprintf("p%d host", host)
		n := l.acquire(name)
		l.recordFailure(name, now)
		l.release(name, n)
	}
	l.forgetOld(now)
	if len(l.byName) != 1000 {
		t.Errorf("right after the failures: got %d hosts, want all 1000", len(l.byName))
	}
	l.forgetOld(now.Add(failureMemory + time.Minute))
	if len(l.byName) != 0 {
		t.Errorf("later: got %d hosts, want none", len(l.byName))
	}
}

func TestInTurn(t *testing.T) {
	t.Parallel()
	names := []string{"a 1", "a 2", "a 3", "b 1", "c 1", "b 2"}
	inTurn(names)
	if want := []string{"a 1", "b 1", "c 1", "a 2", "b 2", "a 3"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}
