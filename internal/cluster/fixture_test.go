package cluster

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"parley/internal/cluster/clustertest"
	"parley/internal/counter"
	"parley/internal/testkit"
)

// fakeStore is a database of counts that fails with err unless that is nil.
type fakeStore struct {
	mu     sync.Mutex
	counts map[counter.Key]counter.Count
	err    error
	reads  int
}

func (s *fakeStore) LoadCount(_ context.Context, c counter.Key) (counter.Count, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return s.counts[c], s.err
}

func (s *fakeStore) AddCounts(_ context.Context, b counter.Batch) ([]counter.Count, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	out := make([]counter.Count, len(b.Keys))
	for i, c := range b.Keys {
		out[i] = counter.Count{N: s.counts[c].N + b.Add[i].N, Last: b.Add[i].Last}
		s.counts[c] = out[i]
	}
	return out, nil
}

func (s *fakeStore) saved(c counter.Key) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[c].N
}

func (s *fakeStore) timesRead() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// fakeCache records the calls of a node.
type fakeCache struct {
	mu           sync.Mutex
	invalidated  []string
	enabled      bool
	timesEnabled int
}

func (m *fakeCache) Invalidate(projectID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invalidated = append(m.invalidated, projectID)
}

func (m *fakeCache) BypassCache() { m.setEnabled(false) }
func (m *fakeCache) EnableCache() { m.setEnabled(true) }

func (m *fakeCache) setEnabled(enabled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enabled = enabled
	if enabled {
		m.timesEnabled++
	}
}

func (m *fakeCache) isEnabled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.enabled
}

func (m *fakeCache) timesInvalidated(projectID string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, id := range m.invalidated {
		if id == projectID {
			n++
		}
	}
	return n
}

// node is the parts of a process that use Redis.
type node struct {
	*Redis
	cache   *fakeCache
	counter *Counter
}

// connectNode connects a node and runs it. setUp is called before Run.
func connectNode(t *testing.T, server *clustertest.Redis, store counter.Store, setUp func(*Redis)) *node {
	t.Helper()
	r, err := Connect(t.Context(), server.URL(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	n := &node{Redis: r, cache: &fakeCache{}, counter: NewCounter(store, r, time.Now)}
	if setUp != nil {
		setUp(r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { r.Run(ctx, n.cache); close(done) }()
	t.Cleanup(func() {
		cancel()
		<-done
		_ = r.Close()
	})
	testkit.Eventually(t, "the node has subscribed", func() bool { return n.cache.isEnabled() && n.Available() })
	return n
}
