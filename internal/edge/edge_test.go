package edge

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"parley/internal/testkit"
)

// edgeTest is an Edge on 127.0.0.1 whose connections answer with their kind.
type edgeTest struct {
	*Edge
	address string
	client  *tls.Config

	mu     sync.Mutex
	counts map[Kind]int
}

func serveEdge(t *testing.T, timeout time.Duration) *edgeTest {
	t.Helper()
	certificate := testkit.NewCertificate(t, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &edgeTest{address: l.Addr().String(), client: &tls.Config{RootCAs: certificate.Pool, ServerName: "localhost"},
		counts: make(map[Kind]int)}
	// A protocol after those of HTTP, such as that of the ACME client.
	secure := &tls.Config{Certificates: []tls.Certificate{certificate.Pair}, NextProtos: []string{"acme-tls/1"}}
	e.Edge = New(l, 8443, secure, func(kind Kind) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.counts[kind]++
	}, slog.New(slog.DiscardHandler))
	e.firstBytesTimeout = timeout
	for name, l := range map[string]net.Listener{"https": e.HTTPS(), "http": e.HTTP(), "ice": e.ICE(), "turn": e.TURN()} {
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer func() { _ = conn.Close() }()
					first := make([]byte, 4)
					if _, err := io.ReadFull(conn, first); err == nil {
						_, _ = conn.Write(append([]byte(name+" "), first...))
					}
				}()
			}
		}()
		t.Cleanup(func() { _ = l.Close() })
	}
	done := make(chan error, 1)
	go func() { done <- e.Serve() }()
	t.Cleanup(func() {
		_ = e.Close()
		if err := <-done; err != nil {
			t.Errorf("got %v, want no error after Close", err)
		}
	})
	return e
}

func (e *edgeTest) count(kind Kind) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counts[kind]
}

// exchange sends bytes in pieces, and returns the response until the server closes the connection.
func exchange(t *testing.T, conn net.Conn, sent []byte, piece int) string {
	t.Helper()
	defer func() { _ = conn.Close() }()
	for len(sent) > 0 {
		n := min(piece, len(sent))
		if _, err := conn.Write(sent[:n]); err != nil {
			break // the server has seen enough
		}
		sent = sent[n:]
	}
	if err := conn.SetReadDeadline(time.Now().Add(testkit.Timeout)); err != nil {
		t.Fatal(err)
	}
	response, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is open, want it closed")
	}
	return string(response)
}

var (
	stunMessage = stun.MustBuild(stun.TransactionID, stun.BindingRequest).Raw
	iceMessage  = append([]byte{0, byte(len(stunMessage))}, stunMessage...)
)

