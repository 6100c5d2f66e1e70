package cluster

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"parley/internal/cluster/clustertest"
	"parley/internal/testkit"
)

func TestPublishChange_ReachesOtherNodes(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	a, b := connectNode(t, server, &fakeStore{}, nil), connectNode(t, server, &fakeStore{}, nil)
	const changes = 20
	began := time.Now()
	for i := range changes {
		a.PublishChange("p1")
		testkit.Eventually(t, "the other node invalidates p1", func() bool { return b.cache.timesInvalidated("p1") == i+1 })
	}
	t.Logf("a change takes %v", time.Since(began)/changes)
	b.PublishChange("p2")
	testkit.Eventually(t, "the first node invalidates p2", func() bool { return a.cache.timesInvalidated("p2") == 1 })
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
	}{
		"killed": {(*clustertest.Redis).Kill, (*clustertest.Redis).Start},
		"frozen": {(*clustertest.Redis).Freeze, (*clustertest.Redis).Thaw},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clustertest.NewRedis(t)
			a, b := connectNode(t, server, &fakeStore{}, nil), connectNode(t, server, &fakeStore{}, nil)
			outage.begin(server)
			began := time.Now()
			for _, n := range []*node{a, b} {
				testkit.Eventually(t, "the cache is bypassed", func() bool { return !n.cache.isEnabled() && !n.Available() })
			}
			t.Logf("noticed after %v", time.Since(began))
			for range 100 {
				a.PublishChange("p")
			}
			outage.end(server)
			for _, n := range []*node{a, b} {
				testkit.Eventually(t, "the cache is enabled", func() bool { return n.cache.isEnabled() && n.Available() })
			}
			testkit.Eventually(t, "the other node drops all entries or invalidates p", func() bool {
				if b.cache.timesInvalidated("p") > 0 {
					return true
				}
				b.cache.mu.Lock()
				defer b.cache.mu.Unlock()
				return b.cache.timesEnabled > 1
			})
			testkit.Eventually(t, "all changes are published", func() bool {
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
	a.PublishChange("p")
	testkit.Eventually(t, "the change is published", func() bool { return b.cache.timesInvalidated("p") == 1 })
}

// The cache is dropped from time to time, because a change may be lost with the
// node that made it.
func TestCache_RenewedPeriodically(t *testing.T) {
	t.Parallel()
	server := clustertest.NewRedis(t)
	n := connectNode(t, server, &fakeStore{}, func(r *Redis) { r.cacheMaxAge = 2 * pingInterval })
	testkit.Eventually(t, "the cache is dropped twice", func() bool {
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
