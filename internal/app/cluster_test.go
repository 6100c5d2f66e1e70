package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/cluster/clustertest"
	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// A process can run only one media engine, so each node of a cluster is this test program in
// a process of its own.
func TestMain(m *testing.M) { testkit.Main(m, runProcess) }

// processConfig is the configuration of a started process. It repeats the secret
// settings, because config.Config does not marshal them.
type processConfig struct {
	DataDir, DatabaseURL, RedisURL, MasterKey, MetricsListen string
	UDPPort                                                  int
}

func (p processConfig) config() config.Config {
	cfg := config.Default()
	cfg.Listen, cfg.DataDir, cfg.RTCUDPPort = "127.0.0.1:0", p.DataDir, p.UDPPort
	cfg.DatabaseURL, cfg.RedisURL, cfg.MasterKey = seal.Secret(p.DatabaseURL), seal.Secret(
		p.RedisURL), seal.Secret(p.MasterKey)
	cfg.MetricsListen = p.MetricsListen
	return cfg
}

// runProcess serves until the test has ended.
func runProcess(p processConfig) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, err := New(context.Background(), p.config(), log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		testkit.AwaitParent()
		cancel()
	}()
	return a.Run(ctx, false, os.Stdout)
}

// process is a node in a process of its own.
type process struct {
	t   *testing.T
	url string
	log *testkit.Buffer
	// kill ends the process without a shutdown.
	kill func()
}

func startProcess(t *testing.T, p processConfig) *process {
	t.Helper()
	n := &process{t: t, log: &testkit.Buffer{}}
	stdout, kill := testkit.StartChild(t, p, n.log)
	n.kill = kill
	lines := bufio.NewScanner(stdout)
	for n.url == "" && lines.Scan() {
		n.url, _ = strings.CutPrefix(lines.Text(), "Parley runs at ")
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	testkit.Eventually(t, "the process serves", func() bool {
		status, _ := n.health()
		return status == http.StatusOK
	})
	return n
}

func (n *process) do(method, path string, header http.Header, body []byte) (*http.Response, []byte) {
	n.t.Helper()
	r, err := http.NewRequest(method, n.url+path, bytes.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	r.Header = header
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		n.t.Fatalf("%s %s: got error %v, want a response\n%s", method, path, err, n.log)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return answer, raw
}

func (n *process) health() (int, map[string]string) {
	answer, err := http.Get(n.url + "/healthz")
	if err != nil {
		return 0, nil
	}
	defer func() { _ = answer.Body.Close() }()
	var report map[string]string
	_ = json.NewDecoder(answer.Body).Decode(&report)
	return answer.StatusCode, report
}

// testCluster is a pair of processes with the credentials of a client and an
// operator.
type testCluster struct {
	t    *testing.T
	a, b *process
	quickstart.File
	mu    sync.Mutex
	calls int // that were validly signed
}

// call sends a signed call of version 5.
func (n *testCluster) call(at *process, apiKey, secret string) (status int, used string) {
	n.t.Helper()
	const target = "/api/v5/keys"
	timestamp := sign.FormatTimestamp(time.Now())
	answer, _ := at.do("GET", target, http.Header{"Api-Key": {apiKey}, "Timestamp": {timestamp},
		"Hash-Signature": {sign.V5(secret, "GET", target, timestamp, "", nil)}}, nil)
	if answer.StatusCode == 200 || answer.StatusCode == 403 {
		n.mu.Lock()
		n.calls++
		n.mu.Unlock()
	}
	return answer.StatusCode, answer.Header.Get("X-Gateway-Requests-Used")
}

func (n *testCluster) callWithCurrentKey(at *process) (int, string) {
	n.t.Helper()
	return n.call(at, n.APIKey, n.GatewaySecret)
}

// write creates a room, signed with a credential.
func (n *testCluster) write(at *process, secret string) int {
	n.t.Helper()
	body := fmt.Appendf(nil,
		`{"project_id":%q,"name":"Amina","max_participants":2,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}}`, n.ProjectID)
	answer, _ := at.do("POST", "/api/v3/rooms/create_quick_audio_room",
		http.Header{"Content-Type": {"application/json"}, "Hash-Signature": {sign.Legacy(secret, body)}}, body)
	return answer.StatusCode
}

// manage sends a call of the management API.
func (n *testCluster) manage(at *process, method, path, body string) map[string]any {
	n.t.Helper()
	answer, raw := at.do(method, "/api/manage/projects/"+n.ProjectID+path,
		http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + n.AdminToken}}, []byte(body))
	if answer.StatusCode != 200 {
		n.t.Fatalf("%s %s: got status %d, want 200: %s", method, path, answer.StatusCode, raw)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		n.t.Fatal(err)
	}
	return out
}

func (n *testCluster) rotate(at *process, overlap time.Duration) (oldKey, oldSecret string) {
	n.t.Helper()
	oldKey, oldSecret = n.APIKey, n.GatewaySecret
	out := n.manage(at, "POST", "/keys/rotate", fmt.Sprintf(`{"overlap":%d}`, int(overlap.Seconds())))
	n.APIKey, n.GatewaySecret = out["api_key"].(string), out["gateway_secret"].(string)
	return oldKey, oldSecret
}

