package doctor

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/internal/cluster"
	"parley/internal/cluster/clustertest"
	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/instance"
	"parley/internal/media"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// A port at which browsers and an ACME authority look for the server is not replaced by another one alone.
func TestSocketFindings_WellKnownPorts(t *testing.T) {
	t.Parallel()
	domain := config.Config{Listen: ":443", TLSDomain: []string{"meet.example.org"}}
	withURL := domain
	withURL.PublicURL = "https://meet.example.org"
	files := config.Config{Listen: ":443", PublicURL: "https://meet.example.org", TLSCertFile: "cert", TLSKeyFile: "key"}
	const (
		stop     = "Stop the program that has the port (sudo ss -ltnp), or "
		allow    = "AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit of systemd, or "
		forward  = "forward TCP port 443 unchanged to --listen :8443"
		redirect = "forward TCP port 80 to --http-listen :8080, or leave --http-listen out"
	)
	for _, c := range []struct {
		cfg           config.Config
		flag, address string
		err           error
		want          string
	}{
		{domain, "listen", ":443", syscall.EADDRINUSE, stop + forward + " and set --public-url https://meet.example.org"},
		{domain, "listen", ":443", syscall.EACCES, allow + forward + " and set --public-url https://meet.example.org"},
		{withURL, "listen", "203.0.113.7:443", syscall.EADDRINUSE, stop + forward},
		{files, "listen", ":443", syscall.EADDRINUSE, stop + forward},
		{domain, "listen", ":8443", syscall.EADDRINUSE, "--listen HOST:PORT, with a port that is free"},
		{domain, "http-listen", ":80", syscall.EADDRINUSE, stop + redirect},
		{domain, "http-listen", ":80", syscall.EACCES, allow + redirect},
		{domain, "metrics-listen", ":443", syscall.EADDRINUSE, "--metrics-listen HOST:PORT, with a port that is free"},
		{domain, "metrics-listen", ":90", syscall.EACCES, allow + "a port above 1023"},
	} {
		found := SocketFindings(c.cfg, []*instance.SocketError{{Flag: c.flag, Address: c.address, Err: c.err}})
		if len(found) != 1 || found[0].Change != c.want {
			t.Errorf("--%s %s, %v: got the findings %+v, want the change %q", c.flag, c.address, c.err, found, c.want)
		}
	}
}

// What people can still do without a port for media depends on the other ports and on TURN.
func TestMediaPortFindings_OtherPaths(t *testing.T) {
	t.Parallel()
	udp := &media.PortError{Setting: "--rtc-udp-port", Protocol: "UDP", Err: syscall.EADDRINUSE}
	tcp := &media.PortError{Setting: "--rtc-tcp-port", Protocol: "TCP", Err: syscall.EADDRINUSE}
	const (
		delay  = "warning: media uses TCP, with more delay."
		turn   = "warning: people whose network blocks UDP use TURN."
		silent = "warning: people whose network blocks UDP cannot hear anybody."
		direct = "error: people hear each other only if no firewall is between them and the server."
	)
	plain := config.Config{Listen: ":8080", TURN: true}
	files := config.Config{Listen: ":443", TURN: true, TLSCertFile: "cert", TLSKeyFile: "key"}
	separate := func(cfg config.Config, withTURN bool) config.Config {
		cfg.RTCTCPPort, cfg.TURN = 7881, withTURN
		return cfg
	}
	withoutTURN := files
	withoutTURN.TURN = false
	for name, c := range map[string]struct {
		cfg      config.Config
		failures []*media.PortError
		want     []string
	}{
		"one port":                             {plain, []*media.PortError{udp}, []string{direct}},
		"the other port":                       {separate(plain, true), []*media.PortError{udp}, []string{delay}},
		"TCP":                                  {separate(plain, true), []*media.PortError{tcp}, []string{silent}},
		"both ports":                           {separate(plain, true), []*media.PortError{udp, tcp}, []string{direct, silent}},
		"TLS":                                  {files, []*media.PortError{udp}, []string{delay}},
		"TLS without TURN":                     {withoutTURN, []*media.PortError{udp}, []string{delay}},
		"TLS and TCP":                          {separate(files, true), []*media.PortError{tcp}, []string{turn}},
		"TLS and both ports":                   {separate(files, true), []*media.PortError{udp, tcp}, []string{delay, turn}},
		"TLS without TURN, and TCP":            {separate(files, false), []*media.PortError{tcp}, []string{silent}},
		"TLS without TURN, and both ports":     {separate(files, false), []*media.PortError{udp, tcp}, []string{direct, silent}},
		"TLS without TURN, and the other port": {separate(files, false), []*media.PortError{udp}, []string{delay}},
	} {
		var got []string
		for _, f := range MediaPortFindings(c.cfg, c.failures) {
			_, effect, _ := strings.Cut(f.Text, "Without it, until the next start, ")
			got = append(got, string(f.Level)+": "+effect)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// While direct can tell whether the server runs, a port that it may have is no finding.
func TestCheckPorts_UnreadableLock(t *testing.T) {
	cfg := newConfig(t)
	occupyUDP(t, &cfg)
	lock := filepath.Join(cfg.DataDir, "parley.lock")
	if err := os.Symlink(lock, lock); err != nil { // also root cannot read it
		t.Fatal(err)
	}
	if result := runCheck(t.Context(), cfg, checkPorts); result.Unknown == "" || len(result.Findings) > 0 {
		t.Errorf("got the result %+v, want an unknown one", result)
	}
}

// A PostgreSQL server that is set up badly, or does not respond, is found, and not found after the line of
// the finding was applied.
func TestCheckDatabase(t *testing.T) {
	server := storetest.NewPostgresServer(t)
	database := server.NewDatabase(t)
	cfg := newConfig(t)
	cfg.DatabaseURL = seal.Secret(database)
	run := check(checkDatabase)
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Fatalf("got the findings %v, want none", found)
	}
	const off = `ALTER SYSTEM SET synchronous_commit = off; SELECT pg_reload_conf();`
	execute(t, database, off)
	testkit.Eventually(t, "a finding about what can be lost", func() bool {
		f := run.findings(t, cfg)["database_durability"]
		return f.Level == Warning && f.Change == "In psql as superuser: "+strings.Replace(off, "off", "on", 1)
	})
	execute(t, database, strings.TrimPrefix(run.findings(t, cfg)["database_durability"].Change, "In psql as superuser: "))
	testkit.Eventually(t, "no finding after the change", func() bool { return len(run.findings(t, cfg)) == 0 })

	cfg.DatabaseURL = seal.Secret(strings.Replace(database, "/test_", "/missing_", 1))
	found := run.findings(t, cfg)
	if f := found["database_unavailable"]; f.Level != Error || !strings.Contains(f.Text, "does not exist") {
		t.Errorf("another database: got the findings %v, want database_unavailable with the cause", found)
	}
}

// A standby is found, and not found after it became the primary or the URL is that of the primary.
func TestCheckDatabase_Standby(t *testing.T) {
	primary := storetest.NewPostgresServer(t)
	database := primary.NewDatabase(t)
	standby := primary.NewStandby(t).Corresponding(t, database)
	cfg, run := newConfig(t), check(checkDatabase)
	cfg.DatabaseURL = seal.Secret(standby)
	if f := run.findings(t, cfg)["database_standby"]; f.Level != Error {
		t.Errorf("the standby: got the finding %+v, want database_standby", f)
	}
	cfg.DatabaseURL = seal.Secret(database)
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Errorf("the primary: got the findings %v, want none", found)
	}
	execute(t, standby, "SELECT pg_promote()")
	cfg.DatabaseURL = seal.Secret(standby)
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Errorf("the promoted standby: got the findings %v, want none", found)
	}
}

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

