package app

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"parley/internal/certificate"
	"parley/internal/config"
	"parley/internal/media/mediatest"
	"parley/internal/room"
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

// A start with a certificate that cannot be used says so, in the output too. Everything but TLS works, and TLS as
// soon as the files are correct.
func TestTLS_StartWithoutCertificate(t *testing.T) {
	good, other := testkit.NewCertificate(t, 1), testkit.NewCertificate(t, 2)
	for name, c := range map[string]struct {
		write func(t *testing.T, dir string)
		want  string
	}{
		"a key of another certificate": {func(t *testing.T, dir string) {
			testkit.Certificate{CertPEM: good.CertPEM, KeyPEM: other.KeyPEM}.Write(t, dir)
		}, "--tls-cert-file (PARLEY_TLS_CERT_FILE) must be a certificate in PEM, and --tls-key-file " +
			"(PARLEY_TLS_KEY_FILE) its key: tls: private key does not match public key"},
		"no files": {func(t *testing.T, dir string) {
			for _, name := range []string{"cert.pem", "key.pem"} {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}, "--tls-cert-file (PARLEY_TLS_CERT_FILE): cannot read the certificate: open "},
	} {
		t.Run(name, func(t *testing.T) {
			files := t.TempDir()
			s := runServer(t, func(cfg *config.Config) {
				cfg.TLSCertFile, cfg.TLSKeyFile = good.Write(t, files)
				c.write(t, files)
				cfg.PublicURL, cfg.HTTPListen, cfg.MetricsListen = "https://localhost:8443", "127.0.0.1:0", "127.0.0.1:0"
			})
			metrics := s.getPlain(s.app.MetricsListener, "/metrics", http.StatusOK)
			if !strings.Contains(metrics, "\nparley_certificate_expires_seconds 0\n") {
				t.Errorf("got the metrics %.300s, want parley_certificate_expires_seconds 0", metrics)
			}
			s.getPlain(s.app.HTTPListener, "/r/1", http.StatusPermanentRedirect)
			s.getPlain(s.app.Listener, "/r/1", http.StatusPermanentRedirect)
			address := s.app.Listener.Addr().String()
			if conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}); err == nil {
				_ = conn.Close()
				t.Error("handshake without a certificate: got no error, want one")
			}
			if got := s.out.String(); !strings.Contains(got, c.want) {
				t.Errorf("got the output\n%s\nwant %s", got, c.want)
			}
			if got := s.log.String(); !strings.Contains(got, "level=ERROR") || !strings.Contains(got, c.want) {
				t.Errorf("got the log\n%s\nwant an error with %s", got, c.want)
			}
			if got := s.app.certificateFindings(time.Now()); len(got) != 1 || got[0].ID != "certificate_missing" {
				t.Errorf("got the findings %v, want certificate_missing", got)
			}
			good.Write(t, files)
			s.awaitHealth()
			if got := s.app.certificateFindings(time.Now()); len(got) > 0 {
				t.Errorf("with the certificate: got the findings %v, want none", got)
			}
			if strings.Contains(s.log.String(), "PRIVATE KEY") {
				t.Error("got a key in the log, want none")
			}
		})
	}
}

