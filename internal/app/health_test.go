package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"parley/internal/config"
	"parley/internal/testkit"
)

// TestHealth_DatabaseCannotWrite checks that a database that answers but cannot write, for
// example because the disk is full, is reported as unhealthy. A limit on the size of files
// makes its writes fail.
func TestHealth_DatabaseCannotWrite(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.RateLimitsEnabled = false })
	reports := func(status int, database string) bool {
		answer, err := http.Get(s.app.BaseURL() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		var report map[string]string
		err = json.NewDecoder(answer.Body).Decode(&report)
		return err == nil && answer.StatusCode == status && report["database"] == database
	}
	testkit.Eventually(t, "status 200 and database ok", func() bool { return reports(200, "ok") })

	limitFileSize(t, 1<<16)
	testkit.Eventually(t, "status 503 and database read_only", func() bool {
		_, _ = s.tryCreateRoom(s.APIKey, 2) // writes until a file reaches the limit
		return reports(503, "read_only")
	})
}

// limitFileSize makes writes beyond a size fail for all files of this process until the test
// ends.
func limitFileSize(t *testing.T, size uint64) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // would end the process
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
}

func TestHealthAndMetrics_ReadOnly(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.MetricsListen = "127.0.0.1:0" })
	local := "http://" + s.app.listener.Addr().String()
	for _, url := range []string{local + "/healthz", local + "/metrics", "http://" +
		s.app.metricsListener.Addr().String() + "/metrics"} {
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
