package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"parley/internal/api/httpx"
	"parley/internal/config"
	"parley/internal/store/storetest"
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

// The receivers of this test deliver, fail and are gone. The gauges of the backlog have different values, so that none
// can stand for another.
func TestMetrics_Webhooks(t *testing.T) {
	began := time.Now()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(map[string]int{"/works": 200, "/fails": 500, "/gone": 410}[r.URL.Path])
	}))
	t.Cleanup(receiver.Close)
	s := startServer(t, func(c *config.Config) { c.WebhookAllowPrivate = true })
	manage := func(method, path, body string) {
		t.Helper()
		if status := s.send(method, "/api/manage"+path, body, "Authorization", "Bearer "+s.AdminToken); status/100 != 2 {
			t.Fatalf("%s %s: got status %d, want a success", method, path, status)
		}
	}
	sendTo := func(path string) {
		t.Helper()
		manage(http.MethodPatch, "/projects/"+s.ProjectID, fmt.Sprintf(`{"default_webhook_url":%q}`, receiver.URL+path))
		manage(http.MethodPost, "/projects/"+s.ProjectID+"/webhook-test", "")
	}
	attempts := func(outcome string) float64 {
		return s.metric(`parley_webhook_attempts_total{outcome="` + outcome + `"}`)
	}
	await := func(outcome string) {
		t.Helper()
		testkit.Eventually(t, "an attempt is counted as "+outcome, func() bool { return attempts(outcome) > 0 })
	}
	sendTo("/works")
	await("delivered")
	sendTo("/gone")
	await("gone")
	sendTo("/fails")
	await("retried")
	if got := attempts("failed"); got != 0 {
		t.Errorf("attempts counted as failed before the last one: got %v, want 0", got)
	}
	testkit.Eventually(t, "the last attempt of a delivery fails", func() bool {
		// A retry takes back one of the eleven attempts.
		if err := s.app.db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
			return s.app.db.Exec(ctx, `UPDATE webhook_deliveries SET step = 11 WHERE state = 'pending'`)
		}); err != nil {
			t.Fatal(err)
		}
		s.send(http.MethodPost, "/api/manage/webhook-retries", fmt.Sprintf(`{"project_id":%q}`, s.ProjectID),
			"Authorization", "Bearer "+s.AdminToken)
		return attempts("failed") > 0
	})
	for _, outcome := range []string{"delivered", "gone", "failed"} {
		if got := attempts(outcome); got != 1 {
			t.Errorf("attempts counted as %s: got %v, want 1", outcome, got)
		}
	}
	sum := attempts("retried") + 3
	if got := s.metric("parley_webhook_attempt_duration_seconds_count"); got != sum {
		t.Errorf("attempts whose duration was measured: got %v, want %v", got, sum)
	}

	for range 3 { // they wait, because the target is paused
		sendTo("/gone")
	}
	const pending, oldest, overdue, paused = "parley_webhook_pending_deliveries", "parley_webhook_oldest_pending_seconds",
		"parley_webhook_overdue_seconds", "parley_webhook_paused_targets"
	var got map[string]float64
	testkit.Eventually(t, "three deliveries wait and none is overdue", func() bool {
		s.app.updateBacklog(t.Context())
		got = map[string]float64{}
		for _, name := range []string{pending, oldest, overdue, paused} {
			got[name] = s.metric(name)
		}
		return got[pending] == 3 && got[overdue] == 0
	})
	if got[paused] != 1 || got[oldest] <= 0 || got[oldest] > time.Since(began).Seconds() {
		t.Errorf("the backlog with three deliveries that wait for a paused target: got %v, want 1 paused target and "+
			"an age of more than 0 s and at most %v", got, time.Since(began))
	}
}

// metric returns the value of a series, which is the name of a metric with its labels.
func (s *server) metric(series string) float64 {
	s.t.Helper()
	_, rest, found := strings.Cut(s.metrics(), "\n"+series+" ")
	text, _, _ := strings.Cut(rest, "\n")
	value, err := strconv.ParseFloat(text, 64)
	if !found || err != nil {
		s.t.Fatalf("read the metric %s: got %q, %v, want a number", series, text, err)
	}
	return value
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