// getPlain requests a path over HTTP, waits until the status is as wanted, and returns the body.
func (s *server) getPlain(l net.Listener, path string, want int) (body string) {
	s.t.Helper()
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DisableKeepAlives: true},
	}
	testkit.Eventually(s.t, fmt.Sprintf("status %d at %s", want, path), func() bool {
		res, err := client.Get("http://" + l.Addr().String() + path)
		if err != nil {
			return false
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		body = string(raw)
		return err == nil && res.StatusCode == want
	})
	return body
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

// The port for HTTPS also carries media of a participant whose network blocks UDP, and redirects
// HTTP. It counts each kind of connection.
func TestTLS_MediaOverTCP(t *testing.T) {
	certificate := testkit.NewCertificate(t, 1)
	port := testkit.FreeTCPPort(t)
	s := startServer(t, func(cfg *config.Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = certificate.Write(t, cfg.DataDir)
		cfg.Listen = fmt.Sprintf("127.0.0.1:%d", port)
		cfg.PublicURL, cfg.MetricsListen = fmt.Sprintf("https://localhost:%d", port), "127.0.0.1:0"
	})
	id, link := s.createRoom(3, 60)
	enter := func(name, seatKey string, network mediatest.Network) *mediatest.Participant {
		t.Helper()
		network.TLS = &tls.Config{RootCAs: certificate.Pool}
		return s.speak(id, link, name, seatKey, network)
	}
	amina := enter("Amina", hostKey, mediatest.Network{})
	for way, other := range map[room.ConnectionType]*mediatest.Participant{
		room.ConnectionTCP:  enter("Bela", guestKey, mediatest.Network{TCP: true}),
		room.ConnectionTURN: enter("Carla", thirdKey, mediatest.Network{Relay: "turn"}),
	} {
		if err := other.AwaitPacketsFrom(t.Context(), amina.Identity(), mediatest.Microphone); err != nil {
			t.Errorf("over %s: %v", way, err)
		}
		if err := amina.AwaitPacketsFrom(t.Context(), other.Identity(), mediatest.Microphone); err != nil {
			t.Errorf("over %s: %v", way, err)
		}
		if got := s.app.engine.ConnectionType(id+".1", other.Identity()); got != way {
			t.Errorf("got a connection over %q, want %q", got, way)
		}
	}
	redirects := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := redirects.Get(fmt.Sprintf("http://127.0.0.1:%d/r/1", port))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	redirects.CloseIdleConnections()
	if got, want := res.Header.Get("Location"), s.app.BaseURL()+"/r/1"; got != want {
		t.Errorf("HTTP on the port for HTTPS: got status %d to %q, want a redirect to %q", res.StatusCode, got, want)
	}
	metrics, err := http.Get("http://" + s.app.MetricsListener.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(metrics.Body)
	_ = metrics.Body.Close()
	for _, kind := range []string{"https", "http", "ice_tcp", "turn_tcp"} {
		if !regexp.MustCompile(`(?m)^parley_connections_total\{kind="` + kind + `"\} [1-9]`).Match(text) {
			t.Errorf("connections of the kind %s: got none, want some", kind)
		}
	}
}

// speak joins a room over a network, with a microphone.
func (s *server) speak(id, link, name, seatKey string, network mediatest.Network) *mediatest.Participant {
	s.t.Helper()
	_, token, _ := strings.Cut(link, "#t=")
	a, err := s.app.rooms.ReserveSeat(s.t.Context(), id,
		room.JoinRequest{LinkToken: token, SeatKey: seatKey, Name: name})
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := network.Join(s.t.Context(), s.app.BaseURL(), a.Token)
	if err != nil {
		s.t.Fatalf("join with the network %+v: got %v, want no error", network, err)
	}
	s.t.Cleanup(p.Leave)
	if err := p.Publish(s.t.Context(), "mic", mediatest.Microphone); err != nil {
		s.t.Fatal(err)
	}
	return p
}

// With --no-turn, pages get no TURN server, and the port for HTTPS closes connections of TURN.
func TestTLS_WithoutTURN(t *testing.T) {
	certificate := testkit.NewCertificate(t, 1)
	s := startServer(t, func(cfg *config.Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = certificate.Write(t, cfg.DataDir)
		cfg.Listen = fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t))
		cfg.PublicURL, cfg.TURN = "https://"+strings.Replace(cfg.Listen, "127.0.0.1", "localhost", 1), false
	})
	id, link := s.createRoom(3, 60)
	_, token, _ := strings.Cut(link, "#t=")
	a, err := s.app.rooms.ReserveSeat(t.Context(), id,
		room.JoinRequest{LinkToken: token, SeatKey: hostKey, Name: "Amina"})
	if err != nil {
		t.Fatal(err)
	}
	network := mediatest.Network{TLS: &tls.Config{RootCAs: certificate.Pool}, TCP: true}
	p, err := network.Join(t.Context(), s.app.BaseURL(), a.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Leave)
	if servers := p.JoinResponse().IceServers; len(servers) > 0 {
		t.Errorf("got the ICE servers %v, want none", servers)
	}
	conn, err := net.Dial("tcp", s.app.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	allocate := "\x00\x03\x00\x00\x21\x12\xa4\x42ABCDEFGHIJKL" // a request of TURN
	if _, err := io.WriteString(conn, allocate); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(testkit.Timeout)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a request of TURN: got %d bytes, %v, want a closed connection", n, err)
	}
}

