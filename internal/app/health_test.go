package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/internal/config"
	"parley/internal/doctor"
)

// A process that cannot take work, for example because its database is gone, lives nevertheless.
func TestLive_WithoutDatabase(t *testing.T) {
	s := startServer(t, nil)
	if err := s.app.db.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/healthz": http.StatusServiceUnavailable, "/livez": http.StatusOK} {
		res, err := s.http.Get(s.app.BaseURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s without a database: got status %d, want %d", path, res.StatusCode, want)
		}
	}
}

// A server says at all its live paths which one it is, so that parley doctor notices when a name leads to another. It
// does not tell the IDs themselves.
func TestLive_SaysWhichServer(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.MetricsListen = "127.0.0.1:0" })
	id, err := s.app.db.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	node := s.app.rooms.NodeID()
	for _, url := range []string{s.app.BaseURL() + doctor.LivePath, s.app.BaseURL() + "/livez",
		"http://" + s.app.MetricsListener.Addr().String() + "/livez"} {
		res, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		var live doctor.Live
		err = json.NewDecoder(res.Body).Decode(&live)
		_ = res.Body.Close()
		if err != nil || live.Installation != doctor.HashID(id) || live.Node != doctor.HashID(node) ||
			strings.Contains(id+node, live.Installation) || strings.Contains(id+node, live.Node) {
			t.Errorf("%s: got %+v, %v, want texts for %s and %s", url, live, err, id, node)
		}
	}
}

func TestHealthAndMetrics_ReadOnly(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.MetricsListen = "127.0.0.1:0" })
	local := "http://" + s.app.Listener.Addr().String()
	for _, url := range []string{local + "/healthz", local + "/livez", local + "/metrics", "http://" +
		s.app.MetricsListener.Addr().String() + "/metrics"} {
		for _, method := range []string{"POST", "DELETE", "PUT", "OPTIONS"} {
			r, err := http.NewRequest(method, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+s.AdminToken)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != 405 || answer.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: got %d, Allow %q, want 405, GET, HEAD", method, url, answer.StatusCode,
					answer.Header.Get("Allow"))
			}
		}
	}
	const data = "default-src 'none'; frame-ancestors 'none'"
	const page = "script-src 'self'"
	for path, policy := range map[string]string{"/healthz": data, "/api/v3/x": data, "/r/x": page, "/docs": page} {
		answer, err := http.Get(local + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		h := answer.Header
		if h.Get("X-Content-Type-Options") != "nosniff" ||
			policy == page && (h.Get("Referrer-Policy") != "no-referrer" ||
				h.Get("Cross-Origin-Resource-Policy") != "same-origin") ||
			h.Get("Strict-Transport-Security") != "" || !strings.Contains(h.Get("Content-Security-Policy"), policy) {
			t.Errorf("GET %s: got headers %v, want policy %q without Strict-Transport-Security", path, h, policy)
		}
	}
	s.app.baseURL = "https://meet.example.org"
	w := httptest.NewRecorder()
	s.app.routes(routeHandlers{}, nil).ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
	if got := w.Header().Get("Strict-Transport-Security"); got != "max-age=2592000" {
		t.Errorf("with an https address: got Strict-Transport-Security %q, want max-age=2592000", got)
	}
}
