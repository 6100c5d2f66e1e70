package connlimit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"parley/internal/media/relay"
	"parley/internal/media/relay/relaytest"
	"parley/internal/refusal"
	"parley/internal/testkit"
)

// serveLimited serves a handler on 127.0.0.1 with connection limits and returns
// its address.
func serveLimited(t *testing.T, h http.Handler, most, perAddress int,
	trusted ...string) (address string, log *testkit.Buffer) {
	t.Helper()
	return serveLimitedWithin(t, h, WriteTimeout, most, perAddress, trusted...)
}

// serveLimitedWithin is serveLimited with a write timeout of its own.
func serveLimitedWithin(t *testing.T, h http.Handler, timeout time.Duration, most, perAddress int,
	trusted ...string) (address string, log *testkit.Buffer) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var prefixes []netip.Prefix
	for _, p := range trusted {
		prefixes = append(prefixes, netip.MustParsePrefix(p))
	}
	log = &testkit.Buffer{}
	c := New(most, perAddress, prefixes,
		refusal.NewRecorder(nil, slog.New(slog.NewTextHandler(log, nil)), time.Now))
	c.writeTimeout = timeout
	s := &http.Server{Handler: c.LimitRequests(h), ConnState: c.ConnState, ConnContext: WithConnection}
	go func() { _ = s.Serve(c.LimitConnections(l)) }()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String(), log
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// getStatus sends a request on a connection of its own and returns the status.
func getStatus(address, path string, within time.Duration) (int, error) {
	client := http.Client{Timeout: within, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + address + path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// blockingHandler answers requests for /hang after release is closed, and others at once.
type blockingHandler struct {
	release chan struct{}
	waiting atomic.Int32 // requests for /hang
}

func (h *blockingHandler) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/hang" {
		h.waiting.Add(1)
		<-h.release
	}
}

// openConnections opens connections with requests that wait in the handler.
func (h *blockingHandler) openConnections(t *testing.T, address string, n int32) {
	t.Helper()
	for range n {
		_, _ = fmt.Fprintf(dial(t, address), "GET /hang HTTP/1.1\r\nHost: h\r\n\r\n")
	}
	testkit.Eventually(t, fmt.Sprintf("%d requests wait", n), func() bool { return h.waiting.Load() == n })
}

func TestLimitListener_ReplacesIdleConnections(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string][2]int{"in all": {20, 0}, "of one address": {0, 20}} {
		t.Run(name, func(t *testing.T) {
			address, log := serveLimited(t, &blockingHandler{}, limits[0], limits[1])
			for n := range 100 {
				c := dial(t, address)
				if n%2 == 0 { // answered once, and kept alive
					_, _ = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
					_, _ = http.ReadResponse(bufio.NewReader(c), nil)
				}
			}
			if status, err := getStatus(address, "/healthz", 5*time.Second); err != nil || status != http.StatusOK {
				t.Errorf("a request beside 100 idle connections: got %d, %v, want 200", status, err)
			}
			if log.String() != "" {
				t.Errorf("got the log %q, want no refusal", log)
			}
		})
	}
}

func TestLimitListener_AddressLimit(t *testing.T) {
	t.Parallel()
	h := &blockingHandler{release: make(chan struct{})}
	address, log := serveLimited(t, h, 0, 5)
	h.openConnections(t, address, 5)
	if _, err := getStatus(address, "/", 5*time.Second); err == nil {
		t.Error("sixth connection: got a response, want an error")
	}
	if !strings.Contains(log.String(), "kind=address_connections") {
		t.Errorf("got the log %q, want kind=address_connections", log)
	}
	close(h.release)
	testkit.Eventually(t, "a new connection is served",
		func() bool { status, _ := getStatus(address, "/", time.Second); return status == http.StatusOK })
}

