package cluster

import (
	"context"
	"sync"

	"parley/internal/counter"
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

func (s *fakeStore) AddCounts(_ context.Context, keys []counter.Key, add []counter.Count) ([]counter.Count, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	out := make([]counter.Count, len(keys))
	for i, c := range keys {
		out[i] = counter.Count{N: s.counts[c].N + add[i].N, Last: add[i].Last}
		s.counts[c] = out[i]
	}
	return out, nil
}
