package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley.example/client"
	"parley.example/client/sign"
	"parley/internal/config"
	"parley/internal/operator"
	"parley/internal/testkit"
)

// signedGet sends a signed call of version 5 on a connection of its own, with
// the target byte for byte.
func (s *server) signedGet(target string, more ...string) (*http.Response, string) {
	s.t.Helper()
	timestamp := sign.FormatTimestamp(time.Now())
	headers := append([]string{"api-key: " + s.APIKey, "timestamp: " + timestamp,
		"hash-signature: " + sign.V5(s.GatewaySecret, "GET", target, timestamp, "", nil)}, more...)
	return s.rawRequest("GET", target, headers...)
}

func (s *server) rawRequest(method, target string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.app.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n\r\n", method, target,
		strings.Join(headers, "\r\n")); err != nil {
		s.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer, string(body)
}

func TestGateway_Requests(t *testing.T) {
	testkit.WithinOne(t, 24*time.Hour, time.Minute)
	s := startServer(t, nil)
	t.Run("the target is signed as in the request line", func(t *testing.T) {
		for _, target := range []string{"/api/v5/keys", "/api/v5/keys?", "/api/v5/keys?b=2&a=%7e+%2F&a",
			"/api/v5/k%65ys?x=[]|\"<>", "http://x/api/v5/keys?a=1", "/api/v5/limits?x=\xc3\xa9"} {
			if answer, body := s.signedGet(target); answer.StatusCode != 200 {
				t.Errorf("GET %s: got status %d, want 200: %s", target, answer.StatusCode, body)
			}
		}
		for _, target := range []string{"//api/v5/keys", "/api/v5//keys", "/api/v5/./keys", "/api/v5/x/../keys"} {
			if answer, _ := s.signedGet(target); answer.StatusCode == 200 || answer.StatusCode/100 == 3 {
				t.Errorf("GET %s: got status %d, want an error", target, answer.StatusCode)
			}
		}
	})
	t.Run("every invalid credential gets the same response", func(t *testing.T) {
		first := ""
		timestamp := sign.FormatTimestamp(time.Now())
		right := sign.V5(s.GatewaySecret, "GET", "/api/v5/keys", timestamp, "", nil)
		for name, headers := range map[string][]string{
			"nothing":     nil,
			"unknown key": {"api-key: pk_x", "timestamp: " + timestamp, "hash-signature: " + right},
			"wrong":       {"api-key: " + s.APIKey, "timestamp: " + timestamp, "hash-signature: 00"},
			"stale":       {"api-key: " + s.APIKey, "timestamp: 1", "hash-signature: " + right},
			"repeated": {"api-key: " + s.APIKey, "api-key: " + s.APIKey, "timestamp: " + timestamp,
				"hash-signature: " + right},
			"older header": {"key: " + s.APIKey, "secret-key: " + s.GatewaySecret, "timestamp: " + timestamp,
				"hash-signature: " + right},
		} {
			answer, body := s.rawRequest("GET", "/api/v5/keys", headers...)
			id := answer.Header.Get("X-Gateway-Request-ID")
			answer.Header.Del("Date")
			var header strings.Builder
			_ = answer.Header.Write(&header)
			got := strings.ReplaceAll(answer.Status+header.String()+body, id, "ID")
			if first == "" {
				first = got
			}
			if answer.StatusCode != 401 || id == "" || got != first {
				t.Errorf("%s: the response differs (-want +got):\n%s", name, cmp.Diff(first, got))
			}
		}
	})
	t.Run("HEAD has the headers and no body", func(t *testing.T) {
		timestamp := sign.FormatTimestamp(time.Now())
		answer, body := s.rawRequest("HEAD", "/api/v5/keys", "api-key: "+s.APIKey, "timestamp: "+timestamp,
			"hash-signature: "+sign.V5(s.GatewaySecret, "HEAD", "/api/v5/keys", timestamp, "", nil))
		if answer.StatusCode != 200 || body != "" || answer.ContentLength < 100 ||
			answer.Header.Get("X-Gateway-Requests-Used") == "" {
			t.Errorf("got status %d, body %q, length %d, want 200, an empty body and its length",
				answer.StatusCode, body, answer.ContentLength)
		}
	})
	t.Run("a call is listed without secrets", func(t *testing.T) {
		marked, _ := s.signedGet("/api/v5/usage?secret=" + s.GatewaySecret)
		testkit.Eventually(t, "the call is listed", func() bool {
			answer, body := s.signedGet("/api/v5/requests?limit=100")
			if strings.Contains(body, s.APIKey) || strings.Contains(body, s.GatewaySecret) {
				t.Fatalf("list of requests: got a secret in it, want none: %s", body)
			}
			return answer.StatusCode == 200 && strings.Contains(body, marked.Header.Get("X-Gateway-Request-ID"))
		})
	})
	t.Run("metrics", func(t *testing.T) {
		if got := s.metrics(); !strings.Contains(got, "parley_diagnostics_dropped_total 0") ||
			!strings.Contains(got, `parley_http_requests_total{part="v5"}`) {
			t.Errorf("got the metrics %.400s, want no dropped record and the requests of v5", got)
		}
	})
	answer, _ := s.signedGet("/api/v5/limits")
	used, err := strconv.Atoi(answer.Header.Get("X-Gateway-Requests-Used"))
	if err != nil || used < 8 {
		t.Fatalf("got X-Gateway-Requests-Used %q, want at least 8", answer.Header.Get("X-Gateway-Requests-Used"))
	}
	last := answer.Header.Get("X-Gateway-Request-ID")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{s.APIKey, s.GatewaySecret, s.ProjectSecret} {
		if strings.Contains(s.log.String(), secret) {
			t.Error("log: got a secret in it, want none")
		}
		for _, name := range []string{"parley.db", "parley.db-wal"} {
			raw, err := os.ReadFile(filepath.Join(s.cfg.DataDir, name))
			if err == nil && strings.Contains(string(raw), secret) {
				t.Errorf("%s: got a secret in it, want none", name)
			}
		}
	}

	t.Run("the count and the records are kept over a restart", func(t *testing.T) {
		s := startServer(t, func(c *config.Config) { c.DataDir = s.cfg.DataDir })
		// The limit is two, because the record of the call before the last may come after that
		// of the last: a long response reaches its client before its record is made.
		answer, body := s.signedGet("/api/v5/requests?limit=2")
		if got := answer.Header.Get("X-Gateway-Requests-Used"); got != strconv.Itoa(used+1) {
			t.Errorf("got X-Gateway-Requests-Used %q after a restart, want %d", got, used+1)
		}
		if !strings.Contains(body, last) {
			t.Errorf("got the records %s, want the last call before the stop, %s", body, last)
		}
	})
}