func TestLimitListener_TrustedProxyExempt(t *testing.T) {
	t.Parallel()
	h := &blockingHandler{release: make(chan struct{})}
	defer close(h.release)
	address, _ := serveLimited(t, h, 0, 5, "127.0.0.0/8")
	h.openConnections(t, address, 10)
	if status, err := getStatus(address, "/", 5*time.Second); err != nil || status != http.StatusOK {
		t.Errorf("a request through a trusted proxy: got %d, %v, want 200", status, err)
	}
}

func TestLimitListener_WaitsAtTotalLimit(t *testing.T) {
	t.Parallel()
	h := &blockingHandler{release: make(chan struct{})}
	address, log := serveLimited(t, h, 5, 0)
	h.openConnections(t, address, 5)
	done := make(chan error, 1)
	go func() {
		_, err := getStatus(address, "/", testkit.Timeout)
		done <- err
	}()
	testkit.Eventually(t, "the sixth connection waits", func() bool { return log.HasLine("kind=connections") })
	close(h.release)
	if err := <-done; err != nil {
		t.Errorf("request that waited: got error %v, want none", err)
	}
}

// Of many requests that one address does not finish, some wait and give way to others.
func TestLimitRequests(t *testing.T) {
	t.Parallel()
	h := &blockingHandler{release: make(chan struct{})}
	address, log := serveLimited(t, h, 400, 390)
	var waiting []net.Conn
	for range 380 {
		c := dial(t, address)
		_, _ = fmt.Fprintf(c, "GET /hang HTTP/1.1\r\nHost: h\r\n\r\n")
		waiting = append(waiting, c)
	}
	testkit.Eventually(t, "256 requests are in progress", func() bool { return h.waiting.Load() == maxRequestsPerAddress })

	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range 60 {
		c, err := other.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_, _ = fmt.Fprintf(c, "GET /hang HTTP/1.1\r\nHost: h\r\n\r\n")
	}
	testkit.Eventually(t, "60 requests of another address are in progress, too", func() bool {
		return h.waiting.Load() == maxRequestsPerAddress+60
	})
	if !log.HasLine("address_connections", "too many requests in progress of one address") {
		t.Errorf("got the log %q, want the refusal of the requests that gave way", log)
	}

	close(h.release)
	answered := 0
	for _, c := range waiting {
		if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && res.StatusCode == http.StatusOK {
			answered++
		}
	}
	if want := 380 - 40; answered != want {
		t.Errorf("answered requests of the first address: got %d, want %d, all that did not give way", answered, want)
	}
}

// Requests that wait for others of their address are answered after them.
func TestLimitRequests_Wait(t *testing.T) {
	t.Parallel()
	h := &blockingHandler{release: make(chan struct{})}
	address, log := serveLimited(t, h, 0, 2000)
	h.openConnections(t, address, maxRequestsPerAddress)
	c := dial(t, address)
	_, _ = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("before the others have ended: got %v, want no response", err)
	}
	_ = c.SetReadDeadline(time.Time{})
	close(h.release)
	if res, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("a request that waited: got %v, %v, want 200", res, err)
	}
	if log.String() != "" {
		t.Errorf("got the log %q, want no refusal", log)
	}
}

// A media connection counts as idle until its first packet.
func TestMediaListener(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limits := New(0, 10, nil,
		refusal.NewRecorder(nil, slog.New(slog.NewTextHandler(&testkit.Buffer{}, nil)), time.Now))
	media := limits.LimitMediaConnections(l)
	t.Cleanup(func() { _ = media.Close() })
	var received atomic.Int32 // connections with a packet
	go func() {
		for {
			c, err := media.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				packet := make([]byte, minPacketBytes)
				if _, err := io.ReadFull(c, packet); err == nil {
					received.Add(1)
					_, _ = io.Copy(io.Discard, c)
				}
			}()
		}
	}()
	sending := func() net.Conn {
		c := dial(t, l.Addr().String())
		_, _ = c.Write(make([]byte, minPacketBytes))
		return c
	}
	for range 9 {
		sending()
	}
	testkit.Eventually(t, "nine connections send", func() bool { return received.Load() == 9 })
	silent := dial(t, l.Addr().String())
	last := sending() // replaces the silent one
	testkit.Eventually(t, "the tenth sends", func() bool { return received.Load() == 10 })
	for name, c := range map[string]net.Conn{"silent": silent, "eleventh": sending()} {
		if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s connection: got %v, want it closed by the server", name, err)
		}
	}
	if _, err := last.Write([]byte("more")); err != nil {
		t.Errorf("connection with packets: got %v, want it open", err)
	}
}