// PgBouncer that assigns a connection for each transaction is found.
func TestCheckDatabase_Pooler(t *testing.T) {
	testkit.Slow(t)
	database, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := database.User.Password()
	port, file := testkit.FreeTCPPort(t), filepath.Join(t.TempDir(), "pgbouncer.ini")
	if err := os.WriteFile(file, fmt.Appendf(nil, `[databases]
* = host=127.0.0.1 port=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
`, database.Port(), database.User.Username(), password, port), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &testkit.Buffer{}
	pooler := exec.Command("pgbouncer", file)
	if os.Geteuid() == 0 {
		pooler.Args = append(pooler.Args, "-u", "direct") // it does not run as root
	}
	pooler.Stdout, pooler.Stderr = log, log
	if err := pooler.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pooler.Process.Kill()
		_ = pooler.Wait()
	})
	direct := database.Host
	cfg, run := newConfig(t), check(checkDatabase)
	database.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	cfg.DatabaseURL = seal.Secret(database.String())
	testkit.Eventually(t, "the pooler is found", func() bool {
		return run.findings(t, cfg)["database_pooler"].Level == Error
	})
	database.Host = direct
	cfg.DatabaseURL = seal.Secret(database.String())
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Errorf("without the pooler: got the findings %v, want none", found)
	}
}

// execute executes the statements of a finding, which PostgreSQL does not accept in one transaction.
func execute(t *testing.T, url, statements string) {
	t.Helper()
	for statement := range strings.SplitSeq(strings.TrimSuffix(statements, ";"), "; ") {
		if err := db.ExecPostgres(t.Context(), url, statement); err != nil {
			t.Fatal(err)
		}
	}
}

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
}

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

// Two clocks that differ are found, and the offset is in the sentence.
func TestAddClock(t *testing.T) {
	t.Parallel()
	for offset, want := range map[time.Duration]string{
		-3 * time.Second: "by -3.0 s", 3 * time.Second: "by 3.0 s", 2 * time.Second: "", 0: "",
	} {
		var result Result
		result.addClock("redis_clock", "Redis", offset)
		text := ""
		if len(result.Findings) > 0 {
			text = result.Findings[0].Text
		}
		if (text != "") != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s: got the findings %v, want %q in one", offset, result.Findings, want)
		}
	}
}

// A running server is not told what it reports by itself. A server for this machine only is not checked.
func TestRunInServer(t *testing.T) {
	serveDNS(t, "meet.example.test", "203.0.113.7")
	t.Setenv("PARLEY_LISTNE", ":80")
	cfg := newConfig(t)
	cfg.MaxConnections = 1_000_000
	for url, want := range map[string]bool{"http://localhost:8080": true, "http://127.0.0.1:8080": true,
		"http://[::1]:8080": true, "http://192.0.2.7": false, "https://meet.example.test": false} {
		cfg.PublicURL = url
		if got := IsLocal(cfg); got != want {
			t.Errorf("%s: got IsLocal %t, want %t", url, got, want)
		}
	}
	cfg.PublicURL, cfg.DatabaseURL = "https://meet.example.test", "postgres://127.0.0.1:1/x"
	ids := map[string]int{}
	for _, f := range RunInServer(t.Context(), cfg) {
		ids[f.ID]++
	}
	if ids["node_ip"] != 1 || ids["trusted_proxies"] != 1 || ids["unknown_variable"]+ids["database_unavailable"] != 0 {
		t.Errorf("got the findings %v, want node_ip and trusted_proxies once each, and none that the server reports", ids)
	}
}