func TestEdge_Sorts(t *testing.T) {
	t.Parallel()
	e := serveEdge(t, firstBytesTimeout)
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", e.address)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	dialTLS := func(protocols ...string) func() net.Conn {
		return func() net.Conn {
			conf := e.client.Clone()
			conf.NextProtos = protocols
			conn, err := tls.Dial("tcp", e.address, conf)
			if err != nil {
				t.Fatal(err)
			}
			if len(protocols) == 1 && conn.ConnectionState().NegotiatedProtocol != protocols[0] {
				t.Errorf("got the protocol %q, want %q", conn.ConnectionState().NegotiatedProtocol, protocols[0])
			}
			return conn
		}
	}
	wrongCookie := bytes.Clone(iceMessage)
	wrongCookie[7]++
	for _, c := range []struct {
		name  string
		dial  func() net.Conn
		bytes string
		kind  Kind
		want  string
	}{
		{"HTTP", dial, "GET / HTTP/1.1\r\n\r\n", HTTP, "http GET "},
		{"HTTP in lower case", dial, "get / HTTP/1.1\r\n\r\n", HTTP, "http get "},
		{"TURN", dial, string(stunMessage), TURN, "turn " + string(stunMessage[:4])},
		{"ICE", dial, string(iceMessage), ICE, "ice " + string(iceMessage[:4])},
		{"HTTP/2", dialTLS("h2"), "PRI * HTTP/2.0\r\n", HTTPS, "https PRI "},
		{"HTTP/1.1 over TLS", dialTLS("http/1.1"), "GET / HTTP/1.1\r\n", HTTPS, "https GET "},
		{"HTTP over TLS without a protocol", dialTLS(), "GET / HTTP/1.1\r\n", HTTPS, "https GET "},
		{"TURN over TLS", dialTLS(), string(stunMessage), TURNS, "turn " + string(stunMessage[:4])},
		{"TURN over TLS with its protocol", dialTLS("stun.turn"), string(stunMessage), TURNS, "turn " + string(stunMessage[:4])},
		{"ICE over TLS", dialTLS(), string(iceMessage), Other, ""},
		{"TLS over TLS", dialTLS(), "\x16\x03\x01\x00\x10", Other, ""},
		{"the challenge of ACME", dialTLS("acme-tls/1"), "", Other, ""},
		{"SSH", dial, "\x00\x00\x00\x0aSSH-2.0-x", Other, ""},
		{"a wrong cookie", dial, string(wrongCookie), Other, ""},
		{"a high byte", dial, "\xff\xff\xff\xff", Other, ""},
		{"TLS that is none", dial, "\x16\x03\x01\x00\x04GET /", Other, "\x15\x03\x01\x00\x02\x02P"}, // an alert
	} {
		for _, piece := range []int{1, 1 << 10} {
			before := e.count(c.kind)
			if got := exchange(t, c.dial(), []byte(c.bytes), piece); got != c.want {
				t.Errorf("%s in pieces of %d: got %q, want %q", c.name, piece, got, c.want)
			}
			testkit.Eventually(t, "one connection more of the kind "+string(c.kind)+": "+c.name,
				func() bool { return e.count(c.kind) == before+1 })
		}
	}
}

// A connection that sends nothing, or not enough, is closed.
func TestEdge_Silence(t *testing.T) {
	t.Parallel()
	e := serveEdge(t, 200*time.Millisecond)
	for _, sent := range []string{"", "\x00\x01", "\x16\x03\x01"} {
		conn, err := net.Dial("tcp", e.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := exchange(t, conn, []byte(sent), 9); got != "" {
			t.Errorf("after %q: got %q, want nothing", sent, got)
		}
	}
	if conn, err := tls.Dial("tcp", e.address, e.client); err == nil { // otherwise the machine is slow
		if got := exchange(t, conn, nil, 1); got != "" {
			t.Errorf("after the handshake: got %q, want nothing", got)
		}
	}
	testkit.Eventually(t, "all are counted", func() bool { return e.count(Other) == 4 })
}

// After Close, connections that are not sorted yet do not stay.
func TestEdge_Close(t *testing.T) {
	t.Parallel()
	e := serveEdge(t, time.Hour)
	conn, err := net.Dial("tcp", e.address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "\x00"); err != nil {
		t.Fatal(err)
	}
	http, err := net.Dial("tcp", e.address)
	if err != nil {
		t.Fatal(err)
	}
	_ = exchange(t, http, []byte("GET "), 4) // so that the first connection was accepted
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	_ = exchange(t, conn, nil, 1)
}

// flakyListener fails to accept with an error that passes, and then accepts.
type flakyListener struct {
	net.Listener
	failures int
}

func (l *flakyListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// Too many open files end no server, and connections that nobody serves do not wait.
func TestEdge_Serve(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := New(&flakyListener{l, 2}, 443, &tls.Config{}, func(Kind) {}, slog.New(slog.DiscardHandler))
	done := make(chan error, 1)
	go func() { done <- e.Serve() }()
	_ = e.ICE().Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got := exchange(t, conn, iceMessage, 99); got != "" {
		t.Errorf("media without a server: got %q, want nothing", got)
	}
	waiting, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := waiting.Write(stunMessage); err != nil {
		t.Fatal(err)
	}
	_ = e.Close()
	if err := <-done; err != nil {
		t.Errorf("got %v, want no error", err)
	}
	_ = exchange(t, waiting, nil, 1)
}

// Pages get the public port in candidates of media.
func TestEdge_PublicPort(t *testing.T) {
	t.Parallel()
	e := serveEdge(t, firstBytesTimeout)
	if got := e.ICE().Addr().String(); !strings.HasSuffix(got, ":8443") {
		t.Errorf("got %s, want the public port", got)
	}
}