// flakyListener fails to accept with an error that passes, some times or always, and otherwise accepts.
type flakyListener struct {
	net.Listener
	failures int // at first; -1 for always
	failed   chan struct{}
}

func (l *flakyListener) Accept() (net.Conn, error) {
	if l.failures == 0 {
		return l.Listener.Accept()
	}
	if l.failures > 0 {
		l.failures--
	}
	select {
	case l.failed <- struct{}{}:
	default:
	}
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

// Too many open files do not end Accept, after which the media engine would accept no connection any more.
func TestMediaListener_TooManyOpenFiles(t *testing.T) {
	t.Parallel()
	for name, failures := range map[string]int{"for a moment": 2, "until Close": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var log testkit.Buffer
			limits := New(0, 10, nil, refusal.NewRecorder(nil, slog.New(slog.NewTextHandler(&log, nil)), time.Now))
			flaky := &flakyListener{Listener: l, failures: failures, failed: make(chan struct{}, 1)}
			media := limits.LimitMediaConnections(flaky)
			t.Cleanup(func() { _ = media.Close() })
			accepted := make(chan error, 1)
			go func() {
				_, err := media.Accept()
				accepted <- err
			}()
			<-flaky.failed
			if failures < 0 {
				_ = media.Close()
				if err := <-accepted; err == nil {
					t.Error("after Close: got a connection, want an error")
				}
				return
			}
			dial(t, l.Addr().String())
			if err := <-accepted; err != nil {
				t.Errorf("got %v, want a connection", err)
			}
			if !log.HasLine("accept a connection for media failed", "too many open files") {
				t.Errorf("got the log %s, want the reason", log.String())
			}
		})
	}
}

// Media connections take at most half of all connections.
func TestMediaListener_Half(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limits := New(10, 0, nil,
		refusal.NewRecorder(nil, slog.New(slog.NewTextHandler(&testkit.Buffer{}, nil)), time.Now))
	media := limits.LimitMediaConnections(l)
	t.Cleanup(func() { _ = media.Close() })
	var open atomic.Int32
	go func() {
		for {
			c, err := media.Accept()
			if err != nil {
				return
			}
			open.Add(1)
			go func() {
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
				open.Add(-1)
			}()
		}
	}()
	var all []net.Conn
	for range 9 {
		c := dial(t, l.Addr().String())
		_, _ = c.Write(make([]byte, minPacketBytes))
		all = append(all, c)
	}
	for n, c := range all {
		if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if n < 5 {
			continue
		}
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d: got %v, want it closed by the server", n+1, err)
		}
	}
	if n := open.Load(); n != 5 {
		t.Errorf("got %d open connections, want 5", n)
	}
	for _, c := range all {
		_ = c.Close()
	}
	testkit.Eventually(t, "all are closed", func() bool { return open.Load() == 0 })
	_, _ = dial(t, l.Addr().String()).Write([]byte("more"))
	testkit.Eventually(t, "another one is accepted", func() bool { return open.Load() == 1 })
}

