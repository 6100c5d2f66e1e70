package connlimit

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"parley/internal/refusal"
	"parley/internal/testkit"
)

// serveHTTP2 serves a handler with HTTP/2 on 127.0.0.1 with a limit of each address.
func serveHTTP2(t *testing.T, h http.Handler, timeout time.Duration) (
	c *Limits, address string, pool *x509.CertPool, log *testkit.Buffer,
) {
	t.Helper()
	certificate := testkit.NewCertificate(t, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log = &testkit.Buffer{}
	c = New(0, 2000, nil, refusal.NewRecorder(nil, slog.New(slog.NewTextHandler(log, nil)), time.Now))
	c.writeTimeout = timeout
	s := &http.Server{Handler: c.LimitRequests(h), ConnState: c.ConnState, ConnContext: WithConnection}
	secure := &tls.Config{Certificates: []tls.Certificate{certificate.Pair}, NextProtos: []string{"h2", "http/1.1"}}
	go func() { _ = s.Serve(tls.NewListener(c.LimitConnections(l), secure)) }()
	t.Cleanup(func() { _ = s.Close() })
	return c, l.Addr().String(), certificate.Pool, log
}

// Each request of an HTTP/2 connection has a slot of its own: one that ends does not release
// those of the others.
func TestLimitRequests_HTTP2(t *testing.T) {
	t.Parallel()
	h := &blockingHandler{release: make(chan struct{})}
	c, address, pool, _ := serveHTTP2(t, h, WriteTimeout)
	get := func(client *http.Client, path string) error {
		res, err := client.Get("https://" + address + path)
		if err != nil {
			return err
		}
		if res.ProtoMajor != 2 {
			err = fmt.Errorf("got %s, want HTTP/2", res.Proto)
		}
		return errors.Join(err, res.Body.Close())
	}
	var answered sync.WaitGroup
	connect := func(requests int32) *http.Client {
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
		if err := get(client, "/"); err != nil { // so that all requests share this connection
			t.Fatal(err)
		}
		for range requests {
			answered.Go(func() {
				if err := get(client, "/hang"); err != nil {
					t.Errorf("a request that waits: got %v, want an answer", err)
				}
			})
		}
		return client
	}
	first := connect(200)
	testkit.Eventually(t, "200 requests are in progress", func() bool { return h.waiting.Load() == 200 })
	for range 10 {
		if err := get(first, "/"); err != nil {
			t.Fatal(err)
		}
	}
	connect(100)
	testkit.Eventually(t, "the requests of both connections are in progress or wait", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		waiting := 0
		for _, s := range c.slots {
			waiting += s.waiting.Len()
		}
		return int(h.waiting.Load())+waiting == 300
	})
	if got := h.waiting.Load(); got != maxRequestsPerAddress {
		t.Errorf("requests in progress: got %d, want %d", got, maxRequestsPerAddress)
	}
	close(h.release)
	answered.Wait()
}

// A WebSocket below TLS releases the slot of its request, and has no write deadline.
func TestConnState_HijackedBelowTLS(t *testing.T) {
	t.Parallel()
	c, address, pool, _ := serveHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("hijack the connection: got %v, want no error", err)
			return
		}
		_, _ = io.Copy(conn, buffered)
	}), WriteTimeout)
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, NextProtos: []string{"http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\necho"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "echo" {
		t.Fatalf("got %q, %v, want the echo", got, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.slots) != 0 || c.open != 1 {
		t.Errorf("got %d networks with slots and %d connections, want 0 and 1", len(c.slots), c.open)
	}
	for _, client := range c.clients {
		if n := client.connections.Len(); n != 0 {
			t.Errorf("got %d connections that may give way, want none", n)
		}
	}
}

// A client that takes no data of a stream is slow, although its connection works.
func TestStreamWriter_WriteTimeout(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"in the handler": 1 << 20, "after the handler": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, address, pool, log := serveHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write(make([]byte, size))
			}), 200*time.Millisecond)
			conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
				t.Fatal(err)
			}
			framer := http2.NewFramer(conn, conn)
			var block bytes.Buffer
			fields := hpack.NewEncoder(&block)
			for _, field := range []hpack.HeaderField{
				{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "h"},
				{Name: ":path", Value: "/"},
			} {
				if err := fields.WriteField(field); err != nil {
					t.Fatal(err)
				}
			}
			err = errors.Join(
				framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}),
				framer.WriteHeaders(http2.HeadersFrameParam{
					StreamID:      1,
					BlockFragment: block.Bytes(),
					EndStream:     true,
					EndHeaders:    true,
				}))
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(testkit.Timeout)); err != nil {
				t.Fatal(err)
			}
			for reset := false; !reset; {
				frame, err := framer.ReadFrame()
				if err != nil {
					t.Fatalf("read until the stream is reset: %v", err)
				}
				_, reset = frame.(*http2.RSTStreamFrame)
			}
			if name == "in the handler" {
				testkit.Eventually(t, "the slow reader is logged", func() bool { return log.HasLine("kind=slow_readers") })
			}
		})
	}
}

// deadlines is a response that records its write deadlines.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

func (d *deadlines) Flush() {}

// Each chunk has a deadline, and the pause after it has none.
func TestStreamWriter_Deadlines(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	response := &deadlines{ResponseWriter: recorder}
	began := time.Now()
	w := newStreamWriter(response, New(0, 0, nil, refusal.NewRecorder(nil, slog.New(slog.DiscardHandler), time.Now)))
	if n, err := w.Write(make([]byte, 2*writeChunkSize+1)); err != nil || n != 2*writeChunkSize+1 {
		t.Fatalf("got %d bytes written, %v, want %d", n, err, 2*writeChunkSize+1)
	}
	w.Flush()
	if recorder.Body.Len() != 2*writeChunkSize+1 || len(response.set) != 8 {
		t.Fatalf("got %d bytes and %d deadlines, want %d and two for each of three chunks and a flush",
			recorder.Body.Len(), len(response.set), 2*writeChunkSize+1)
	}
	for i, deadline := range response.set {
		before := i%2 == 0
		if isSet := !deadline.Before(began.Add(WriteTimeout)); isSet != before || !before && !deadline.IsZero() {
			t.Errorf("deadline %d: got %s, want one before a chunk and none after it", i, deadline)
		}
	}
}
