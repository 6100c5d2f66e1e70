package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"parley/internal/config"
	"parley/internal/testkit"
)

// TestHealth_FullDisk checks that a database that answers but cannot write is
// reported as unhealthy.
func TestHealth_FullDisk(t *testing.T) {
	dir := t.TempDir()
	if runtime.GOOS != "linux" || syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m") != nil {
		t.Skip("a file system of a few megabytes needs Linux and root")
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	s := startServer(t, func(c *config.Config) { c.DataDir = filepath.Join(dir, "data") })
	health := func() (int, string) {
		answer, err := http.Get(s.app.BaseURL() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(body)
	}
	if status, body := health(); status != 200 || !strings.Contains(body, `"database":"ok"`) {
		t.Errorf("with free space: got %d %s, want 200 and database ok", status, body)
	}
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	_ = f.Close()
	testkit.Eventually(t, "the report says that the database is read-only", func() bool {
		status, body := health()
		return status == 503 && strings.Contains(body, `"database":"read_only"`) &&
			strings.Contains(body, `"status":"unavailable"`)
	})
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
}

func TestHealthAndMetrics_ReadOnly(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.MetricsListen = "127.0.0.1:0" })
	local := "http://" + s.app.listener.Addr().String()
	for _, url := range []string{local + "/healthz", local + "/metrics", "http://" +
		s.app.metrics.Addr().String() + "/metrics"} {
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
