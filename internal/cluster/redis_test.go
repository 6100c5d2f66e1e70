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

// fakeCache notes what a node is told.
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

func (m *fakeCache) setEnabled(trusted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enabled = trusted
	if trusted {
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

// node is a process as far as this package knows one.
type node struct {
	*Redis
	cache   *fakeCache
	counter *Counter
}

// connectNode connects a node; setUp may use its Redis before it runs.
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
	eventually(t, "the node listens", func() bool { return n.cache.isEnabled() && n.Available() })
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

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came true: %s", what)
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
		eventually(t, "the other node has forgotten", func() bool { return b.cache.timesInvalidated("p1") == i+1 })
	}
	if took := time.Since(began) / changes; took > pingInterval/4 {
		t.Errorf("a change takes %v: it waited to be told", took)
	} else {
		t.Logf("a change takes %v", took)
	}
	b.PublishChange("p2")
	eventually(t, "the other way round", func() bool { return a.cache.timesInvalidated("p2") == 1 })
	if n := a.cache.timesInvalidated("p1"); n != 0 {
		t.Errorf("a node was told of its own change %d times", n)
	}
}

// While a node cannot hear of changes it trusts nothing that it holds, and what
// could not be told is told as soon as it can be.
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
				eventually(t, "it distrusts", func() bool { return !n.cache.isEnabled() && !n.Available() })
			}
			if took := time.Since(began); took > outage.within {
				t.Errorf("noticed after %v", took)
			} else {
				t.Logf("noticed after %v", took)
			}
			began = time.Now()
			for range 100 {
				a.PublishChange("p")
			}
			if took := time.Since(began); took > commandTimeout {
				t.Errorf("100 changes waited %v for a Redis that is known to be gone", took)
			}
			outage.end(server)
			for _, n := range []*node{a, b} {
				eventually(t, "it trusts again", func() bool { return n.cache.isEnabled() && n.Available() })
			}
			eventually(t, "the other node has forgotten everything, or was told", func() bool {
				if b.cache.timesInvalidated("p") > 0 {
					return true
				}
				b.cache.mu.Lock()
				defer b.cache.mu.Unlock()
				return b.cache.timesEnabled > 1
			})
			eventually(t, "nothing waits", func() bool { a.mu.Lock(); defer a.mu.Unlock(); return len(a.unpublished) == 0 })
		})
	}
}

// A node that alone has lost its commands tells its change when they are back.
func TestPublishChange_RetriedAfterOutage(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	a, b := connectNode(t, server, &fakeStore{}, nil), connectNode(t, server, &fakeStore{}, nil)
	a.up.Store(false)
	began := time.Now()
	a.PublishChange("p")
	eventually(t, "it is told", func() bool { return b.cache.timesInvalidated("p") == 1 })
	if took := time.Since(began); took > 4*pingInterval {
		t.Errorf("told after %v", took)
	}
}