// The list of version 5 has its own calls only, although the request log of the project has those of all APIs.
func TestRequests_OnlyOfVersion5(t *testing.T) {
	s := startServer(t, nil)
	_, token, err := s.app.tokens.Create(t.Context(), operator.NewToken{Name: "customer", Role: operator.Integrator,
		ProjectIDs: []string{s.ProjectID}})
	if err != nil {
		t.Fatal(err)
	}
	if answer, body := s.signedGet("/api/v5/keys"); answer.StatusCode != http.StatusOK {
		t.Fatalf("GET /api/v5/keys: got status %d, want 200: %s", answer.StatusCode, body)
	}
	s.createRoom(2, 0)
	if got := s.send(http.MethodGet, "/api/manage/projects/"+s.ProjectID, "", "Authorization",
		"Bearer "+token.Reveal()); got != http.StatusOK {
		t.Fatalf("read the project as an integrator: got status %d, want 200", got)
	}
	testkit.Eventually(t, "the calls of three APIs are recorded in the project", func() bool {
		versions := map[string]bool{}
		for _, c := range s.calls("project_id=" + s.ProjectID) {
			versions[c.Version] = true
		}
		return versions["v3"] && versions["v5"] && versions["manage"]
	})
	recent, err := s.client().Requests(t.Context(), client.RequestsQuery{})
	if err != nil || len(recent.Items) != 1 || recent.Items[0].Path != "/api/v5/keys" {
		t.Errorf("requests of version 5: got %+v, %v, want the call of /api/v5/keys only", recent, err)
	}
}

