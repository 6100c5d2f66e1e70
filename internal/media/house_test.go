package media_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/media"
	"parley/internal/room"
)

const testSecret = "a-signing-secret-of-forty-characters-now"

// house is an engine with a server in front of it and an observer behind.
type house struct {
	*observer
	engine *media.Engine
	log    *logBuffer
	url    string
	cfg    media.Config
}

// newHouse starts an engine on loopback and stops it with the test.
func newHouse(t *testing.T, change ...func(*media.Config)) *house {
	t.Helper()
	cfg := media.Config{
		SigningKey:    "parley",
		SigningSecret: testSecret,
		NodeIP:        "127.0.0.1",
		UDPPort:       freeUDPPort(t),
	}
	h := &house{observer: &observer{}, log: &logBuffer{}}
	cfg.Log = slog.New(slog.NewJSONHandler(h.log, nil))
	for _, f := range change {
		f(&cfg)
	}
	h.cfg = cfg
	engine, err := media.New(cfg, h.observer)
	if err != nil {
		t.Fatal(err)
	}
	h.engine = engine
	t.Cleanup(func() { engine.Stop(context.Background()) })
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.url = serve(t, engine)
	return h
}

func serve(t *testing.T, engine *media.Engine) string {
	t.Helper()
	mux := http.NewServeMux()
	for _, path := range media.Paths() {
		mux.Handle(path, engine.Handler())
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func (h *house) open(t *testing.T, name string, kind room.Type) {
	t.Helper()
	if err := h.engine.Open(t.Context(), room.MediaSession{Name: name, Type: kind, MaxParticipants: 20}); err != nil {
		t.Fatal(err)
	}
}

func (h *house) pass(t *testing.T, session, identity string, kind room.Type) string {
	t.Helper()
	token, err := h.engine.Pass(room.MediaPass{
		Session: session, Identity: identity, Name: identity + " by name", Role: room.Guest, Type: kind, TTL: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// enter joins an open session.
func (h *house) enter(t *testing.T, session, identity string, kind room.Type) *client {
	t.Helper()
	return connect(t, h.url, h.pass(t, session, identity, kind))
}

func (h *house) present(t *testing.T, session string) []room.Present {
	t.Helper()
	list, err := h.engine.Participants(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// logBuffer collects log lines.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// has reports whether some line contains all the texts.
func (b *logBuffer) has(texts ...string) bool {
	for line := range strings.Lines(b.String()) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			return true
		}
	}
	return false
}

// seen is one call to the observer.
type seen struct {
	session, identity, sid string
	reason                 room.LeaveReason // empty: joined
}

type observer struct {
	mu    sync.Mutex
	calls []seen
}

func (o *observer) ParticipantJoined(session, identity, sid string, at time.Time) {
	o.note(seen{session, identity, sid, ""}, at)
}

func (o *observer) ParticipantLeft(session, identity, sid string, at time.Time, reason room.LeaveReason) {
	o.note(seen{session, identity, sid, reason}, at)
}

func (o *observer) note(s seen, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(at).Abs() > time.Minute {
		s.identity += " at a wrong time"
	}
	o.calls = append(o.calls, s)
}

func (o *observer) all() []seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]seen(nil), o.calls...)
}

// expect waits for exactly these calls in this order.
func (o *observer) expect(t *testing.T, want ...seen) {
	t.Helper()
	eventually(t, "the observer hears of everything", func() bool { return len(o.all()) >= len(want) })
	got := o.all()
	if len(got) != len(want) {
		t.Fatalf("observer heard %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("observer heard %v as number %d, want %v", got[i], i, want[i])
		}
	}
}

// eventually polls, because real media is somebody else's clock.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func freeUDPPort(t *testing.T) int {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.LocalAddr().(*net.UDPAddr).Port
}