// waitFor waits until a change is visible on another node and returns how long
// that took. Publishing a change takes milliseconds; the limit leaves room for a
// busy machine.
func (n *testCluster) waitFor(what string, holds func() bool) {
	n.t.Helper()
	began := time.Now()
	testkit.Eventually(n.t, what, holds)
	n.t.Logf("%s: %v after the answer", what, time.Since(began).Round(10*time.Microsecond))
}

func startTwoNodes(t *testing.T) (*testCluster, *clustertest.Redis) {
	t.Helper()
	redis := clustertest.NewRedis(t)
	p := processConfig{DatabaseURL: storetest.Postgres(t), RedisURL: redis.URL(), MasterKey: seal.NewKey().Reveal()}
	n := &testCluster{t: t}
	for _, at := range []**process{&n.a, &n.b} {
		p.DataDir, p.UDPPort = t.TempDir(), testkit.FreeUDPPort(t)
		*at = startProcess(t, p)
		if n.ProjectID == "" {
			var err error
			if n.File, err = quickstart.Read(p.DataDir); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n, redis
}

// run runs a part of the test as a subtest.
func (n *testCluster) run(name string, part func(t *testing.T)) {
	whole := n.t
	defer func() { n.t, n.a.t, n.b.t = whole, whole, whole }()
	whole.Run(name, func(t *testing.T) {
		n.t, n.a.t, n.b.t = t, t, t
		part(t)
	})
}

// TestCluster_TwoNodes checks that two processes on one PostgreSQL and one Redis
// act as one service.
func TestCluster_TwoNodes(t *testing.T) {
	testkit.WithinOne(t, 24*time.Hour, 3*time.Minute)
	n, redis := startTwoNodes(t)

	n.run("calls are counted exactly", func(t *testing.T) {
		var numbers clustertest.Numbers
		var work sync.WaitGroup
		for _, at := range []*process{n.a, n.b} {
			for range 3 {
				work.Go(func() {
					for range 10 {
						status, used := n.callWithCurrentKey(at)
						number, err := strconv.ParseInt(used, 10, 64)
						if status != 200 || err != nil {
							t.Errorf("a call: got status %d, requests used %q, want 200 and a number", status, used)
						}
						numbers.Add(number)
					}
				})
			}
		}
		work.Wait()
		numbers.AssertConsecutive(t, 1)
	})
	n.run("rotation without an overlap", func(t *testing.T) {
		oldKey, oldSecret := n.rotate(n.a, 0)
		n.waitFor("the old key is refused", func() bool {
			status, _ := n.call(n.b, oldKey, oldSecret)
			return status == 401
		})
		if status, _ := n.callWithCurrentKey(n.b); status != 200 {
			t.Errorf("the new key: got status %d, want 200", status)
		}
	})
	n.run("revoking an overlap", func(t *testing.T) {
		oldKey, oldSecret := n.rotate(n.b, time.Hour)
		n.waitFor("the new key is known", func() bool { status, _ := n.callWithCurrentKey(n.a); return status == 200 })
		if status, _ := n.call(n.a, oldKey, oldSecret); status != 200 {
			t.Errorf("the old key during its overlap: got status %d, want 200", status)
		}
		n.manage(n.b, "POST", "/keys/revoke-overlap", "")
		n.waitFor("the old key is refused", func() bool {
			status, _ := n.call(n.a, oldKey, oldSecret)
			return status == 401
		})
	})
	n.run("suspension", func(t *testing.T) {
		n.manage(n.a, "POST", "/suspend", `{}`)
		n.waitFor("suspended", func() bool { status, _ := n.callWithCurrentKey(n.b); return status == 403 })
		if status := n.write(n.b, n.ProjectSecret); status != 403 {
			t.Errorf("create a room of a suspended project: got status %d, want 403", status)
		}
		n.manage(n.a, "POST", "/resume", "")
		n.waitFor("resumed", func() bool { status, _ := n.callWithCurrentKey(n.b); return status == 200 })
	})
	n.run("rotation of the project secret", func(t *testing.T) {
		old := n.ProjectSecret
		if status := n.write(n.b, old); status != 200 {
			t.Fatalf("create a room before the rotation: got status %d, want 200", status)
		}
		n.ProjectSecret = n.manage(n.a, "POST", "/rotate-secret", `{"overlap":0}`)["project_secret"].(string)
		n.waitFor("the old secret is refused", func() bool { return n.write(n.b, old) == 401 })
		if status := n.write(n.b, n.ProjectSecret); status != 200 {
			t.Errorf("the new secret: got status %d, want 200", status)
		}
	})
	n.run("settings", func(t *testing.T) {
		n.manage(n.b, "PATCH", "", `{"require_secret_signatures":true}`)
		n.waitFor("the API key is refused as a signing key", func() bool { return n.write(n.a, n.APIKey) == 401 })
		n.manage(n.b, "PATCH", "", `{"require_secret_signatures":false}`)
		n.waitFor("the API key signs again", func() bool { return n.write(n.a, n.APIKey) == 200 })
	})
	n.run("console", n.console)
	n.run("without Redis", func(t *testing.T) { n.withoutRedis(t, redis) })
	for _, at := range []*process{n.a, n.b} {
		for _, secret := range []string{clustertest.Password, n.APIKey, n.GatewaySecret, n.ProjectSecret} {
			if strings.Contains(at.log.String(), secret) {
				t.Errorf("log of %s: got a secret in it, want none", at.url)
			}
		}
	}
}

func (n *testCluster) withoutRedis(t *testing.T, redis *clustertest.Redis) {
	redis.Kill()
	for _, at := range []*process{n.a, n.b} {
		n.waitFor("the counter is unavailable", func() bool {
			status, used := n.callWithCurrentKey(at)
			return status == 200 && used == "unavailable"
		})
		began := time.Now()
		for range 10 {
			if status, used := n.callWithCurrentKey(at); status != 200 || used != "unavailable" {
				t.Errorf("a call without Redis: got status %d, requests used %q, want 200, unavailable", status, used)
			}
		}
		t.Logf("a call without Redis takes %v", time.Since(began)/10)
		if status, report := at.health(); status != 200 || report["redis"] != "unavailable" ||
			report["status"] != "ok" {
			t.Errorf("health without Redis: got %d %v, want 200, status ok and redis unavailable", status, report)
		}
	}
	oldKey, oldSecret := n.rotate(n.a, 0)
	if status, _ := n.call(n.b, oldKey, oldSecret); status != 401 {
		t.Errorf("the old key without Redis: got status %d, want 401", status)
	}
	if status, _ := n.call(n.b, "pk_unknown", oldSecret); status != 401 {
		t.Errorf("an unknown key without Redis: got status %d, want 401", status)
	}
	if status, _ := n.callWithCurrentKey(n.b); status != 200 {
		t.Errorf("the new key without Redis: got status %d, want 200", status)
	}

	redis.Start()
	for _, at := range []*process{n.a, n.b} {
		n.waitFor("the counter is right again", func() bool {
			_, used := n.callWithCurrentKey(at)
			return used == strconv.Itoa(n.calls)
		})
		if _, report := at.health(); report["redis"] != "ok" {
			t.Errorf("health with Redis back: got %v, want redis ok", report)
		}
	}
	if status, _ := n.call(n.b, oldKey, oldSecret); status != 401 {
		t.Errorf("the old key with Redis back: got status %d, want 401", status)
	}
	oldKey, oldSecret = n.rotate(n.b, 0)
	n.waitFor("changes are published again", func() bool {
		status, _ := n.call(n.a, oldKey, oldSecret)
		return status == 401
	})
}

// TestCluster_SharedDatabaseNeedsRedis checks which processes may use a
// PostgreSQL database: a single process, or several with the same Redis.
func TestCluster_SharedDatabaseNeedsRedis(t *testing.T) {
	testkit.Slow(t)
	redis := clustertest.NewRedis(t)
	p := processConfig{DatabaseURL: storetest.Postgres(t), MasterKey: seal.NewKey().Reveal()}
	refused := func(redisURL, want string) {
		t.Helper()
		cfg := p.config()
		cfg.RedisURL, cfg.DataDir, cfg.RTCUDPPort = seal.Secret(redisURL), t.TempDir(), testkit.FreeUDPPort(t)
		a, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err == nil {
			a.Close()
		}
		if err == nil || err.Error() != want {
			t.Errorf("start with --redis-url %q: got error %v, want %q", redisURL, err, want)
		}
	}
	first := p
	first.DataDir, first.UDPPort = t.TempDir(), testkit.FreeUDPPort(t)
	t.Run("a process without Redis excludes others", func(t *testing.T) {
		startProcess(t, first)
		refused("",
			"--database-url (PARLEY_DATABASE_URL): another Parley is running on this database; "+
				"to run several processes, give each the same --redis-url")
		refused(redis.URL(),
			"--database-url (PARLEY_DATABASE_URL): another Parley is running on this database without --redis-url; "+
				"to run several processes, give each the same --redis-url")
	})
	t.Run("a process with Redis excludes those without", func(t *testing.T) {
		first.RedisURL = redis.URL()
		startProcess(t, first)
		refused("",
			"--database-url (PARLEY_DATABASE_URL): another Parley is running on this database; "+
				"to run several processes, give each the same --redis-url")
		cfg := p.config()
		cfg.DataDir, cfg.RTCUDPPort = t.TempDir(), testkit.FreeUDPPort(t)
		want := "--database-url: another Parley is running on this database: stop it first"
		if _, err := instance.Reseal(t.Context(), cfg); err == nil || err.Error() != want {
			t.Errorf("reseal: got error %v, want %q", err, want)
		}
	})
}
