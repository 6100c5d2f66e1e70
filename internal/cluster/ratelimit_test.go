package cluster

import (
	"net/netip"
	"testing"
	"time"

	"parley/internal/cluster/clustertest"
	"parley/internal/ratelimit"
	"parley/internal/testkit"
)

// countFailures counts how many an address has before it is over its limit.
func countFailures(l *ratelimit.AddressLimiter, address string) (n int) {
	for {
		if over, _ := l.RecordAttempt(netip.MustParseAddr(address)); over {
			return n
		}
		n++
	}
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
	// The pause paces the calls, so that the nodes exchange their counts in between.
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
	testkit.Eventually(t, "the other node refuses the address", func() bool {
		over, _ := limiters[1].RecordAttempt(address)
		return over
	})
	if n := countFailures(limiters[1], "192.0.2.2"); n < 59 || n > 61 {
		t.Errorf("another address: got %d failures, want 59 to 61", n)
	}
}
