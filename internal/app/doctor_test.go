package app

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"

	"parley/internal/config"
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
