package clustertest

import (
	"slices"
	"sync"
	"testing"
)

// Numbers collects the numbers that concurrent calls got from a counter. The zero value
// has none.
type Numbers struct {
	mu  sync.Mutex
	all []int64
}

// Add adds a number.
func (n *Numbers) Add(number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, number)
}

// AssertConsecutive fails the test unless each number from first on was added once.
func (n *Numbers) AssertConsecutive(t testing.TB, first int64) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	slices.Sort(n.all)
	for i, number := range n.all {
		if want := first + int64(i); number != want {
			t.Fatalf("number %d of %d in order: got %d, want %d", i+1, len(n.all), number, want)
		}
	}
}