func TestGateway_Disabled(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.GatewayEnabled = false })
	for _, target := range []string{"/api/v5/openapi.json", "/api/v5/keys", "/api/v5/other"} {
		if answer, body := s.signedGet(target); answer.StatusCode != 404 ||
			!strings.Contains(body, "SVC_GATEWAY_DISABLED") {
			t.Errorf("GET %s: got %d %s, want 404 SVC_GATEWAY_DISABLED", target, answer.StatusCode, body)
		}
	}
}

func TestGateway_Settings(t *testing.T) {
	plans := filepath.Join(t.TempDir(), "plans.yaml")
	if err := os.WriteFile(plans, []byte("default:\n  max_participants: 7\n  included_minutes: 100\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, func(c *config.Config) {
		c.PlansFile, c.DiagnosticsEnabled, c.ClockSkew = plans, false, config.Duration(time.Hour)
	})
	for target, want := range map[string]string{
		"/api/v5/requests": `{"data":{"availability":"unavailable","items":[]}}`,
		"/api/v5/limits":   `"key":"max_participants","scope":"room","source":"plan:default","unit":"participants","value":7`,
		"/api/v5/usage":    `"remaining_minutes":{"availability":"available","value":100}`,
	} {
		if answer, body := s.signedGet(target); answer.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("GET %s: got %d %s, want 200 with %s", target, answer.StatusCode, body, want)
		}
	}
	old := sign.FormatTimestamp(time.Now().Add(-50 * time.Minute))
	answer, _ := s.rawRequest("GET", "/api/v5/limits", "api-key: "+s.APIKey, "timestamp: "+old,
		"hash-signature: "+sign.V5(s.GatewaySecret, "GET", "/api/v5/limits", old, "", nil))
	if answer.StatusCode != 200 {
		t.Errorf("a timestamp within the clock skew: got status %d, want 200", answer.StatusCode)
	}
}

func TestGateway_RateLimits(t *testing.T) {
	s := startServer(t, nil)
	statuses := map[int]int{}
	for range 3 * readsPerSecond {
		answer, body := s.signedGet("/api/v5/limits")
		statuses[answer.StatusCode]++
		if answer.StatusCode == 429 && (answer.Header.Get("Retry-After") == "" ||
			!strings.Contains(body, "SVC_RATE_LIMITED")) {
			t.Fatalf("status 429: got %v %s, want Retry-After and SVC_RATE_LIMITED", answer.Header, body)
		}
	}
	if statuses[200] < 2*readsPerSecond || statuses[200]+statuses[429] != 3*readsPerSecond {
		t.Errorf("valid calls: got statuses %v, want at least %d of 200 and the rest 429", statuses, 2*readsPerSecond)
	}
	statuses = map[int]int{}
	for range failedAuthenticationsPerMinute + 30 {
		answer, _ := s.rawRequest("GET", "/api/v5/limits", "api-key: "+s.APIKey)
		statuses[answer.StatusCode]++
	}
	if statuses[401] < failedAuthenticationsPerMinute || statuses[429] < 10 {
		t.Errorf("invalid calls: got statuses %v, want at least %d of 401 and 10 of 429",
			statuses, failedAuthenticationsPerMinute)
	}
	testkit.Eventually(t, "valid calls pass", func() bool {
		answer, body := s.signedGet("/api/v5/requests")
		return answer.StatusCode == 200 && json.Valid([]byte(body))
	})
}
