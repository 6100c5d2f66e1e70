package connlimit

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"parley/internal/refusal"
	"parley/internal/testkit"
)

// acceptLimited returns both ends of a connection: the client's, and the server's within the limits.
func acceptLimited(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limits := New(0, 0, nil, refusal.NewRecorder(nil, slog.New(slog.DiscardHandler), time.Now))
	limited := limits.LimitConnections(l)
	t.Cleanup(func() { _ = limited.Close() })
	client = dial(t, l.Addr().String())
	if server, err = limited.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return client, server
}

// A read ends at the deadline that was set last: before the read, while it waits, or together with that of the writes.
func TestConnection_ReadDeadline(t *testing.T) {
	t.Parallel()
	past := time.Unix(1, 0)
	set := map[string]func(t *testing.T, conn net.Conn, at time.Time){
		"before the read": func(t *testing.T, conn net.Conn, at time.Time) {
			if err := conn.SetReadDeadline(at); err != nil {
				t.Error(err)
			}
		},
		"of reads and writes": func(t *testing.T, conn net.Conn, at time.Time) {
			if err := conn.SetDeadline(at); err != nil {
				t.Error(err)
			}
		},
		"while the read waits": func(t *testing.T, conn net.Conn, at time.Time) {
			go func() {
				testkit.Eventually(t, "a read waits", func() bool {
					read := &conn.(*connection).read
					read.mu.Lock()
					defer read.mu.Unlock()
					return read.reads > 0
				})
				if err := conn.SetReadDeadline(at); err != nil {
					t.Error(err)
				}
			}()
		},
	}
	for name, setDeadline := range set {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, server := acceptLimited(t)
			for range 3 {
				setDeadline(t, server, past)
				if _, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("a read with a deadline in the past: got %v, want %v", err, os.ErrDeadlineExceeded)
				}
				if err := server.SetReadDeadline(time.Time{}); err != nil {
					t.Fatal(err)
				}
				if _, err := client.Write([]byte("a")); err != nil {
					t.Fatal(err)
				}
				if n, err := server.Read(make([]byte, 1)); n != 1 || err != nil {
					t.Fatalf("a read after the deadline was removed: got %d bytes, %v, want 1", n, err)
				}
			}
		})
	}
}

// The timeouts of net/http close a connection: in the headers of the first request and of a later one, and while it
// is idle.
func TestConnection_ClosedAtTimeouts(t *testing.T) {
	t.Parallel()
	const request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	for name, sent := range map[string]struct {
		text      string
		responses int
	}{
		"headers of the first request":  {"GET / HTTP/1.1\r\n", 0},
		"headers of the second request": {request + "GET / HTTP/1.1\r\n", 1},
		"idle":                          {request + request, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			limits := New(0, 0, nil, refusal.NewRecorder(nil, slog.New(slog.DiscardHandler), time.Now))
			answered := make(chan struct{}, sent.responses)
			s := &http.Server{
				Handler:           http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answered <- struct{}{} }),
				ConnState:         limits.ConnState,
				ConnContext:       WithConnection,
				ReadHeaderTimeout: 100 * time.Millisecond,
				IdleTimeout:       100 * time.Millisecond,
			}
			// The text is sent before the server accepts the connection, because the timeouts run from then on.
			conn := dial(t, l.Addr().String())
			if _, err := io.WriteString(conn, sent.text); err != nil {
				t.Fatal(err)
			}
			go func() { _ = s.Serve(limits.LimitConnections(l)) }()
			t.Cleanup(func() { _ = s.Close() })
			if err := conn.SetReadDeadline(time.Now().Add(testkit.Timeout)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Fatalf("got %v, want the server to close the connection", err)
			}
			if n := len(answered); n != sent.responses {
				t.Errorf("got %d responses, want %d", n, sent.responses)
			}
		})
	}
}
