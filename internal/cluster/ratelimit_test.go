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

// onTwoNodes returns the limiters of two nodes that exchange their counts.
func onTwoNodes[L any](t *testing.T, server *clustertest.Redis, newLimiter func(*RateExchange) L) (limiters []L) {
	t.Helper()
	for range 2 {
		connectNode(t, server, &fakeStore{}, func(redis *Redis) {
			limiters = append(limiters, newLimiter(NewRateExchange(redis, "test", time.Now)))
		})
	}
	return limiters
}

// Several nodes share one limit, except for the calls between two exchanges.
func TestLimiter_AcrossNodes(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	limiters := onTwoNodes(t, server, func(exchange *RateExchange) *ratelimit.Limiter {
		// At one call a second the test earns next to nothing beside the burst.
		return ratelimit.NewBurstAddressLimiter(60, 100*time.Second, time.Now, exchange).Limiter
	})
	allowed := 0
	// Eventually paces the calls, so that the nodes exchange their counts in between.
	testkit.Eventually(t, "all nodes refuse the caller", func() bool {
		refused := 0
		for _, l := range limiters {
			if ok, retryAfter := l.Allow("caller"); ok {
				allowed++
			} else if refused++; retryAfter <= 0 {
				t.Fatalf("got retry after %v, want more than 0", retryAfter)
			}
		}
		return refused == len(limiters)
	})
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
	limiters := onTwoNodes(t, clustertest.NewRedis(t), func(exchange *RateExchange) *ratelimit.AddressLimiter {
		return ratelimit.NewAddressLimiter(60, time.Now, exchange)
	})
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
