package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"parley/internal/api/httpx"
	"parley/internal/config"
	"parley/internal/testkit"
)

// TestMetrics_Lint checks the metrics as "promtool check metrics" does, which uses the same
// package.
func TestMetrics_Lint(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.BackupDir, c.BackupEvery = t.TempDir(), config.Duration(1e12) })
	text := s.metrics()
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, want := range []string{"\nparley_build_info{", "\ngo_goroutines ", "\nprocess_open_fds ",
		"\nparley_health{part=\"database\"} 1\n", "\nparley_health{part=\"media\"} 1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no line that begins with %q", want)
		}
	}
	if strings.Contains(text, "livekit_") {
		t.Error("got metrics of LiveKit, want none without --livekit-metrics-enabled")
	}
}

func TestMetrics_OfLiveKit(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.LiveKitMetricsEnabled = true })
	text := s.metrics()
	for _, want := range []string{"\nlivekit_", "\nparley_build_info{", "\ngo_goroutines ", "\nprocess_open_fds "} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no line that begins with %q, want it in\n%.500s", want, text)
		}
	}
}

// TestMetrics_ClosedSets sends requests with paths, methods and rooms of a client's choice,
// which must not become label values.
func TestMetrics_ClosedSets(t *testing.T) {
	s := startServer(t, nil)
	send := func(method, path, body string) {
		t.Helper()
		r, err := http.NewRequest(method, s.app.BaseURL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		s.do(r, nil)
	}
	const seat = `{"name":"Amina","seat_key":"0123456789abcdef0123456789abcdef"}`
	send("GET", "/api/v4/STRANGE", "")
	send("STRANGE", "/api/v5/keys", "")
	send("GET", "/api/STRANGE/rooms", "")
	send("GET", "/STRANGE", "")
	send("POST", "/api/join/rooms/STRANGE/seats", seat)
	send("POST", "/api/join/rooms/STRANGE/seats", "STRANGE")
	send("POST", "/rtc?access_token=STRANGE", "")
	send("GET", "/rtc?access_token=STRANGE", "")
	for _, want := range []string{ // a request is measured after its response
		`parley_http_request_duration_seconds_count{method="GET",route="v4",status="4xx"} 1`,
		`parley_http_request_duration_seconds_count{method="other",route="/api/v5/keys",status="4xx"} 1`,
		`parley_http_request_duration_seconds_count{method="POST",route="` + reserveSeatRoute + `",status="4xx"} 2`,
		`parley_seat_requests_total{outcome="rejected"} 2`,
		`parley_seat_rejections_total{cause="room_not_found"} 1`,
		`parley_seat_rejections_total{cause="invalid_request"} 1`,
		`parley_join_failures_total{cause="not_admitted"} 1`,
	} {
		testkit.Eventually(t, "the metrics have the line "+want, func() bool {
			return strings.Contains(s.metrics(), "\n"+want+"\n")
		})
	}
	for line := range strings.Lines(s.metrics()) {
		if strings.Contains(line, "STRANGE") {
			t.Errorf("the metrics contain a text of a client: %s", line)
		}
	}
}

// BenchmarkMeasure measures what the metrics add to each request.
func BenchmarkMeasure(b *testing.B) {
	a := &App{metrics: newMetrics(nil)}
	r := &http.Request{Method: http.MethodGet}
	info := &httpx.RequestInfo{Status: http.StatusOK, Duration: 3e6}
	b.ReportAllocs()
	for b.Loop() {
		a.measure(r, info, "/api/v5/keys")
	}
}
