package post

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/testkit"
	"parley/internal/webhook/sender"
)

// serve counts connections and responds with a body of size bytes.
func serve(t *testing.T, size int) (url string, connections *atomic.Int32) {
	t.Helper()
	connections = &atomic.Int32{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", size)))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, connections
}

// TestGuard_CheckedAtConnect checks that the guard applies to the connection: a
// name that resolves to this machine is refused like its address, without a
// connection.
func TestGuard_CheckedAtConnect(t *testing.T) {
	t.Parallel()
	at, connections := serve(t, 1)
	port := at[strings.LastIndex(at, ":"):]
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for _, tc := range []struct {
		guard Guard
		host  string
		want  bool
	}{
		{Guard{}, "127.0.0.1", false},
		{Guard{}, "localhost", false},
		{Guard{}, "[::ffff:127.0.0.1]", false},
		{Guard{}, "0.0.0.0", false},
		{Guard{Hosts: []string{"hooks.internal"}}, "localhost", false},
		{Guard{Hosts: []string{"localhost"}}, "127.0.0.1", false},
		{Guard{Hosts: []string{"localhost"}}, "LOCALHOST", true},
		{Guard{Prefixes: loopback}, "127.0.0.1", true},
		{Guard{Prefixes: loopback}, "[::ffff:127.0.0.1]", true},
		{Guard{AllowPrivate: true}, "127.0.0.1", true},
	} {
		connections.Store(0)
		c := New(tc.guard)
		t.Cleanup(c.Close)
		answer := c.Post(t.Context(), sender.Message{URL: "http://" + tc.host + port, Header: http.Header{}})
		if (answer.Status == 200) != tc.want || (connections.Load() > 0) != tc.want {
			t.Errorf("guard %+v, host %s: got %+v and %d connections, want a response: %t",
				tc.guard, tc.host, answer, connections.Load(), tc.want)
		}
		if !tc.want && !(strings.Contains(answer.Error, "is refused: it is ") &&
			strings.HasSuffix(answer.Error, ", which the operator can allow with --webhook-allow")) {
			t.Errorf("guard %+v, host %s: got error %q, want that it is refused", tc.guard, tc.host, answer.Error)
		}
	}
}

// TestClient_ConnectionReuse checks that a connection is reused after a response
// that was read completely, and closed after a longer one.
func TestClient_ConnectionReuse(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int32{0: 1, 1024: 1, 1 << 22: 3} {
		at, connections := serve(t, size)
		c := New(Guard{AllowPrivate: true})
		t.Cleanup(c.Close)
		for range 3 {
			if a := c.Post(t.Context(), sender.Message{URL: at, Header: http.Header{}}); a.Status != 200 ||
				len(a.Body) != min(size, 1024) {
				t.Errorf("a body of %d bytes: got %+v, want status 200 and at most 1024 bytes", size, a)
			}
		}
		if n := connections.Load(); n != want {
			t.Errorf("three bodies of %d bytes: got %d connections, want %d", size, n, want)
		}
	}
}

func TestPost_NoResponse(t *testing.T) {
	t.Parallel()
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hangs.Close()
	selfSigned := httptest.NewTLSServer(http.NotFoundHandler())
	defer selfSigned.Close()
	drips := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("."))
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond) // a slow server
		}
	}))
	defer drips.Close()
	closed := fmt.Sprintf("http://127.0.0.1:%d", testkit.FreeTCPPort(t))
	c := New(Guard{AllowPrivate: true})
	defer c.Close()
	for at, want := range map[string]string{
		hangs.URL:                "no answer within 15 seconds",
		selfSigned.URL:           "certificate",
		closed:                   "the connection was refused",
		"http://name.invalid/":   "",
		"http://127.0.0.1:1/%zz": "the URL cannot be called",
	} {
		timeout := testkit.Timeout
		switch {
		case at == hangs.URL:
			timeout = 200 * time.Millisecond
		case want == "": // a lookup that no name server answers is also right
			timeout = 10 * time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		answer := c.Post(ctx, sender.Message{URL: at, Header: http.Header{}})
		cancel()
		if answer.Status != 0 || answer.Error == "" || !strings.Contains(answer.Error, want) ||
			strings.Contains(answer.Error, "http://") {
			t.Errorf("POST %s: got %+v, want the error %q without the URL", at, answer, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Timeout)
	defer cancel()
	if a := c.Post(ctx, sender.Message{URL: drips.URL, Header: http.Header{}}); a.Status != 200 {
		t.Errorf("a slow endless body: got %+v, want status 200", a)
	}
}

func TestRetryAfter_Formats(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{"": 0, "120": 2 * time.Minute,
		"-1": 0, "soon": 0, "99999999999": 0,
		"Sun, 22 Nov 2026 00:05:00 GMT": 5 * time.Minute, "Sat, 21 Nov 2026 00:05:00 GMT": 0,
		"Sunday, 22-Nov-26 00:05:00 GMT": 5 * time.Minute, "Sun Nov 22 00:05:00 2026": 5 * time.Minute} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("Retry-After %q: got %s, want %s", value, got, want)
		}
	}
}
