package app

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/media/mediatest"
	"parley/internal/overview"
	"parley/internal/testkit"
)

// A start without the port of --http-listen or --metrics-listen, which another program has, names the flag and works.
// Each address is served when its port is free.
func TestPorts_OptionalTaken(t *testing.T) {
	taken := make(map[string]net.Listener)
	for _, flag := range []string{"--http-listen", "--metrics-listen"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		taken[flag] = l
	}
	certificate := testkit.NewCertificate(t, 1)
	s := startServer(t, func(cfg *config.Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = certificate.Write(t, cfg.DataDir)
		cfg.PublicURL = "https://localhost:8443"
		cfg.HTTPListen = taken["--http-listen"].Addr().String()
		cfg.MetricsListen = taken["--metrics-listen"].Addr().String()
	})
	ports := func() (found int) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, "https://"+s.app.Listener.Addr().String()+"/api/manage/overview", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.AdminToken)
		var overview manage.Overview
		if status := s.do(r, &overview); status != http.StatusOK {
			t.Fatalf("read the overview: got status %d, want 200", status)
		}
		for _, f := range overview.Findings {
			if f.Id == "port" {
				found++
			}
		}
		return found
	}
	if got := ports(); got != len(taken) {
		t.Errorf("got %d findings about ports, want %d", got, len(taken))
	}
	for flag, l := range taken {
		want := flag + ": the address " + l.Addr().String() + " is already in use"
		for name, text := range map[string]string{"output": s.out.String(), "log": s.log.String()} {
			if !strings.Contains(text, want) {
				t.Errorf("got the %s\n%s\nwant %s", name, text, want)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s.getPlain(s.app.HTTPListener, "/r/1", http.StatusPermanentRedirect)
	s.getPlain(s.app.MetricsListener, "/metrics", http.StatusOK)
	if got := ports(); got != 0 {
		t.Errorf("with free ports: got %d findings about ports, want none", got)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", s.app.MetricsListener.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("after the stop: got a connection, want the socket closed")
	}
}

// A start without the UDP port for media, which another program has, names the flag and works: people meet over TCP and
// TURN, and the other program gets nothing of that. With a free port, nothing is found.
func TestPorts_MediaTaken(t *testing.T) {
	port := testkit.FreeUDPPort(t)
	taken, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	certificate := testkit.NewCertificate(t, 1)
	settings := func(cfg *config.Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = certificate.Write(t, t.TempDir())
		cfg.Listen = fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t))
		cfg.PublicURL = "https://" + strings.Replace(cfg.Listen, "127.0.0.1", "localhost", 1)
		cfg.RTCUDPPort = port
	}
	s := startServer(t, settings)
	want := fmt.Sprintf("The server cannot open its ports: --rtc-udp-port (PARLEY_RTC_UDP_PORT): UDP port %d on "+
		"127.0.0.1 is already in use: stop the other program, or choose another port. Without it, until the next start, "+
		"media uses TCP, with more delay.", port)
	const change = "--rtc-udp-port PORT, with a port that is free"
	if got := s.out.String(); !strings.Contains(got, want+"\nChange: "+change+"\n") {
		t.Errorf("got the output\n%s\nwant %s", got, want)
	}
	if got := readHealth(s); got["status"] != "ok" || got["media"] != "ok" || got["media_udp"] != "unavailable" {
		t.Errorf("/healthz: got %v, want status and media ok, and media_udp unavailable", got)
	}
	found := s.app.healthFindings(t.Context(), time.Now())
	isPort := func(f overview.Finding) bool { return f.ID == "port" }
	i := slices.IndexFunc(found, isPort)
	if i < 0 || found[i].Text != want || found[i].Action != change || found[i].Level != overview.Warning {
		t.Errorf("got the findings %+v, want the warning port, %s", found, want)
	}
	id, link := s.createRoom(3, 60)
	networks := map[string]mediatest.Network{hostKey: {TCP: true}, guestKey: {Relay: "turn"}}
	people := make(map[string]*mediatest.Participant)
	for key, network := range networks {
		network.TLS = &tls.Config{RootCAs: certificate.Pool}
		people[key] = s.speak(id, link, "Amina", key, network)
	}
	for key, p := range people {
		for _, other := range people {
			if other == p {
				continue
			}
			if err := p.AwaitPacketsFrom(t.Context(), other.Identity(), mediatest.Microphone); err != nil {
				t.Errorf("over the network %+v: %v", networks[key], err)
			}
		}
	}
	if _, err := taken.WriteTo([]byte("last"), taken.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1500)
	n, from, err := taken.ReadFrom(first) // in the order in which they came
	if err != nil {
		t.Fatal(err)
	}
	if string(first[:n]) != "last" {
		t.Errorf("the other program: got %d bytes from %s, want only those of the test", n, from)
	}
	for _, p := range people {
		p.Leave()
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the server finds that the port is free", func() bool {
		return s.app.engine.TryUnopenedPorts()[0].Free
	})
	found = s.app.healthFindings(t.Context(), time.Now())
	want = fmt.Sprintf("UDP port %d of --rtc-udp-port (PARLEY_RTC_UDP_PORT) was in use when the server started, and is "+
		"free now. Without it, until the next start, media uses TCP, with more delay.", port)
	if i := slices.IndexFunc(found, isPort); i < 0 || found[i].Text != want ||
		found[i].Action != "Restart the server: systemctl restart parley" || found[i].Level != overview.Warning {
		t.Errorf("before a restart with the free port: got the findings %+v, want the warning port, %s", found, want)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, settings)
	found = s.app.healthFindings(t.Context(), time.Now())
	if got := readHealth(s); len(found) > 0 || got["media_udp"] != "" {
		t.Errorf("after a restart with the free port: got the findings %+v and %v of /healthz, want none", found, got)
	}
}

// readHealth returns what /healthz responds.
func readHealth(s *server) (report map[string]string) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.app.BaseURL()+"/healthz", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if status := s.do(r, &report); status != http.StatusOK {
		s.t.Errorf("/healthz: got status %d, want 200", status)
	}
	return report
}

// A server stops although it still waits for the port of an optional address.
func TestPorts_StopWithoutOptional(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	s := startServer(t, func(cfg *config.Config) { cfg.MetricsListen = l.Addr().String() })
	if err := s.stop(); err != nil {
		t.Errorf("stop without the port of --metrics-listen: got %v, want no error", err)
	}
}
