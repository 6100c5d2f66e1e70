package doctor

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"parley/internal/cluster/clustertest"
	"parley/internal/seal"
)

// A Redis server that may forget what nodes have stored, or does not respond, is found, and not found after
// the line of the finding was applied.
func TestCheckRedis(t *testing.T) {
	server := clustertest.NewRedis(t)
	cfg := newConfig(t)
	cfg.RedisURL = seal.Secret(server.URL())
	options, err := redis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	set := func(name, value string) {
		t.Helper()
		if err := client.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	run := check(checkRedis)
	set("maxmemory-policy", "allkeys-lru")
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Errorf("without a bound of its memory: got the findings %v, want none", found)
	}
	set("maxmemory", "100mb")
	found := run.findings(t, cfg)["redis_eviction"]
	command, _, _ := strings.Cut(strings.TrimPrefix(found.Change, "CONFIG SET "), ",")
	name, value, ok := strings.Cut(command, " ")
	if found.Level != Warning || !ok {
		t.Fatalf("got the finding %+v, want redis_eviction with a command", found)
	}
	set(name, value)
	if after := run.findings(t, cfg); len(after) > 0 {
		t.Errorf("after the change: got the findings %v, want none", after)
	}
	server.Kill()
	if f := run.findings(t, cfg)["redis_unavailable"]; f.Level != Error {
		t.Errorf("without Redis: got the finding %+v, want redis_unavailable", f)
	}
	server.Start()
	if after := run.findings(t, cfg); len(after) > 0 {
		t.Errorf("with Redis again: got the findings %v, want none", after)
	}
}
