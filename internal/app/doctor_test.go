package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/internal/api/httpx"
	"parley/internal/config"
	"parley/internal/conncheck"
	"parley/internal/doctor"
	"parley/internal/media/mediatest"
	"parley/internal/metrics"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/testkit"
)

// findingsThrough returns what the doctor finds at the public address of a server behind a proxy.
func findingsThrough(t *testing.T, s *server, rewrite func(*httputil.ProxyRequest)) []string {
	t.Helper()
	target, err := url.Parse("http://" + s.app.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		rewrite(r)
	}})
	defer proxy.Close()
	return publicFindings(t, s, proxy.URL)
}

// What a proxy in front of the server does wrong is found through it, and is no finding after the line of
// the finding was applied.
func TestDoctor_Proxy(t *testing.T) {
	s := startServer(t, nil)
	for _, c := range []struct {
		name    string
		rewrite func(*httputil.ProxyRequest)
		want    []string
	}{
		{"a proxy that passes on everything", func(*httputil.ProxyRequest) {}, nil},
		{"a proxy without WebSockets", func(r *httputil.ProxyRequest) {
			r.Out.Header.Del("Connection")
			r.Out.Header.Del("Upgrade")
		}, []string{"proxy_upgrade"}},
		{"a proxy that is not trusted", (*httputil.ProxyRequest).SetXForwarded, []string{"trusted_proxies"}},
	} {
		if got := findingsThrough(t, s, c.rewrite); !slices.Equal(got, c.want) {
			t.Errorf("%s: got the findings %v, want %v", c.name, got, c.want)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, func(cfg *config.Config) { cfg.TrustedProxies = []string{"127.0.0.1"} })
	for name, rewrite := range map[string]func(*httputil.ProxyRequest){
		"that is trusted":  (*httputil.ProxyRequest).SetXForwarded,
		"that may be none": func(*httputil.ProxyRequest) {},
	} {
		if got := findingsThrough(t, s, rewrite); len(got) > 0 {
			t.Errorf("a proxy %s: got the findings %v, want none", name, got)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, func(cfg *config.Config) {
		cfg.TrustedProxies, cfg.PublicURL = []string{"127.0.0.1"}, "https://localhost"
	})
	empty := func(r *httputil.ProxyRequest) { r.Out.Header["X-Forwarded-For"] = []string{"", " , "} }
	for name, rewrite := range map[string]func(*httputil.ProxyRequest){
		"no X-Forwarded-For":       func(*httputil.ProxyRequest) {},
		"an empty X-Forwarded-For": empty,
	} {
		if got, want := findingsThrough(t, s, rewrite), []string{"proxy_client_address"}; !slices.Equal(got, want) {
			t.Errorf("a proxy with %s: got the findings %v, want %v", name, got, want)
		}
	}
	if got := findingsThrough(t, s, (*httputil.ProxyRequest).SetXForwarded); len(got) > 0 {
		t.Errorf("a proxy with X-Forwarded-For: got the findings %v, want none", got)
	}
}

// publicFindings returns what the doctor finds at a public URL of a server.
func publicFindings(t *testing.T, s *server, publicURL string) (ids []string) {
	t.Helper()
	cfg := s.cfg
	cfg.PublicURL, cfg.Listen = publicURL, s.app.Listener.Addr().String()
	for _, result := range doctor.Run(t.Context(), cfg, false).Checks {
		if result.Check != "public_address" {
			continue
		}
		if result.Unknown != "" {
			t.Errorf("got %q, want a result", result.Unknown)
		}
		for _, f := range result.Findings {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// A public URL that leads to another server than the one on this machine is found, until it leads to this one.
func TestDoctor_OtherServer(t *testing.T) {
	s := startServer(t, nil)
	other := startProcess(t, processConfig{
		DataDir:   t.TempDir(),
		UDPPort:   testkit.FreeUDPPort(t),
		MasterKey: seal.NewKey().Reveal(),
	})
	var target atomic.Pointer[url.URL]
	lead := func(to string) {
		t.Helper()
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		target.Store(u)
	}
	forward := func(r *httputil.ProxyRequest) { r.SetURL(target.Load()) }
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: forward})
	defer proxy.Close()
	lead(other.url)
	if got, want := publicFindings(t, s, proxy.URL), []string{"public_other_server"}; !slices.Equal(got, want) {
		t.Errorf("to another server: got the findings %v, want %v", got, want)
	}
	lead("http://" + s.app.Listener.Addr().String())
	if got := publicFindings(t, s, proxy.URL); len(got) > 0 {
		t.Errorf("to this server: got the findings %v, want none", got)
	}
}

// A server that cannot take work is found, until it was started again.
func TestDoctor_ServerUnavailable(t *testing.T) {
	listen, dir := fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t)), t.TempDir()
	start := func() *server {
		return startServer(t, func(cfg *config.Config) { cfg.Listen, cfg.DataDir = listen, dir })
	}
	s := start()
	if err := s.app.db.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := publicFindings(t, s, "http://"+listen), []string{"server_unavailable"}; !slices.Equal(got, want) {
		t.Errorf("without a database: got the findings %v, want %v", got, want)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if got := publicFindings(t, start(), "http://"+listen); len(got) > 0 {
		t.Errorf("after a start: got the findings %v, want none", got)
	}
}

// A proxy that closes quiet WebSockets is found, and one that does not is not.
func TestDoctor_ProxyIdle(t *testing.T) {
	s := startServer(t, nil)
	cfg := s.cfg
	cfg.PublicURL = "http://" + forwardIdle(t, s.app.Listener.Addr().String(), 50*time.Millisecond)
	result := doctor.CheckQuiet(t.Context(), cfg, testkit.Timeout)
	if len(result.Findings) != 1 || result.Findings[0].ID != "proxy_idle" || result.Findings[0].Level != doctor.Error {
		t.Errorf("a proxy that waits 50 ms: got %+v, want the error proxy_idle", result)
	}
	cfg.PublicURL = "http://" + forwardIdle(t, s.app.Listener.Addr().String(), testkit.Timeout)
	if result = doctor.CheckQuiet(t.Context(), cfg, 100*time.Millisecond); result.Detail == "" {
		t.Errorf("a proxy that waits longer: got %+v, want no finding", result)
	}
}

// Quiet WebSockets are few at once, and do not outlive the server.
func TestDoctor_ProxyIdleLimit(t *testing.T) {
	s := startServer(t, nil)
	address := "ws" + strings.TrimPrefix(s.app.BaseURL(), "http") + doctor.QuietPath
	var open []*websocket.Conn
	for range maxQuiet {
		conn, res, err := websocket.DefaultDialer.Dial(address, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		t.Cleanup(func() { _ = conn.Close() })
		open = append(open, conn)
	}
	_, res, err := websocket.DefaultDialer.Dial(address, nil)
	if err == nil || res == nil || res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Errorf("one more than %d: got %v, %v, want status 429 with Retry-After", maxQuiet, res, err)
	}
	line := "path=" + doctor.QuietPath + " "
	testkit.Eventually(t, "the log has the refused WebSocket", func() bool { return s.log.HasLine(line) })
	if s.log.HasLine("level=ERROR", line) {
		t.Errorf("got the log %s, want no error about a refused WebSocket", s.log)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for _, conn := range open {
		if err := conn.SetReadDeadline(time.Now().Add(testkit.Timeout)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("after the stop: got %v, want a WebSocket that the server closed with status 1001", err)
		}
	}
}

// The lines of the log about quiet WebSockets are bounded, because strangers can ask for any number.
func TestLogLimit_Quiet(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	limit := newLogLimit(func() time.Time { return now })
	r := httptest.NewRequest(http.MethodGet, doctor.QuietPath, nil)
	logged := 0
	for range 2 * maxStrangerLines {
		if _, ok := limit(r, &httpx.RequestInfo{Status: http.StatusTooManyRequests}); ok {
			logged++
		}
	}
	if logged != maxStrangerLines {
		t.Errorf("got %d lines in ten seconds, want %d", logged, maxStrangerLines)
	}
}

// A server that stops during the check does not make its proxy a finding.
func TestDoctor_ProxyIdleStop(t *testing.T) {
	s := startServer(t, nil)
	target, err := url.Parse(s.app.BaseURL())
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan struct{})
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(*http.Response) error {
		close(opened)
		return nil
	}
	proxy := httptest.NewServer(forward)
	defer proxy.Close()
	cfg := s.cfg
	cfg.PublicURL = proxy.URL
	result := make(chan doctor.Result, 1)
	go func() { result <- doctor.CheckQuiet(t.Context(), cfg, testkit.Timeout) }()
	<-opened
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if got := <-result; got.Unknown == "" {
		t.Errorf("the server stops: got %+v, want an unknown result", got)
	}
}

// forwardIdle returns the address of a proxy that forwards to an address, and closes a connection in which it gets
// nothing from the server for a time.
func forwardIdle(t *testing.T, to string, idle time.Duration) (address string) {
	t.Helper()
	return testkit.StartProxy(t, to, nil, func(client, server net.Conn) {
		for b, received := make([]byte, 4096), 0; ; {
			if received > 0 { // it waits longer for a response
				_ = server.SetReadDeadline(time.Now().Add(idle))
			}
			n, err := server.Read(b)
			received += n
			if _, writeErr := client.Write(b[:n]); err != nil || writeErr != nil {
				return
			}
		}
	})
}

// A check from another machine joins over each path that the server offers, once for each code, and the
// operator sees the result.
func TestDoctor_Remote(t *testing.T) {
	s := startServer(t, nil)
	checks := s.app.checks
	created, code, err := checks.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report, err := doctor.RunRemote(t.Context(), s.app.BaseURL(), code.Reveal(), false)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{} // whether the check has a result that is fine
	for _, result := range report.Checks {
		got[result.Check] = result.Detail != ""
		if len(result.Findings) > 0 {
			t.Errorf("%s: got the findings %v, want none", result.Check, result.Findings)
		}
	}
	// A server without TLS has one path.
	want := map[string]bool{
		"public_address": true,
		"server_clock":   true,
		"media_udp":      true,
		"media_ice_tcp":  false,
		"media_turn_tcp": false,
		"media_turn_tls": false,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got the results %v, want %v", got, want)
	}
	c, state, err := checks.Get(t.Context(), created.ID)
	udp := conncheck.Path{
		Name:    "udp",
		Offered: true,
		Works:   true,
		Address: fmt.Sprintf("127.0.0.1:%d", s.cfg.RTCUDPPort),
	}
	paths := conncheck.Paths{udp, {Name: "ice_tcp"}, {Name: "turn_tcp"}, {Name: "turn_tls"}}
	if err != nil || state != conncheck.Finished || !slices.Equal(c.Paths, paths) {
		t.Errorf("got the check %+v, %s, %v, want it finished with the paths %+v", c, state, err, paths)
	}
	if _, err := doctor.RunRemote(t.Context(), s.app.BaseURL(), code.Reveal(), false); err == nil ||
		!strings.Contains(err.Error(), "was started already") {
		t.Errorf("the second use of a code: got the error %v, want that it was started already", err)
	}
	report, err = doctor.RunRemote(t.Context(), s.app.BaseURL(), "", false)
	if last := report.Checks[len(report.Checks)-1]; err != nil || last.Check != "media" || last.Unknown == "" {
		t.Errorf("without a code: got %+v, %v, want that media is unknown", report, err)
	}
}

// The connections of real participants are a finding if their network blocks UDP, or if many get no media, until those
// of the next ones are better.
func TestDoctor_Participants(t *testing.T) {
	testkit.Slow(t)
	certificate := testkit.NewCertificate(t, 1)
	port := testkit.FreeTCPPort(t)
	s := startServer(t, func(cfg *config.Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = certificate.Write(t, cfg.DataDir)
		cfg.Listen = fmt.Sprintf("127.0.0.1:%d", port)
		cfg.PublicURL = fmt.Sprintf("https://localhost:%d", port)
	})
	id, link := s.createRoom(30, 60)
	_, token, _ := strings.Cut(link, "#t=")
	secure := &tls.Config{RootCAs: certificate.Pool}
	seats := 0
	reserve := func() string {
		t.Helper()
		seats++
		a, err := s.app.rooms.ReserveSeat(t.Context(), id,
			room.JoinRequest{LinkToken: token, SeatKey: fmt.Sprintf("%043d", seats), Name: "Amina"})
		if err != nil {
			t.Fatal(err)
		}
		return a.Token
	}
	counted := func() int {
		c := s.app.metrics.Media.Connections()
		return c.UDP + c.TCP
	}
	join := func(network mediatest.Network, people int) {
		t.Helper()
		network.TLS = secure
		for range people {
			before := counted()
			p, err := network.Join(t.Context(), s.app.BaseURL(), reserve())
			if err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, "the server counts the participant", func() bool { return counted() > before })
			p.Leave()
		}
	}
	want := metrics.MediaConnections{}
	assert := func(when string, ids ...string) {
		t.Helper()
		testkit.Eventually(t, fmt.Sprintf("%s: the server counts %+v", when, want), func() bool {
			return s.app.metrics.Media.Connections() == want
		})
		s.app.machine.check(t.Context())
		if got := findingIDs(s.app.machine, "udp_unused", "participants_not_connected"); !slices.Equal(got, ids) {
			t.Errorf("%s: got the findings %v, want %v", when, got, ids)
		}
	}
	const people = 20
	join(mediatest.Network{TCP: true}, people)
	want.TCP = people
	assert("the network blocks UDP", "udp_unused")
	var blocked sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 5 {
		token := reserve()
		blocked.Go(func() {
			if _, err := (mediatest.Network{TLS: secure, Relay: "none"}).Join(ctx, s.app.BaseURL(), token); err == nil {
				t.Error("join without a path for media: got no error, want one")
			}
		})
	}
	join(mediatest.Network{}, people-5)
	want.UDP, want.NotConnected = people-5, 5
	assert("a quarter gets no media", "participants_not_connected")
	cancel()
	blocked.Wait()
	join(mediatest.Network{}, people)
	want.UDP += people
	assert("all get media over UDP")
}