// What is wrong with the certificates is a finding: that a name has none, that one expires or has expired. A name
// without a certificate hides nothing about the others.
func TestTLS_CertificateFindings(t *testing.T) {
	t.Parallel()
	a := &App{}
	if got := a.certificateFindings(time.Now()); len(got) > 0 {
		t.Errorf("without TLS: got %v, want no findings", got)
	}
	leaf := testkit.NewCertificate(t, 1).Pair.Leaf // of localhost, for 91 days
	end := leaf.NotAfter
	at := end.UTC().Format(time.RFC3339)
	const day = 24 * time.Hour
	none := "certificate_missing error The node has no TLS certificate yet, so browsers cannot connect."
	partly := "certificate_missing error The node has no TLS certificate yet for www.example.org, so browsers cannot " +
		"connect there."
	soon := "certificate_expires warning The TLS certificate of localhost expires at " + at + "."
	over := "certificate_expires error The TLS certificate of localhost expired at " + at + ", so browsers refuse the " +
		"pages."
	www, two := []string{"www.example.org"}, []string{"www.example.org", "example.org"}
	failure := certificate.Failure{Cause: "connection refused", Remedy: "Open TCP port 443."}
	closed := func(names ...string) map[string]certificate.Failure {
		failures := map[string]certificate.Failure{}
		for _, name := range names {
			failures[name] = failure
		}
		return failures
	}
	for _, c := range []struct {
		name   string
		source leafSource
		now    time.Time
		want   []string
	}{
		{"none", leafSource{missing: www}, end, []string{none}},
		{"15 days before its end", leafSource{leaf: leaf}, end.Add(-15 * day), nil},
		{"13 days before its end", leafSource{leaf: leaf}, end.Add(-13 * day), []string{soon}},
		{"after its end", leafSource{leaf: leaf}, end.Add(time.Second), []string{over}},
		{"one of two", leafSource{leaf: leaf, missing: www}, end.Add(-15 * day), []string{partly}},
		{"one of two, 13 days before its end", leafSource{leaf: leaf, missing: www}, end.Add(-13 * day),
			[]string{partly, soon}},
		{"two, which fail for one reason", leafSource{missing: two, failures: closed("www.example.org", "example.org")}, end,
			[]string{strings.Replace(none, ".", ": connection refused.", 1)}},
		{"two, one of which fails", leafSource{missing: two, failures: closed("www.example.org")}, end,
			[]string{strings.Replace(partly, "there.", "there: connection refused.", 1),
				strings.Replace(partly, "www.", "", 1)}},
		{"13 days before its end, after a failure", leafSource{leaf: leaf, failures: closed("localhost")}, end.Add(-13 * day),
			[]string{strings.TrimSuffix(soon, ".") + ", and it could not be replaced: connection refused."}},
	} {
		a.certificate = c.source
		var got []string
		for _, f := range a.certificateFindings(c.now) {
			got = append(got, fmt.Sprintf("%s %s %s", f.ID, f.Level, f.Text))
			failed := strings.Contains(f.Text, failure.Cause)
			if f.Action == "" || failed != (f.Action == failure.Remedy) {
				t.Errorf("%s: got the action %q of %q, want that of its failure", c.name, f.Action, f.Text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got the findings %q, want %q", c.name, got, c.want)
		}
	}
}

// leafSource is a source with the certificate that expires first, names that have none, and why.
type leafSource struct {
	certificate.Source
	leaf     *x509.Certificate
	missing  []string
	failures map[string]certificate.Failure
}

func (s leafSource) Failure(name string) certificate.Failure { return s.failures[name] }

func (s leafSource) Leaf() (*x509.Certificate, []string) { return s.leaf, s.missing }

// The log warns every twelve hours while the certificate is about to expire, and not after it was renewed.
func TestTLS_CertificateWatch(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		validity, quiet time.Duration // quiet is the time without a warning
	}{
		"of 91 days": {91 * day, 77 * day},
		"of 5 days":  {5 * day, 4 * day},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testCertificateWatch(t, c.validity, c.quiet) })
		})
	}
}

func testCertificateWatch(t *testing.T, validity, quiet time.Duration) {
	begin := time.Now()
	end := begin.Add(validity)
	source := &changingSource{}
	source.leaf.Store(&x509.Certificate{DNSNames: []string{"meet.example.org"}, NotBefore: begin, NotAfter: end})
	var log testkit.Buffer
	a := &App{certificate: source, log: slog.New(slog.NewTextHandler(&log, nil))}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		a.watchCertificate(ctx)
		close(done)
	}()
	assertWarnings := func(want int) {
		t.Helper()
		synctest.Wait()
		const text = `level=WARN msg="the TLS certificate expires soon or has expired`
		got := strings.Count(log.String(), text)
		if got != want || want > 0 && !log.HasLine(text, "names=[meet.example.org]", "expires="+end.Format(time.DateOnly)) {
			t.Errorf("after %v: got %d warnings, want %d with the name and the end %v:\n%s", time.Since(begin), got, want, end,
				log.String())
		}
	}
	time.Sleep(quiet)
	assertWarnings(0)
	time.Sleep(certificateInterval)
	assertWarnings(1)
	time.Sleep(certificateInterval)
	assertWarnings(2)
	source.leaf.Store(&x509.Certificate{NotBefore: time.Now(), NotAfter: time.Now().Add(validity)})
	time.Sleep(2 * certificateInterval)
	assertWarnings(2)
	stop()
	<-done
}

// changingSource is a source whose certificate is replaced.
type changingSource struct {
	certificate.Source
	leaf atomic.Pointer[x509.Certificate]
}

func (s *changingSource) Leaf() (*x509.Certificate, []string) { return s.leaf.Load(), nil }
