package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/cluster/clustertest"
	"parley/internal/counter"
	"parley/internal/ratelimit"
)

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
	eventually(t, "the node has subscribed", func() bool { return n.cache.isEnabled() && n.Available() })
	return n
}

// countFailures counts how many an address has before it is over its limit.
func countFailures(l *ratelimit.AddressLimiter, address string) (n int) {
	for {
		if over, _ := l.RecordAttempt(netip.MustParseAddr(address)); over {
			return n
		}
		n++
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, description string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen within 10 s: %s", description)
		}
	}
}

func TestPublishChange_ReachesOtherNodes(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	a, b := connectNode(t, server, &fakeStore{}, nil), connectNode(t, server, &fakeStore{}, nil)
	const changes = 20
	began := time.Now()
	for i := range changes {
		a.PublishChange("p1")
		eventually(t, "the other node invalidates p1", func() bool { return b.cache.timesInvalidated("p1") == i+1 })
	}
	if took := time.Since(began) / changes; took > pingInterval/4 {
		t.Errorf("a change takes %v, want at most %v", took, pingInterval/4)
	} else {
		t.Logf("a change takes %v", took)
	}
	b.PublishChange("p2")
	eventually(t, "the first node invalidates p2", func() bool { return a.cache.timesInvalidated("p2") == 1 })
	if n := a.cache.timesInvalidated("p1"); n != 0 {
		t.Errorf("a node received its own change %d times, want 0", n)
	}
}

// A node bypasses its cache while it cannot receive changes, and changes made
// meanwhile are published when Redis is back.
func TestCache_BypassedWithoutRedis(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]struct {
		begin, end func(*clustertest.Redis)
		within     time.Duration
	}{
		"killed": {(*clustertest.Redis).Kill, (*clustertest.Redis).Start, subscriptionTimeout},
		"frozen": {(*clustertest.Redis).Freeze, (*clustertest.Redis).Thaw, 2 * subscriptionTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clustertest.NewRedis(t)
			a, b := connectNode(t, server, &fakeStore{}, nil), connectNode(t, server, &fakeStore{}, nil)
			outage.begin(server)
			began := time.Now()
			for _, n := range []*node{a, b} {
				eventually(t, "the cache is bypassed", func() bool { return !n.cache.isEnabled() && !n.Available() })
			}
			if took := time.Since(began); took > outage.within {
				t.Errorf("noticed after %v, want at most %v", took, outage.within)
			} else {
				t.Logf("noticed after %v", took)
			}
			began = time.Now()
			for range 100 {
				a.PublishChange("p")
			}
			if took := time.Since(began); took > commandTimeout {
				t.Errorf("100 changes took %v while Redis was unavailable, want at most %v", took, commandTimeout)
			}
			outage.end(server)
			for _, n := range []*node{a, b} {
				eventually(t, "the cache is enabled", func() bool { return n.cache.isEnabled() && n.Available() })
			}
			eventually(t, "the other node drops all entries or invalidates p", func() bool {
				if b.cache.timesInvalidated("p") > 0 {
					return true
				}
				b.cache.mu.Lock()
				defer b.cache.mu.Unlock()
				return b.cache.timesEnabled > 1
			})
			eventually(t, "all changes are published", func() bool {
				a.mu.Lock()
				defer a.mu.Unlock()
				return len(a.unpublished) == 0
			})
		})
	}
}

// A change is published later if only the connection for commands was lost.
func TestPublishChange_RetriedAfterOutage(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	a, b := connectNode(t, server, &fakeStore{}, nil), connectNode(t, server, &fakeStore{}, nil)
	a.up.Store(false)
	began := time.Now()
	a.PublishChange("p")
	eventually(t, "the change is published", func() bool { return b.cache.timesInvalidated("p") == 1 })
	if took := time.Since(began); took > 4*pingInterval {
		t.Errorf("published after %v, want at most %v", took, 4*pingInterval)
	}
}

// The cache is dropped from time to time, because a change may be lost with the
// node that made it.
func TestCache_RenewedPeriodically(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	n := connectNode(t, server, &fakeStore{}, func(r *Redis) { r.cacheMaxAge = 2 * pingInterval })
	eventually(t, "the cache is dropped twice", func() bool {
		n.cache.mu.Lock()
		defer n.cache.mu.Unlock()
		return n.cache.timesEnabled >= 3 && n.cache.enabled
	})
}

func TestConnect_Refused(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	wrong := strings.Replace(server.URL(), clustertest.Password, "a-wrong-one", 1)
	for url, want := range map[string]string{
		"redis://u:a-wrong-one@127.0.0.1:1": "no answer from Redis at 127.0.0.1:1: " +
			"dial tcp 127.0.0.1:1: connect: connection refused",
		"redis://u:a-wrong-one@%zz":   "must be a URL such as redis://",
		wrong:                         "no answer from Redis at 127.0.0.1",
		server.URL() + "?unknown=yes": "must be a URL such as redis://",
	} {
		_, err := Connect(t.Context(), url, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "a-wrong-one") {
			t.Errorf("got %v, want %q without the password", err, want)
		}
	}
}

