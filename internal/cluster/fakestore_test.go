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

func (l *fakeStore) LoadCount(_ context.Context, c counter.Key) (counter.Count, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	return l.counts[c], l.err
}

func (l *fakeStore) AddCounts(_ context.Context, counted []counter.Key, add []counter.Count) ([]counter.Count, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	out := make([]counter.Count, len(counted))
	for i, c := range counted {
		out[i] = counter.Count{N: l.counts[c].N + add[i].N, Last: add[i].Last}
		l.counts[c] = out[i]
	}
	return out, nil
}
