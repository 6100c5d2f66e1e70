package app

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"parley/internal/config"
	"parley/internal/testkit"
)

// One port serves HTTP/2, HTTP/1.1 and the WebSocket of the media engine over TLS.
func TestTLS_OnePort(t *testing.T) {
	certificate := testkit.NewCertificate(t, 1)
	s := startServer(t, func(cfg *config.Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = certificate.Write(t, cfg.DataDir)
		cfg.PublicURL, cfg.MetricsListen = "https://localhost:8443", "127.0.0.1:0"
	})
	address := s.app.Listener.Addr().String()
	secure := &tls.Config{RootCAs: certificate.Pool}
	for _, c := range []struct {
		http2 bool
		want  string
	}{{true, "HTTP/2.0"}, {false, "HTTP/1.1"}} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: secure.Clone(), ForceAttemptHTTP2: c.http2}}
		res, err := client.Get("https://" + address + "/")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		client.CloseIdleConnections()
		if res.Proto != c.want || res.StatusCode != http.StatusOK {
			t.Errorf("got %s with status %d, want %s with 200", res.Proto, res.StatusCode, c.want)
		}
		if got := res.Header.Get("Strict-Transport-Security"); got == "" {
			t.Errorf("%s: got no Strict-Transport-Security, want one", res.Proto)
		}
	}
	dialer := websocket.Dialer{TLSClientConfig: secure.Clone()}
	_, res, err := dialer.Dial("wss://"+address+"/rtc?access_token=none", nil)
	if err == nil || res == nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a WebSocket with a wrong token: got %v, %v, want status 401 of the media engine", res, err)
	}
	res, err = http.Get("http://" + s.app.MetricsListener.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	metrics, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	const metric, day = "parley_certificate_expires_seconds", 24 * 60 * 60
	expires := regexp.MustCompile(`(?m)^` + metric + ` (\S+)`).FindSubmatch(metrics)
	if expires == nil {
		t.Fatalf("got no metric %s, want one", metric)
	}
	if seconds, err := strconv.ParseFloat(string(expires[1]), 64); err != nil || seconds < 90*day || seconds > 91*day {
		t.Errorf("%s: got %s, want almost 91 days", metric, expires[1])
	}
}

// The port for HTTP redirects pages, and refuses calls whose bodies were not encrypted.
func TestTLS_RedirectsHTTP(t *testing.T) {
	certificate := testkit.NewCertificate(t, 1)
	s := startServer(t, func(cfg *config.Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = certificate.Write(t, cfg.DataDir)
		cfg.PublicURL, cfg.HTTPListen = "https://localhost:8443", "127.0.0.1:0"
	})
	plain := "http://" + s.app.HTTPListener.Addr().String()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(plain + "/r/1?a=b%20c")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	const want = "https://localhost:8443/r/1?a=b%20c"
	if got := res.Header.Get("Location"); res.StatusCode != http.StatusPermanentRedirect || got != want {
		t.Errorf("a page: got status %d to %q, want 308 to %q", res.StatusCode, got, want)
	}
	for _, call := range []string{
		"POST /r/1 HTTP/1.1", "GET /api/v5/keys HTTP/1.1", "GET /rtc?access_token=t HTTP/1.1",
		"GET /%61pi/v5/keys HTTP/1.1", "GET /metrics HTTP/1.1", "GET /docs HTTP/1.1\r\nAuthorization: Bearer pt",
		"GET http:@example.com/ HTTP/1.1",
	} {
		conn, err := net.Dial("tcp", s.app.HTTPListener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, call+"\r\nHost: h\r\nContent-Length: 0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "use https://localhost:8443") {
			t.Errorf("%s: got status %d with %s, want 403 that names the URL", call, res.StatusCode, body)
		}
	}
}

// A connection whose handshake does not end must not keep others out.
func TestTLS_UnfinishedHandshake(t *testing.T) {
	certificate := testkit.NewCertificate(t, 1)
	s := startServer(t, func(cfg *config.Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = certificate.Write(t, cfg.DataDir)
		cfg.PublicURL, cfg.MaxConnections = "https://localhost:8443", 20
	})
	address := s.app.Listener.Addr().String()
	for range 40 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: certificate.Pool}}}
	res, err := client.Get("https://" + address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("beside 40 connections without a handshake: got status %d, want 200", res.StatusCode)
	}
	client.CloseIdleConnections()
}
