package doctor

import (
	"bytes"
	"net"
	"net/url"
	"strconv"
	"testing"

	"parley/internal/cluster"
	"parley/internal/cluster/clustertest"
	"parley/internal/db"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// Versions that are too old are found, and not found with a newer server. A proxy makes the servers old.
func TestVersions(t *testing.T) {
	database, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	state, err := db.InspectPostgres(t.Context(), database.String())
	if err != nil {
		t.Fatal(err)
	}
	old := *database
	row := func(version int) string { return "\x00\x00\x00\x02" + strconv.Itoa(version) } // a value of two bytes
	old.Host = rewriting(t, database.Host, row(state.Version), row(db.MinPostgres-1))
	cfg, run := newConfig(t), check(checkDatabase)
	cfg.DatabaseURL = seal.Secret(old.String())
	f := run.findings(t, cfg)["database_version"]
	if f.Level != Error || f.Change != "--database-url URL, of PostgreSQL 13 or newer" {
		t.Errorf("PostgreSQL 12: got the finding %+v, want database_version", f)
	}
	cfg.DatabaseURL = seal.Secret(database.String())
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Errorf("PostgreSQL %d: got the findings %v, want none", state.Version, found)
	}

	server := clustertest.NewRedis(t)
	oldRedis, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	redisState, _, err := cluster.InspectRedis(t.Context(), server.URL())
	if err != nil || redisState.Version == "" {
		t.Fatalf("got the state of Redis %+v, %v, want its version", redisState, err)
	}
	run = checkRedis
	oldRedis.Host = rewriting(t, oldRedis.Host, "redis_version:"+redisState.Version[:1], "redis_version:5")
	cfg.RedisURL = seal.Secret(oldRedis.String())
	f = run.findings(t, cfg)["redis_version"]
	if f.Level != Error || f.Change != "--redis-url URL, of Redis 6 or newer" {
		t.Errorf("Redis 5: got the finding %+v, want redis_version", f)
	}
	cfg.RedisURL = seal.Secret(server.URL())
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Errorf("Redis %s: got the findings %v, want none", redisState.Version, found)
	}
}

// rewriting returns the address of a proxy in front of a server that replaces a text in what the server sends by one of
// the same length.
func rewriting(t *testing.T, server, before, after string) string {
	t.Helper()
	return testkit.StartProxy(t, server, nil, func(client, conn net.Conn) {
		var waiting []byte
		for b := make([]byte, 32<<10); ; {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			waiting = bytes.ReplaceAll(append(waiting, b[:n]...), []byte(before), []byte(after))
			kept := len(before) - 1 // the text may continue in the next packet
			for kept > 0 && !bytes.HasSuffix(waiting, []byte(before[:kept])) {
				kept--
			}
			if kept < 5 {
				kept = 0 // a zero at the end is that of another text, after which the server waits
			}
			if _, err := client.Write(waiting[:len(waiting)-kept]); err != nil {
				return
			}
			waiting = waiting[len(waiting)-kept:]
		}
	})
}
