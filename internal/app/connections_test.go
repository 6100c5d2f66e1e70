package app

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/internal/refusal"
)

// bound serves a handler on 127.0.0.1 with bounds, and returns its address.
func bound(t *testing.T, h http.Handler, most, perAddress int, trusted ...string) (address string, log *buffer) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var prefixes []netip.Prefix
	for _, p := range trusted {
		prefixes = append(prefixes, netip.MustParsePrefix(p))
	}
	log = &buffer{}
	c := newConnections(l, most, perAddress, prefixes, refusal.NewRecorder(slog.New(slog.NewTextHandler(log, nil)), time.Now))
	s := &http.Server{Handler: h, ConnState: c.state}
	go func() { _ = s.Serve(c) }()
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

// ask sends a request on a connection of its own and returns the status.
func ask(address, path string, within time.Duration) (int, error) {
	client := http.Client{Timeout: within, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + address + path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// hang answers /hang when it is told to, and everything else at once.
func hang(until chan struct{}) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-until
		}
	})
}

func TestConnections_IdleOnesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string][2]int{"in all": {20, 0}, "of one address": {0, 20}} {
		t.Run(name, func(t *testing.T) {
			address, log := bound(t, hang(nil), limits[0], limits[1])
			for n := range 100 {
				c := dial(t, address)
				if n%2 == 0 { // answered once, and kept alive
					_, _ = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
					_, _ = http.ReadResponse(bufio.NewReader(c), nil)
				}
			}
			if status, err := ask(address, "/healthz", 5*time.Second); err != nil || status != http.StatusOK {
				t.Errorf("a request beside 100 idle connections: %d %v", status, err)
			}
			if log.String() != "" {
				t.Errorf("refused: %s", log.String())
			}
		})
	}
}

func TestConnections_BusyOnesOfOneAddressAreBounded(t *testing.T) {
	t.Parallel()
	until := make(chan struct{})
	address, log := bound(t, hang(until), 0, 5)
	busy(t, address, 5)
	if _, err := ask(address, "/", 5*time.Second); err == nil {
		t.Error("the sixth connection was served")
	}
	if !strings.Contains(log.String(), "kind=address_connections") {
		t.Errorf("the log: %q", log.String())
	}
	close(until)
	eventually(t, "a place is free", func() bool { status, _ := ask(address, "/", time.Second); return status == http.StatusOK })
}

func TestConnections_TrustedProxiesHaveNoBoundOfTheirOwn(t *testing.T) {
	t.Parallel()
	until := make(chan struct{})
	defer close(until)
	address, _ := bound(t, hang(until), 0, 5, "127.0.0.0/8")
	busy(t, address, 10)
	if status, err := ask(address, "/", 5*time.Second); err != nil || status != http.StatusOK {
		t.Errorf("%d %v", status, err)
	}
}

func TestConnections_AboveTheBoundInAllTheyWait(t *testing.T) {
	t.Parallel()
	until := make(chan struct{})
	address, log := bound(t, hang(until), 5, 0)
	busy(t, address, 5)
	done := make(chan error, 1)
	go func() {
		_, err := ask(address, "/", 10*time.Second)
		done <- err
	}()
	eventually(t, "the sixth waits", func() bool { return strings.Contains(log.String(), "kind=connections") })
	close(until)
	if err := <-done; err != nil {
		t.Errorf("who waited: %v", err)
	}
}

// busy opens connections whose requests are not answered yet.
func busy(t *testing.T, address string, n int) {
	t.Helper()
	for range n {
		_, _ = fmt.Fprintf(dial(t, address), "GET /hang HTTP/1.1\r\nHost: h\r\n\r\n")
	}
	time.Sleep(100 * time.Millisecond) // until the server has read them
}

// Who does not read is cut off; who reads slowly, but reads, gets all of it.
func TestWriteDeadlines(t *testing.T) {
	t.Parallel()
	const size = 32 << 20 // more than the kernel takes
	ended := make(chan error, 1)
	within := 500 * time.Millisecond
	address, log := bound(t, writeDeadlines(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, size))
		ended <- err
	}), within), 0, 0)
	c := dial(t, address)
	_, _ = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a reader that does not read got everything")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a reader that does not read is held")
	}
	eventually(t, "it is logged", func() bool { return strings.Contains(log.String(), "kind=slow_readers") })

	res, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	began, n := time.Now(), int64(0)
	for pause := true; ; pause = time.Since(began) < 3*within {
		if pause {
			time.Sleep(within / 10)
		}
		read, err := io.CopyN(io.Discard, res.Body, 256<<10)
		if n += read; err != nil {
			break
		}
	}
	if err := <-ended; err != nil || n < size {
		t.Errorf("a slow reader got %d of %d bytes in %s, %v", n, size, time.Since(began), err)
	}
}

// A writer without a connection, as tests have, is written to all the same.
func TestWriteDeadlines_NoConnection(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	writeDeadlines(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }), time.Second).
		ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	if rec.Body.String() != "hello" {
		t.Errorf("got %q", rec.Body.String())
	}
}
