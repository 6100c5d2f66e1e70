package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"

	"parley/internal/cluster/clustertest"
	"parley/internal/counter"
	"parley/internal/testkit"
)

// increment increments a count on a node and returns it.
func (n *node) increment(c counter.Key) (int64, error) {
	k, known := n.counter.Increment(c.Subject, c.Period)
	if known {
		return k, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Timeout)
	defer cancel()
	return n.counter.AwaitCount(ctx, c.Subject, c.Period, k)
}

// Each call gets its own number on any node.
func TestCounter_Exact(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	c := counter.Key{Subject: "org", Period: "2026-11-21"}
	db := &fakeStore{counts: map[counter.Key]counter.Count{c: {N: 1000}}}
	var nodes []*node
	for range 3 {
		nodes = append(nodes, connectNode(t, server, db, nil))
	}
	var numbers clustertest.Numbers
	var work sync.WaitGroup
	for _, n := range nodes {
		for range 4 {
			work.Go(func() {
				for i := range 100 {
					number, err := n.increment(c)
					if err != nil {
						t.Error(err)
						return
					}
					if i%20 == 0 {
						if err := n.counter.Flush(context.Background()); err != nil {
							t.Error(err)
						}
					}
					numbers.Add(number)
				}
			})
		}
	}
	work.Wait()
	numbers.AssertConsecutive(t, 1001)
}

// The count is exact after Redis has lost all its data several times while calls
// were counted and saved.
func TestCounter_RedisDataLost(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	c := counter.Key{Subject: "org", Period: "2026-11-21"}
	db := &fakeStore{counts: map[counter.Key]counter.Count{}}
	a, b := connectNode(t, server, db, nil), connectNode(t, server, db, nil)
	total := int64(0)
	increment := func(n *node) (int64, error) { total++; return n.increment(c) }
	for round := range 4 {
		for _, n := range []*node{a, b, a} {
			if got, err := increment(n); err != nil || got != total {
				t.Fatalf("round %d: got %d, %v, want %d", round, got, err, total)
			}
		}
		if round%2 == 0 { // in odd rounds the database lacks the latest calls
			if err := b.counter.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		server.Kill()
		for _, n := range []*node{a, b} {
			testkit.Eventually(t, "the node notices that Redis is gone", func() bool { return !n.Available() })
			for range 3 {
				if got, err := increment(n); err == nil {
					t.Errorf("got %d without Redis, want an error", got)
				}
			}
		}
		if err := a.counter.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.Start()
		for _, n := range []*node{a, b} {
			testkit.Eventually(t, "Redis is back", n.Available)
		}
		idle := func() bool {
			for _, n := range []*node{a, b} {
				s := n.counter.clusterCount(c)
				s.mu.Lock()
				running := s.running
				s.mu.Unlock()
				if running {
					return false
				}
			}
			return true
		}
		testkit.Eventually(t, "both nodes have sent their totals", idle)
	}
	for _, n := range []*node{b, a} {
		if got, err := increment(n); err != nil || got != total {
			t.Errorf("got %d, %v, want %d", got, err, total)
		}
	}
	err := errors.Join(a.counter.Flush(t.Context()), b.counter.Flush(t.Context()))
	if err != nil || db.counts[c].N != total {
		t.Errorf("saved %d, %v, want %d", db.counts[c].N, err, total)
	}
}

// slowStore saves counts and returns from AddCounts when release is closed.
type slowStore struct {
	*fakeStore
	release chan struct{}
}

func (s *slowStore) AddCounts(ctx context.Context, b counter.Batch) ([]counter.Count, error) {
	counts, err := s.fakeStore.AddCounts(ctx, b)
	<-s.release
	return counts, err
}

// A count that is created again during a flush counts no call twice.
func TestCounter_RedisDataLostDuringFlush(t *testing.T) {
	t.Parallel()
	c := counter.Key{Subject: "org", Period: "day"}
	db := &slowStore{&fakeStore{counts: map[counter.Key]counter.Count{}}, make(chan struct{})}
	n := connectNode(t, clustertest.NewRedis(t), db, nil)
	for range 3 {
		if _, err := n.increment(c); err != nil {
			t.Fatal(err)
		}
	}
	var work sync.WaitGroup
	work.Go(func() {
		if err := n.counter.Flush(context.Background()); err != nil {
			t.Error(err)
		}
	})
	testkit.Eventually(t, "the flush saves the calls", func() bool { return db.saved(c) == 3 })
	if err := n.client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	work.Go(func() {
		if got, err := n.increment(c); err != nil || got != 4 {
			t.Errorf("got %d, %v, want 4", got, err)
		}
	})
	testkit.Eventually(t, "the count is read from the database", func() bool { return db.timesRead() == 2 })
	testkit.Eventually(t, "the count is in Redis", func() bool {
		return n.client.Exists(t.Context(), redisKey(c)).Val() == 1
	})
	close(db.release)
	work.Wait()
}

// A Redis that keeps its connections and answers nothing fails every call until it
// is back.
func TestCounter_RedisFrozen(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	n := connectNode(t, server, &fakeStore{counts: map[counter.Key]counter.Count{}}, nil)
	c := counter.Key{Subject: "org", Period: "day"}
	if got, err := n.increment(c); err != nil || got != 1 {
		t.Fatalf("got %d, %v, want 1", got, err)
	}
	server.Freeze()
	for i := range 3 {
		if got, err := n.increment(c); err == nil {
			t.Errorf("call %d: got %d from a frozen Redis, want an error", i, got)
		}
	}
	server.Thaw()
	calls := int64(4)
	testkit.Eventually(t, "the node counts again", func() bool {
		calls++
		got, err := n.increment(c)
		return err == nil && got == calls
	})
}

// AwaitCount fails if neither Redis nor the database has the count, and the
// database is not read again for each call.
func TestCounter_DatabaseUnavailable(t *testing.T) {
	t.Parallel()
	c := counter.Key{Subject: "org", Period: "day"}
	db := &fakeStore{counts: map[counter.Key]counter.Count{c: {N: 7}}, err: errors.New("the database is down")}
	n := connectNode(t, clustertest.NewRedis(t), db, nil)
	for range 5 {
		if got, err := n.increment(c); err == nil {
			t.Errorf("got %d without the database, want an error", got)
		}
	}
	if n := db.timesRead(); n != 1 {
		t.Errorf("a database that is down was read %d times, want 1", n)
	}
	db.mu.Lock()
	db.err = nil
	db.mu.Unlock()
	calls := int64(5)
	testkit.Eventually(t, "the node counts again and includes the calls during the outage", func() bool {
		calls++
		got, err := n.increment(c)
		return err == nil && got == 7+calls
	})
}
