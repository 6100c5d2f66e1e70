package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley.example/client/sign"
	"parley/internal/config"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// TestApp_DatabaseOutage stops PostgreSQL under the whole service: requests that
// need it are refused, cached data is still served, and the
// service recovers without a restart.
func TestApp_DatabaseOutage(t *testing.T) {
	testkit.Slow(t)
	cluster := storetest.NewPostgresServer(t)
	s := startServer(t, func(c *config.Config) { c.DatabaseURL = seal.Secret(cluster.NewDatabase(t)) })
	roomID, _ := s.createRoom(2, 300)
	at := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04")
	room := func(more string) string {
		return fmt.Sprintf(
			`{"project_id":%q,"max_participants":2,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""},%s}`, s.ProjectID, more)
	}
	ask := func(method, path, body string) (*http.Response, time.Duration) {
		t.Helper()
		r, err := http.NewRequest(method, s.app.BaseURL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(path, "/api/v5/") {
			now := sign.FormatTimestamp(time.Now())
			r.Header = http.Header{"Api-Key": {s.APIKey}, "Timestamp": {now},
				"Hash-Signature": {sign.V5(s.GatewaySecret, method, path, now, "", nil)}}
		} else {
			r.Header = http.Header{"Content-Type": {"application/json"},
				"Hash-Signature": {sign.Legacy(s.ProjectSecret, []byte(body))}}
		}
		began := time.Now()
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer, time.Since(began)
	}
	calls := []struct {
		method, path, body string
		without            int // the status while there is no database
	}{
		{"POST", "/api/v3/rooms/create_quick_audio_room", room(`"name":"Amina"`), 503},
		{"POST", "/api/v3/rooms/create_schedule_audio_room", room(`"start_at":"` + at + `"`), 503},
		{"POST", "/api/v4/rooms/create_schedule_video_room", room(`"start_at":"` + at + `"`), 503},
		{"PUT", "/api/v4/projects/update_project_status?project_id=" + s.ProjectID, `{"status":"active"}`, 503},
		{"POST", "/api/v4/webhook/get_room_events/" + roomID, fmt.Sprintf(`{"room_id":%q,"user_info":{"name":"Ben"}}`, roomID), 503},
		{"GET", "/api/v5/keys", "", 200},
		{"GET", "/api/v5/limits", "", 200},
		{"GET", "/api/v5/usage", "", 503},
		{"GET", "/api/v5/requests", "", 503},
		{"GET", "/healthz", "", 503},
	}
	allSucceed := func() bool {
		for _, c := range calls {
			if answer, _ := ask(c.method, c.path, c.body); answer.StatusCode != 200 {
				return false
			}
		}
		return true
	}
	// The metrics of health follow a sample, which is taken every 15 seconds.
	requireHealth := func(when string, want float64) {
		t.Helper()
		s.app.updateBacklog(t.Context())
		if got := gauge(t, s.app.registry, "parley_health", "database"); got != want {
			t.Errorf("parley_health of the database, %s: got %v, want %v", when, got, want)
		}
	}
	for _, outage := range []struct {
		name     string
		from, to func(testing.TB)
	}{{"stopped", cluster.Stop, cluster.Start}, {"frozen", cluster.Freeze, cluster.Thaw}} {
		testkit.Eventually(t, "every request succeeds", allSucceed)
		requireHealth("before it is "+outage.name, 1)
		outage.from(t)
		requireHealth(outage.name, 0)
		for _, c := range calls {
			answer, took := ask(c.method, c.path, c.body)
			if answer.StatusCode != c.without || took > testkit.Timeout {
				t.Errorf("%s: %s %s: got status %d after %v, want %d within %v", outage.name, c.method, c.path,
					answer.StatusCode, took, c.without, testkit.Timeout)
			}
			if c.without == 503 && c.path != "/healthz" && answer.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %s %s: got no Retry-After, want one", outage.name, c.method, c.path)
			}
		}
		back := strings.Count(s.log.String(), backLine)
		testkit.Eventually(t, "a heartbeat fails", func() bool {
			_, last, _ := cutLast(s.log.String(), backLine)
			return strings.Contains(last, `msg="write heartbeat failed"`)
		})
		outage.to(t)
		testkit.Eventually(t, "the log has the end of the outage", func() bool {
			return strings.Count(s.log.String(), backLine) == back+1
		})
	}
	testkit.Eventually(t, "every request succeeds again", allSucceed)
	if log := s.log.String(); strings.Contains(log, `\n\t`) {
		t.Error("got a line of the log with a line feed, want errors of PostgreSQL on one line")
	}
}

// backLine is in the line of the log at the end of an outage.
const backLine = `msg="the database accepts writes again" failed_since=`

// cutLast is strings.Cut around the last separator. Without one, everything is after it.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return "", s, false
}

// gauge returns the value of a gauge with a label of a value.
func gauge(t *testing.T, metrics prometheus.Gatherer, name, label string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && len(m.GetLabel()) == 1 && m.GetLabel()[0].GetValue() == label {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("there is no gauge %s with the label %s", name, label)
	return 0
}