// increment increments a count on a node and returns it.
func (n *node) increment(c counter.Key) (int64, error) {
	k, known := n.counter.Increment(c.Subject, c.Period)
	if known {
		return k, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
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
	var mu sync.Mutex
	var numbers []int64
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
					mu.Lock()
					numbers = append(numbers, number)
					mu.Unlock()
				}
			})
		}
	}
	work.Wait()
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != int64(1001+i) {
			t.Fatalf("the %dth number: got %d, want %d", i+1, n, 1001+i)
		}
	}
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
			eventually(t, "the node notices that Redis is gone", func() bool { return !n.Available() })
			for range 3 {
				began := time.Now()
				if got, err := increment(n); err == nil {
					t.Errorf("got %d without Redis, want an error", got)
				}
				if took := time.Since(began); took > commandTimeout/2 {
					t.Errorf("the error took %v, want at most %v", took, commandTimeout/2)
				}
			}
		}
		if err := a.counter.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.Start()
		for _, n := range []*node{a, b} {
			eventually(t, "Redis is back", n.Available)
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
		eventually(t, "both nodes have sent their totals", idle)
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

func (s *slowStore) AddCounts(
	ctx context.Context, keys []counter.Key, add []counter.Count,
) ([]counter.Count, error) {
	counts, err := s.fakeStore.AddCounts(ctx, keys, add)
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
	saved := func() int64 {
		db.mu.Lock()
		defer db.mu.Unlock()
		return db.counts[c].N
	}
	reads := func() int {
		db.mu.Lock()
		defer db.mu.Unlock()
		return db.reads
	}
	var work sync.WaitGroup
	work.Go(func() {
		if err := n.counter.Flush(context.Background()); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the flush saves the calls", func() bool { return saved() == 3 })
	if err := n.client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	work.Go(func() {
		if got, err := n.increment(c); err != nil || got != 4 {
			t.Errorf("got %d, %v, want 4", got, err)
		}
	})
	eventually(t, "the count is read from the database", func() bool { return reads() == 2 })
	eventually(t, "the count is in Redis", func() bool { return n.client.Exists(t.Context(), redisKey(c)).Val() == 1 })
	close(db.release)
	work.Wait()
}

// A Redis that keeps its connections and answers nothing delays only the first
// call.
func TestCounter_RedisFrozen(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	n := connectNode(t, server, &fakeStore{counts: map[counter.Key]counter.Count{}}, nil)
	c := counter.Key{Subject: "org", Period: "day"}
	if got, err := n.increment(c); err != nil || got != 1 {
		t.Fatalf("got %d, %v, want 1", got, err)
	}
	server.Freeze()
	for i, limit := range []time.Duration{2 * commandTimeout, commandTimeout / 2, commandTimeout / 2} {
		began := time.Now()
		if got, err := n.increment(c); err == nil {
			t.Errorf("call %d: got %d from a frozen Redis, want an error", i, got)
		}
		if took := time.Since(began); took > limit {
			t.Errorf("call %d took %v, want at most %v", i, took, limit)
		}
	}
	server.Thaw()
	calls := int64(4)
	eventually(t, "the node counts again", func() bool {
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
	if db.reads != 1 {
		t.Errorf("a database that is down was read %d times, want 1", db.reads)
	}
	db.mu.Lock()
	db.err = nil
	db.mu.Unlock()
	calls := int64(5)
	eventually(t, "the node counts again and includes the calls during the outage", func() bool {
		calls++
		got, err := n.increment(c)
		return err == nil && got == 7+calls
	})
}

// Several nodes share one limit, except for the calls between two exchanges.
func TestLimiter_AcrossNodes(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	var limiters []*ratelimit.Limiter
	for range 2 {
		connectNode(t, server, &fakeStore{}, func(redis *Redis) {
			// At one call a second the test earns next to nothing beside the burst.
			exchange := NewRateExchange(redis, "test", time.Now)
			l := ratelimit.NewBurstAddressLimiter(60, 100*time.Second, time.Now, exchange)
			limiters = append(limiters, l.Limiter)
		})
	}
	allowed := 0
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		refused := 0
		for _, r := range limiters {
			if ok, retryAfter := r.Allow("caller"); ok {
				allowed++
			} else if refused++; retryAfter <= 0 {
				t.Fatalf("got retry after %v, want more than 0", retryAfter)
			}
		}
		if refused == len(limiters) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no limit after %d calls", allowed)
		}
	}
	if allowed < 100 || allowed > 140 {
		t.Errorf("two nodes allowed %d calls, want 100 to 140", allowed)
	}
	if ok, _ := limiters[0].Allow("another"); !ok {
		t.Error("another caller is refused")
	}
	server.Kill()
	for _, r := range limiters {
		alone := 0
		for ok := true; ok; alone++ {
			ok, _ = r.Allow("a third")
		}
		if alone < 100 || alone > 105 {
			t.Errorf("one node without Redis allowed %d calls, want 100 to 105", alone)
		}
	}
}

func TestAddressLimiter_AcrossNodes(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	var limiters []*ratelimit.AddressLimiter
	for range 2 {
		connectNode(t, server, &fakeStore{}, func(redis *Redis) {
			exchange := NewRateExchange(redis, "test", time.Now)
			limiters = append(limiters, ratelimit.NewAddressLimiter(60, time.Now, exchange))
		})
	}
	address := netip.MustParseAddr("192.0.2.1")
	countFailures(limiters[0], "192.0.2.1")
	eventually(t, "the other node refuses the address", func() bool {
		over, _ := limiters[1].RecordAttempt(address)
		return over
	})
	if n := countFailures(limiters[1], "192.0.2.2"); n < 59 || n > 61 {
		t.Errorf("another address: got %d failures, want 59 to 61", n)
	}
}
