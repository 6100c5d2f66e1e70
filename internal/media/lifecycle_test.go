package media_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/media"
	"parley/internal/media/mediatest"
	"parley/internal/room"
)

func TestStop_NotifiesParticipants(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	ada := h.join(t, "r.1", "ada", room.Video)
	ben := h.join(t, "r.1", "ben", room.Video)
	h.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "ben", ben.SID(), ""})

	begin := time.Now()
	h.engine.Stop(context.Background())
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("Stop took %s", took)
	}
	heard := h.recorded()
	gone := map[string]room.LeaveReason{}
	for _, s := range heard[2:] {
		gone[s.identity] = s.reason
	}
	if len(heard) != 4 || gone["ada"] != room.LeftServer || gone["ben"] != room.LeftServer {
		t.Errorf("when Stop had returned the observer had heard %v", heard)
	}
	for _, c := range []*mediatest.Participant{ada, ben} {
		if end := awaitEnd(t, c, "SERVER_SHUTDOWN"); !end.Reconnect {
			t.Error("told not to come back")
		}
	}

	if err := h.engine.Healthy(); err == nil {
		t.Error("healthy after Stop")
	}
	if err := h.engine.Open(t.Context(), room.MediaSession{Name: "r.2", Type: room.Video}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Open after Stop: %v", err)
	}
	if status := refusedStatus(t, h.url, h.accessToken(t, "r.1", "ada", room.Video)); status != http.StatusServiceUnavailable {
		t.Errorf("join after Stop: %d", status)
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: h.cfg.UDPPort})
	if err != nil {
		t.Fatalf("the port is still held: %v", err)
	}
	_ = conn.Close()
	h.engine.Stop(context.Background()) // again changes nothing
}

// A process that comes back under the same secret takes its sessions up
// again, and the tokens of before still open them.
func TestAccessToken_ValidAfterRestart(t *testing.T) {
	h := newFixture(t)
	h.openSession(t, "r.1", room.Video)
	pass := h.accessToken(t, "r.1", "ada", room.Video)
	ada := connect(t, h.url, pass)
	freshToken(t, ada)
	h.engine.Stop(context.Background())

	again := newFixture(t, func(c *media.Config) { c.UDPPort = h.cfg.UDPPort })
	again.openSession(t, "r.1", room.Video)
	first := connect(t, again.url, pass)
	again.expectCalls(t, observerCall{"r.1", "ada", first.SID(), ""})
	connect(t, again.url, ada.Token())
}

func TestNew_SecondEngine(t *testing.T) {
	h := newFixture(t)
	cfg := h.cfg
	cfg.UDPPort = freeUDPPort(t)
	if _, err := media.New(cfg, &observer{}, &fakeAuthorizer{}); err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("a second engine: %v", err)
	}
}

func TestNew_PortInUse(t *testing.T) {
	taken, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	port := taken.LocalAddr().(*net.UDPAddr).Port
	cfg := media.Config{SigningKey: "parley", SigningSecret: testSecret, NodeIP: "127.0.0.1", UDPPort: port}
	_, err = media.New(cfg, &observer{}, &fakeAuthorizer{})
	if want := fmt.Sprintf("UDP port %d on 127.0.0.1 is already in use", port); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	_ = taken.Close()

	engine, err := media.New(cfg, &observer{}, &fakeAuthorizer{})
	if err != nil {
		t.Fatalf("the failure left something behind: %v", err)
	}
	engine.Stop(context.Background()) // never started
}

func TestNew_LoopbackOnly(t *testing.T) {
	h := newFixture(t, func(c *media.Config) { c.TCPPort = freeUDPPort(t) })
	for _, table := range []string{"/proc/self/net/udp", "/proc/self/net/udp6"} {
		for _, local := range listening(t, table, h.cfg.UDPPort) {
			if local != "0100007F" {
				t.Errorf("%s: bound to %s", table, local)
			}
		}
	}
	if got := listening(t, "/proc/self/net/udp", h.cfg.UDPPort); len(got) != 1 {
		t.Errorf("bound %d times", len(got))
	}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		if got := listening(t, table, h.cfg.TCPPort); len(got) != 0 {
			t.Errorf("%s: TCP bound to %v", table, got)
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
	good := media.Config{SigningKey: "parley", SigningSecret: testSecret, NodeIP: "127.0.0.1", UDPPort: freeUDPPort(t)}
	for want, change := range map[string]func(*media.Config){
		"no name":                     func(c *media.Config) { c.SigningKey = "" },
		"at least 32":                 func(c *media.Config) { c.SigningSecret = "short" },
		"UDP port 0":                  func(c *media.Config) { c.UDPPort = 0 },
		"TCP port 70000":              func(c *media.Config) { c.TCPPort = 70000 },
		`"here" is not an IP`:         func(c *media.Config) { c.NodeIP = "here" },
		"one IPv4 and one IPv6":       func(c *media.Config) { c.NodeIP = "127.0.0.1, 10.0.0.1" },
		"not an address of this":      func(c *media.Config) { c.BindIPs = []string{"192.0.2.7"} },
		"the Redis URL is not of":     func(c *media.Config) { c.RedisURL = "http://:hunter2@here" },
		"no answer from Redis at 127": func(c *media.Config) { c.RedisURL = "redis://:hunter2@127.0.0.1:1/0" },
	} {
		cfg := good
		change(&cfg)
		engine, err := media.New(cfg, &observer{}, &fakeAuthorizer{})
		if err == nil {
			engine.Stop(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
