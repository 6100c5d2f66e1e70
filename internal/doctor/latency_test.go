package doctor

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/cluster/clustertest"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// A database and a Redis that are far away are found, and not found at an address that is near.
func TestLatency_FarAway(t *testing.T) {
	database, near := storetest.Postgres(t), clustertest.NewRedis(t).URL()
	cfg := newConfig(t)
	for _, c := range []struct {
		check check
		id    string
		url   string
		set   func(url seal.Secret)
	}{
		{checkDatabase, "database_slow", database, func(url seal.Secret) { cfg.DatabaseURL = url }},
		{checkRedis, "redis_slow", near, func(url seal.Secret) { cfg.RedisURL = url }},
	} {
		c.set(delayed(t, c.url, func([]byte) time.Duration { return maxLatency }))
		if f := c.check.findings(t, cfg)[c.id]; f.Level != Warning {
			t.Errorf("far away: got the finding %+v, want the warning %s", f, c.id)
		}
		c.set(seal.Secret(c.url))
		if found := c.check.findings(t, cfg); len(found) > 0 {
			t.Errorf("near: got the findings %v, want none", found)
		}
	}
}

// A database and a Redis whose first response takes long are not found, because the machine was busy for a moment.
func TestLatency_Stall(t *testing.T) {
	database, near := storetest.Postgres(t), clustertest.NewRedis(t).URL()
	cfg := newConfig(t)
	for _, c := range []struct {
		check check
		url   string
		query string
		set   func(url seal.Secret)
	}{
		{checkDatabase, database, "clock_timestamp", func(url seal.Secret) { cfg.DatabaseURL = url }},
		{checkRedis, near, "$4\r\ntime\r\n", func(url seal.Secret) { cfg.RedisURL = url }},
	} {
		testkit.Eventually(t, fmt.Sprintf("no finding although the first %q stalls", c.query), func() bool {
			var stalled atomic.Bool
			c.set(delayed(t, c.url, func(piece []byte) time.Duration {
				if !bytes.Contains(piece, []byte(c.query)) || !stalled.CompareAndSwap(false, true) {
					return 0
				}
				return 1100 * time.Millisecond
			}))
			return len(c.check.findings(t, cfg)) == 0 && stalled.Load()
		})
	}
}

// delayed returns a URL of a proxy in front of the server at a URL, which forwards each piece after a time.
func delayed(t *testing.T, to string, by func(piece []byte) time.Duration) seal.Secret {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	forward := func(to, from net.Conn) {
		for b := make([]byte, 4096); ; {
			n, err := from.Read(b)
			time.Sleep(by(b[:n]))
			if _, writeErr := to.Write(b[:n]); err != nil || writeErr != nil {
				return
			}
		}
	}
	u.Host = testkit.StartProxy(t, u.Host, forward, forward)
	return seal.Secret(u.String())
}
