package app

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"parley/internal/config"
	"parley/internal/conncheck"
	"parley/internal/doctor"
)

// findingsThrough returns what the doctor finds at the public address of a server behind a proxy.
func findingsThrough(t *testing.T, s *server, rewrite func(*httputil.ProxyRequest)) (ids []string) {
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
	cfg := s.cfg
	cfg.PublicURL = proxy.URL
	for _, result := range doctor.Run(t.Context(), cfg).Checks {
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
	if got := findingsThrough(t, s, (*httputil.ProxyRequest).SetXForwarded); len(got) > 0 {
		t.Errorf("a proxy that is trusted: got the findings %v, want none", got)
	}
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
	report, err := doctor.RunRemote(t.Context(), s.app.BaseURL(), code.Reveal())
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
	if _, err := doctor.RunRemote(t.Context(), s.app.BaseURL(), code.Reveal()); err == nil ||
		!strings.Contains(err.Error(), "was started already") {
		t.Errorf("the second use of a code: got the error %v, want that it was started already", err)
	}
	report, err = doctor.RunRemote(t.Context(), s.app.BaseURL(), "")
	if last := report.Checks[len(report.Checks)-1]; err != nil || last.Check != "media" || last.Unknown == "" {
		t.Errorf("without a code: got %+v, %v, want that media is unknown", report, err)
	}
}
