package media_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parley/internal/fault"
	"parley/internal/media"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

func TestStop_NotifiesParticipants(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	ada := f.join(t, "r.1", "ada", room.Video)
	ben := f.join(t, "r.1", "ben", room.Video)
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "ben", ben.SID(), ""})

	f.engine.Stop(context.Background())
	calls := f.recorded()
	reasons := map[string]room.LeaveReason{}
	for _, s := range calls[2:] {
		reasons[s.identity] = s.reason
	}
	if len(calls) != 4 || reasons["ada"] != room.LeftServer || reasons["ben"] != room.LeftServer {
		t.Errorf("observer calls after Stop are %v, want two leaves because of the server", calls)
	}
	for _, c := range []*mediatest.Participant{ada, ben} {
		if end := awaitEnd(t, c, "SERVER_SHUTDOWN"); !end.Reconnect {
			t.Errorf("end of %s: got Reconnect false, want true", c.Identity())
		}
	}

	if err := f.engine.Healthy(); err == nil {
		t.Error("Healthy after Stop: got no error, want one")
	}
	if err := f.engine.Open(t.Context(), room.MediaSession{Name: "r.2", Type: room.Video}); !fault.Is(err,
		fault.Unavailable) {
		t.Errorf("Open after Stop: got error %v, want Unavailable", err)
	}
	if status := refusedStatus(t, f.url, f.accessToken(t, "r.1", "ada",
		room.Video)); status != http.StatusServiceUnavailable {
		t.Errorf("join after Stop: got status %d, want %d", status, http.StatusServiceUnavailable)
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: f.cfg.UDPPort})
	if err != nil {
		t.Fatalf("listen on UDP port %d after Stop: got error %v, want none", f.cfg.UDPPort, err)
	}
	_ = conn.Close()
	f.engine.Stop(context.Background()) // a second call has no effect
}

// Tokens are still valid after a restart of the process with the same secret.
func TestAccessToken_ValidAfterRestart(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	token := f.accessToken(t, "r.1", "ada", room.Video)
	ada := joinWithToken(t, f.url, token)
	freshToken(t, ada)
	f.engine.Stop(context.Background())

	restarted := newFixture(t, func(c *media.Config) { c.UDPPort = f.cfg.UDPPort })
	restarted.openSession(t, "r.1", room.Video)
	first := joinWithToken(t, restarted.url, token)
	restarted.expectCalls(t, observerCall{"r.1", "ada", first.SID(), ""})
	joinWithToken(t, restarted.url, ada.Token())
}

func TestNew_SecondEngine(t *testing.T) {
	f := newFixture(t)
	cfg := f.cfg
	cfg.UDPPort = testkit.FreeUDPPort(t)
	if _, err := media.New(cfg); err == nil || !strings.Contains(err.Error(),
		"already running") {
		t.Errorf("New of a second engine: got error %v, want one with \"already running\"", err)
	}
}

// An engine works without its UDP port, which another program has, and says why.
func TestNew_PortInUse(t *testing.T) {
	port := testkit.FreeUDPPort(t)
	taken, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	f := newFixture(t, func(c *media.Config) { c.UDPPort = port })
	want := fmt.Sprintf("--rtc-udp-port (PARLEY_RTC_UDP_PORT): UDP port %d on 127.0.0.1 is already in use: "+
		"stop the other program, or choose another port", port)
	if got := f.engine.UnopenedPorts(); len(got) != 1 || got[0].Error() != want {
		t.Errorf("got the ports %v, want %q", got, want)
	}
	if !f.log.HasLine(`"level":"ERROR"`, want) {
		t.Errorf("got the log %s, want an error with %q", f.log, want)
	}
	f.openSession(t, "r.1", room.Audio)
	f.join(t, "r.1", "ada", room.Audio)
	if got := f.engine.TryUnopenedPorts(); len(got) != 1 || got[0].Free {
		t.Errorf("while the other program has it: got the ports %+v, want one that is not free", got)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the port is free", func() bool { return f.engine.TryUnopenedPorts()[0].Free })
	if f.engine.UnopenedPorts()[0].Free {
		t.Error("UnopenedPorts: got a port that is free, want that it does not try the port")
	}
}

// Callers at the same time do not find the port of each other.
func TestEngine_TriesFreePortOnce(t *testing.T) {
	port := testkit.FreeUDPPort(t)
	taken, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	f := newFixture(t, func(c *media.Config) { c.UDPPort = port })
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	var missed atomic.Int64
	for range 8 {
		callers.Go(func() {
			for range 500 {
				if !f.engine.TryUnopenedPorts()[0].Free {
					missed.Add(1)
				}
			}
		})
	}
	callers.Wait()
	if n := missed.Load(); n > 0 {
		t.Errorf("%d of 4000 calls: got a port in use, want a free one", n)
	}
}

func TestNew_LoopbackOnly(t *testing.T) {
	f := newFixture(t, func(c *media.Config) { c.TCPPort = testkit.FreeUDPPort(t) })
	for _, table := range []string{"/proc/self/net/udp", "/proc/self/net/udp6"} {
		for _, local := range listening(t, table, f.cfg.UDPPort) {
			if local != "0100007F" {
				t.Errorf("%s: got UDP bound to %s, want 0100007F (127.0.0.1)", table, local)
			}
		}
	}
	if got := listening(t, "/proc/self/net/udp", f.cfg.UDPPort); len(got) != 1 {
		t.Errorf("addresses of UDP port %d: got %v, want one", f.cfg.UDPPort, got)
	}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		if got := listening(t, table, f.cfg.TCPPort); len(got) != 0 {
			t.Errorf("%s: got TCP bound to %v, want none", table, got)
		}
	}
}

// listening returns the local addresses of the system's sockets on a port.
func listening(t *testing.T, table string, port int) []string {
	t.Helper()
	f, err := os.Open(table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var found []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		ip, hex, ok := strings.Cut(fields[1], ":")
		if p, err := strconv.ParseUint(hex, 16, 32); ok && err == nil && int(p) == port {
			found = append(found, ip)
		}
	}
	return found
}

func TestNew_InvalidConfig(t *testing.T) {
	good := newConfig(testkit.FreeUDPPort(t), slog.New(slog.DiscardHandler))
	for want, change := range map[string]func(*media.Config){
		"signing key must not":        func(c *media.Config) { c.SigningKey = "" },
		"at least 32":                 func(c *media.Config) { c.SigningSecret = "short" },
		"UDP port 0":                  func(c *media.Config) { c.UDPPort = 0 },
		"TCP port 70000":              func(c *media.Config) { c.TCPPort = 70000 },
		`"here" is not an IP`:         func(c *media.Config) { c.NodeIP = "here" },
		"one IPv4 and one IPv6":       func(c *media.Config) { c.NodeIP = "127.0.0.1, 10.0.0.1" },
		"not an address of this":      func(c *media.Config) { c.BindIPs = []string{"192.0.2.7"} },
		"the Redis URL must have":     func(c *media.Config) { c.RedisURL = "http://:hunter2@here" },
		"no answer from Redis at 127": func(c *media.Config) { c.RedisURL = "redis://:hunter2@127.0.0.1:1/0" },
	} {
		cfg := good
		change(&cfg)
		engine, err := media.New(cfg)
		if err == nil {
			engine.Stop(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