// No memory is believed for ever: word of a change may be lost with its node.
func TestCache_RenewedPeriodically(t *testing.T) {
	t.Parallel()
	n := connectNode(t, clustertest.NewRedis(t), &fakeStore{}, func(r *Redis) { r.cacheMaxAge = 2 * pingInterval })
	eventually(t, "memory is begun anew", func() bool {
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
		"redis://u:a-wrong-one@127.0.0.1:1": "no answer from Redis at 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused",
		"redis://u:a-wrong-one@%zz":         "must be a URL such as redis://",
		wrong:                               "no answer from Redis at 127.0.0.1",
		server.URL() + "?unknown=yes":       "must be a URL such as redis://",
	} {
		_, err := Connect(t.Context(), url, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "a-wrong-one") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// increment counts on a node and returns the number.
func (n *node) increment(c counter.Key) (int64, error) {
	k, known := n.counter.Increment(c.Subject, c.Period)
	if known {
		return k, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return n.counter.AwaitCount(ctx, c.Subject, c.Period, k)
}

// Every call has a number of its own, on whatever node it is made.
func TestCounter_Exact(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	c := counter.Key{Subject: "org", Period: "2026-11-21"}
	db := &fakeStore{counts: map[counter.Key]counter.Count{c: {N: 1000}}}
	nodes := []*node{connectNode(t, server, db, nil), connectNode(t, server, db, nil), connectNode(t, server, db, nil)}
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
			t.Fatalf("number %d is %d", i, n)
		}
	}
}

// Redis forgets everything, again and again, while calls go on and are
// written: afterwards the count is right.
func TestCounter_RedisDataLost(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	c := counter.Key{Subject: "org", Period: "2026-11-21"}
	db := &fakeStore{counts: map[counter.Key]counter.Count{}}
	a, b := connectNode(t, server, db, nil), connectNode(t, server, db, nil)
	total := int64(0)
	ask := func(n *node) (int64, error) { total++; return n.increment(c) }
	for round := range 4 {
		for _, n := range []*node{a, b, a} {
			if got, err := ask(n); err != nil || got != total {
				t.Fatalf("round %d: %d %v, want %d", round, got, err, total)
			}
		}
		if round%2 == 0 { // or what is written is behind
			if err := b.counter.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		server.Kill()
		for _, n := range []*node{a, b} {
			eventually(t, "Redis is missed", func() bool { return !n.Available() })
			for range 3 {
				began := time.Now()
				if got, err := ask(n); err == nil {
					t.Errorf("%d without Redis", got)
				}
				if took := time.Since(began); took > commandTimeout/2 {
					t.Errorf("it took %v to say so", took)
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
		settled := func() bool {
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
		eventually(t, "both have told what they counted", settled)
	}
	for _, n := range []*node{b, a} {
		if got, err := ask(n); err != nil || got != total {
			t.Errorf("%d %v, want %d", got, err, total)
		}
	}
	if err := errors.Join(a.counter.Flush(t.Context()), b.counter.Flush(t.Context())); err != nil || db.counts[c].N != total {
		t.Errorf("%v: %d are kept, want %d", err, db.counts[c].N, total)
	}
}

// slowStore holds back the news that counts were written.
type slowStore struct {
	*fakeStore
	hold chan struct{}
}

// AddCounts implements counter.Store.
func (l *slowStore) AddCounts(ctx context.Context, counted []counter.Key, add []counter.Count) ([]counter.Count, error) {
	out, err := l.fakeStore.AddCounts(ctx, counted, add)
	<-l.hold
	return out, err
}

// A count that begins anew while calls are being written counts none twice.
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
	looks := func() (int64, int) {
		db.mu.Lock()
		defer db.mu.Unlock()
		return db.counts[c].N, db.reads
	}
	var work sync.WaitGroup
	work.Go(func() {
		if err := n.counter.Flush(context.Background()); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "it is written", func() bool { written, _ := looks(); return written == 3 })
	if err := n.client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	work.Go(func() {
		if got, err := n.increment(c); err != nil || got != 4 {
			t.Errorf("%d %v, want 4", got, err)
		}
	})
	eventually(t, "the count begins with what was written", func() bool { _, reads := looks(); return reads == 2 })
	eventually(t, "Redis has it", func() bool { return n.client.Exists(t.Context(), redisKey(c)).Val() == 1 })
	close(db.hold)
	work.Wait()
}

// A Redis that keeps its connections and answers nothing holds up the call that
// finds out, and no other.
func TestCounter_RedisFrozen(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	n := connectNode(t, server, &fakeStore{counts: map[counter.Key]counter.Count{}}, nil)
	c := counter.Key{Subject: "org", Period: "day"}
	if got, err := n.increment(c); err != nil || got != 1 {
		t.Fatal(got, err)
	}
	server.Freeze()
	for i, bound := range []time.Duration{2 * commandTimeout, commandTimeout / 2, commandTimeout / 2} {
		began := time.Now()
		if got, err := n.increment(c); err == nil {
			t.Errorf("%d from a silent Redis", got)
		}
		if took := time.Since(began); took > bound {
			t.Errorf("call %d waited %v", i, took)
		}
	}
	server.Thaw()
	calls := int64(4)
	eventually(t, "the count goes on", func() bool {
		calls++
		got, err := n.increment(c)
		return err == nil && got == calls
	})
}

// With neither Redis' count nor the database's there is no number, and nobody
// asks the database again for each call.
func TestCounter_DatabaseUnavailable(t *testing.T) {
	t.Parallel()
	c := counter.Key{Subject: "org", Period: "day"}
	db := &fakeStore{counts: map[counter.Key]counter.Count{c: {N: 7}}, err: errors.New("gone")}
	n := connectNode(t, clustertest.NewRedis(t), db, nil)
	for range 5 {
		if got, err := n.increment(c); err == nil {
			t.Errorf("%d", got)
		}
	}
	if db.reads != 1 {
		t.Errorf("a database that is gone was asked %d times", db.reads)
	}
	db.mu.Lock()
	db.err = nil
	db.mu.Unlock()
	calls := int64(5)
	eventually(t, "the count goes on, with what was counted meanwhile", func() bool {
		calls++
		got, err := n.increment(c)
		return err == nil && got == 7+calls
	})
}

// Several nodes are one bound, but for what fits between two exchanges.
func TestLimiter_AcrossNodes(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	var rates []*ratelimit.Limiter
	for range 2 {
		connectNode(t, server, &fakeStore{}, func(redis *Redis) {
			// At one call a second the test earns next to nothing beside the burst.
			l := ratelimit.NewBurstAddressLimiter(60, 100*time.Second, time.Now, NewRateExchange(redis, "test", time.Now))
			rates = append(rates, l.Limiter)
		})
	}
	allowed := 0
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		refused := 0
		for _, r := range rates {
			if ok, after := r.Allow("caller"); ok {
				allowed++
			} else if refused++; after <= 0 {
				t.Fatalf("again after %v", after)
			}
		}
		if refused == len(rates) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is never too much")
		}
	}
	if allowed < 100 || allowed > 140 {
		t.Errorf("%d calls on two nodes, of 100", allowed)
	}
	if ok, _ := rates[0].Allow("another"); !ok {
		t.Error("another caller has a budget of their own")
	}
	server.Kill()
	for _, r := range rates {
		alone := 0
		for ok := true; ok; alone++ {
			ok, _ = r.Allow("a third")
		}
		if alone < 100 || alone > 105 {
			t.Errorf("%d calls on one node without Redis", alone)
		}
	}
}

func TestAddressLimiter_AcrossNodes(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	var limiters []*ratelimit.AddressLimiter
	for range 2 {
		connectNode(t, server, &fakeStore{}, func(redis *Redis) {
			limiters = append(limiters, ratelimit.NewAddressLimiter(60, time.Now, NewRateExchange(redis, "test", time.Now)))
		})
	}
	address := netip.MustParseAddr("192.0.2.1")
	countFailures(limiters[0], "192.0.2.1")
	eventually(t, "the other node knows", func() bool { over, _ := limiters[1].RecordAttempt(address); return over })
	if n := countFailures(limiters[1], "192.0.2.2"); n < 59 || n > 61 {
		t.Errorf("another address has %d", n)
	}
}