// A client of the TURN server that stops reading is disconnected, so that its slot is free for others.
func TestRelayConnections_WriteTimeout(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := &testkit.Buffer{}
	limits := New(0, 0, nil, refusal.NewRecorder(nil, slog.New(slog.NewTextHandler(log, nil)), time.Now))
	limits.writeTimeout = 2 * time.Second
	media, secret := relaytest.ListenUDP(t, "127.0.0.1"), []byte("a secret of the test")
	port := media.LocalAddr().(*net.UDPAddr).AddrPort()
	server, err := relay.Serve(relay.Config{
		Listener: limits.RelayConnections(limits.LimitConnections(untypedListener{l})),
		Secret:   secret,
		Own:      map[netip.AddrPort]netip.AddrPort{port: port},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })

	client := &stoppingReader{Conn: dial(t, l.Addr().String()), ended: t.Context().Done()}
	user, password := relay.Credentials(secret, []netip.AddrPort{port}, time.Now().Add(time.Hour))
	relayed, err := relaytest.NewClient(t, client, user, password).Allocate()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := relayed.WriteTo([]byte("hello"), media.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	if err := media.SetReadDeadline(time.Now().Add(testkit.Timeout)); err != nil {
		t.Fatal(err)
	}
	_, from, err := media.ReadFrom(make([]byte, 100))
	if err != nil {
		t.Fatal(err)
	}
	client.stopped.Store(true)
	go func() { // more than the kernel takes
		for n := 0; !log.HasLine("kind=slow_readers"); n++ {
			if _, err := media.WriteTo(make([]byte, 1200), from); err != nil {
				return
			}
			if n%16 == 0 {
				time.Sleep(time.Millisecond) // leaves the processor to the server
			}
		}
	}()
	testkit.Eventually(t, "the client is logged", func() bool { return log.HasLine("kind=slow_readers") })
	testkit.Eventually(t, "its slot is free", func() bool {
		limits.mu.Lock()
		defer limits.mu.Unlock()
		return limits.open == 0 && limits.media == 0
	})
}

// untypedListener hides that its connections are those of TCP, so that the kernel does not end them after
// unackedDataTimeout.
type untypedListener struct{ net.Listener }

// Accept returns the next connection.
func (l untypedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return struct{ net.Conn }{conn}, err
}

// stoppingReader is a connection that reads nothing once it is stopped.
type stoppingReader struct {
	net.Conn
	stopped atomic.Bool
	ended   <-chan struct{}
}

// Read waits for the end of the test if the connection is stopped.
func (c *stoppingReader) Read(b []byte) (int, error) {
	if c.stopped.Load() {
		<-c.ended
	}
	return c.Conn.Read(b)
}

// TestLimitListener_WriteTimeout checks that a client that does not read is
// disconnected, and that a slow reader gets the whole response.
func TestLimitListener_WriteTimeout(t *testing.T) {
	t.Parallel()
	const size = 32 << 20 // more than the kernel takes
	ended := make(chan error, 1)
	within := 2 * time.Second
	address, log := serveLimitedWithin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/small" {
			_, _ = io.WriteString(w, "small")
			return
		}
		_, err := w.Write(make([]byte, size))
		ended <- err
	}), within, 0, 0)
	// Also in a later response of a connection, after which net/http has removed the deadline.
	for _, before := range []string{"", "GET /small HTTP/1.1\r\nHost: h\r\n\r\n"} {
		c := dial(t, address)
		_, _ = fmt.Fprint(c, before, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		select {
		case err := <-ended:
			if err == nil {
				t.Error("a client that does not read got the whole response, want it disconnected")
			}
		case <-time.After(testkit.Timeout):
			t.Fatalf("a client that does not read is connected after %s, want it disconnected", testkit.Timeout)
		}
	}
	testkit.Eventually(t, "the slow reader is logged", func() bool { return log.HasLine("kind=slow_readers") })

	res, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	began, n := time.Now(), int64(0)
	for pause := true; ; pause = time.Since(began) < 3*within {
		if pause {
			time.Sleep(within / 10) // a slow reader
		}
		read, err := io.CopyN(io.Discard, res.Body, 256<<10)
		if n += read; err != nil {
			break
		}
	}
	if err := <-ended; err != nil || n < size {
		t.Errorf("a slow reader: got %d bytes in %s, %v, want %d", n, time.Since(began), err, size)
	}
}
