package app

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"parley/internal/api/manage"
	"parley/internal/config"
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
