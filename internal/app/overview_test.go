package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/manage"
	"parley/internal/requestlog"
)

// sentHeader is a header of a request whose signature is checked.
type sentHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// signedRequest is the body of a signature check.
type signedRequest struct {
	Version string       `json:"version"`
	Method  string       `json:"method"`
	Path    string       `json:"path"`
	Query   string       `json:"query,omitempty"`
	Headers []sentHeader `json:"headers"`
	Body    string       `json:"body,omitempty"`
}

// checkSignature returns the result and the text of the response, which must have no secret
// and no signature other than what was sent.
func (s *server) checkSignature(t *testing.T, q signedRequest) (manage.SignatureCheck, string) {
	t.Helper()
	raw, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, s.app.BaseURL()+"/api/manage/projects/"+s.ProjectID+"/signature-checks",
		bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.AdminToken)
	r.Header.Set("Content-Type", "application/json")
	var text json.RawMessage
	if status := s.do(r, &text); status != http.StatusOK {
		t.Fatalf("check %+v: got status %d %s, want 200", q, status, text)
	}
	var out manage.SignatureCheck
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{s.APIKey, s.GatewaySecret, s.ProjectSecret} {
		if strings.Contains(string(text), secret) {
			t.Errorf("check %+v: got a secret in the response %s, want none", q, text)
		}
	}
	return out, string(text)
}

// The check of a signature says what the server signs, whether it matches and which mistake
// was made, as the recorded call would. It never returns what the signature should be.
func TestSignatureCheck(t *testing.T) {
	s := startServer(t, nil)
	const v5Path, body = "/api/v5/requests", `{"a": 1}`
	timestamp := sign.FormatTimestamp(time.Now())
	stale := sign.FormatTimestamp(time.Now().Add(-time.Hour))
	v5 := func(version, method, query, key, timestamp, signature, body string) signedRequest {
		return signedRequest{
			Version: version,
			Method:  method,
			Path:    v5Path,
			Query:   query,
			Body:    body,
			Headers: []sentHeader{{"api-key", key}, {"Timestamp", timestamp}, {"hash-signature", signature}},
		}
	}
	signV5 := func(target, timestamp, body string) string {
		return sign.V5(s.GatewaySecret, "GET", target, timestamp, "", []byte(body))
	}
	v3 := func(signature string) signedRequest {
		return signedRequest{
			Version: "v3",
			Method:  "POST",
			Path:    "/api/v3/rooms/create_quick_audio_room",
			Body:    body,
			Headers: []sentHeader{{"hash-signature", signature}},
		}
	}
	right := signV5(v5Path+"?limit=5", timestamp, "")
	for _, c := range []struct {
		name    string
		request signedRequest
		want    manage.SignatureCheck // only what is compared
	}{
		{"v5", v5("v5", "GET", "limit=5", s.APIKey, timestamp, right, ""),
			manage.SignatureCheck{Matches: true, Accepted: true, KeySlot: "current"}},
		{"companion", v5("companion", "GET", "limit=5", s.APIKey, timestamp, right, ""),
			manage.SignatureCheck{Matches: true, Accepted: true, KeySlot: "current"}},
		{"query not signed", v5("v5", "GET", "limit=5", s.APIKey, timestamp, signV5(v5Path, timestamp, ""), ""),
			manage.SignatureCheck{KeySlot: "current", Cause: requestlog.CauseBadSignature, Hint: requestlog.HintQuery}},
		{"URL signed", v5("v5", "GET", "", s.APIKey, timestamp, signV5(s.app.BaseURL()+v5Path, timestamp, ""), ""),
			manage.SignatureCheck{KeySlot: "current", Cause: requestlog.CauseBadSignature, Hint: requestlog.HintURL}},
		{"stale", v5("v5", "GET", "", s.APIKey, stale, signV5(v5Path, stale, ""), ""),
			manage.SignatureCheck{Matches: true, KeySlot: "current", Cause: requestlog.CauseStaleTimestamp}},
		{"stale companion", v5("companion", "GET", "", s.APIKey, stale, signV5(v5Path, stale, ""), ""),
			manage.SignatureCheck{Matches: true, KeySlot: "current", Cause: requestlog.CauseStaleTimestamp}},
		{"unknown key", v5("v5", "GET", "", "pk_unknown", timestamp, right, ""),
			manage.SignatureCheck{Cause: requestlog.CauseUnknownKey}},
		{"v3 with the key", v3(sign.Legacy(s.APIKey, []byte(body))),
			manage.SignatureCheck{Matches: true, Accepted: true, KeySlot: "current"}},
		{"v3 with the secret", v3(sign.Legacy(s.ProjectSecret, []byte(body))),
			manage.SignatureCheck{Matches: true, Accepted: true, KeySlot: "secret"}},
		{"v3 over compact JSON", v3(sign.Legacy(s.APIKey, []byte(`{"a":1}`))),
			manage.SignatureCheck{Cause: requestlog.CauseBadSignature, Hint: requestlog.HintSpaces}},
		{"v3 with the Gateway secret", v3(sign.Legacy(s.GatewaySecret, []byte(body))),
			manage.SignatureCheck{Cause: requestlog.CauseBadSignature, Hint: requestlog.HintGatewaySecret}},
	} {
		got, text := s.checkSignature(t, c.request)
		if got.Matches != c.want.Matches || got.Accepted != c.want.Accepted || got.KeySlot != c.want.KeySlot ||
			got.Cause != c.want.Cause || got.Hint != c.want.Hint {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		expected := []string{signV5(v5Path, timestamp, ""), right, sign.Legacy(s.APIKey, []byte(body)),
			sign.Legacy(s.ProjectSecret, []byte(body))}
		for _, signature := range expected {
			if strings.Contains(text, signature) {
				t.Errorf("%s: got the signature %s in the response %s, want no signature", c.name, signature, text)
			}
		}
		var parts []string
		for _, p := range got.SignedText {
			parts = append(parts, p.Value)
		}
		signed := string(sign.V5Text("GET", v5Path+map[bool]string{true: "?" + c.request.Query}[c.request.Query != ""],
			timestamp, "", nil))
		if c.request.Version == "v3" {
			signed = body
		}
		if joined := strings.Join(parts, "\n"); !strings.Contains(c.name, "stale") && joined != signed {
			t.Errorf("%s: got the signed text %q, want %q", c.name, joined, signed)
		}
	}
}

// The checks of wrong signatures count as failed authentications of the address.
func TestSignatureCheck_CountsFailures(t *testing.T) {
	s := startServer(t, nil)
	body := `{"version":"v3","method":"POST","path":"/","headers":[{"name":"hash-signature","value":"x"}]}`
	statuses := map[int]int{}
	for range 125 {
		statuses[s.send("POST", "/api/manage/projects/"+s.ProjectID+"/signature-checks", body, "Authorization",
			"Bearer "+s.AdminToken)]++
	}
	if statuses[http.StatusOK] != 120 || statuses[http.StatusTooManyRequests] != 5 {
		t.Errorf("got statuses %v, want 120 times 200 and 5 times 429", statuses)
	}
}

// openStream opens a stream of the management API, and returns the lines of its response.
func (s *server) openStream(query string) (*http.Response, *bufio.Scanner) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.app.BaseURL()+"/api/manage/stream?"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.AdminToken)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return response, lines
}

// A stream passes through the whole server, is recorded once, and does not delay the stop of
// the service.
func TestStream_EndsWithTheService(t *testing.T) {
	s := startServer(t, nil)
	_, lines := s.openStream("path=/overview&path=/nodes")
	next := func(prefix string) string {
		t.Helper()
		for lines.Scan() {
			if text, found := strings.CutPrefix(lines.Text(), prefix); found {
				return text
			}
		}
		t.Fatalf("the stream ended before a line with %s: %v", prefix, lines.Err())
		return ""
	}
	for _, path := range []string{"/overview", "/nodes"} {
		if data := next("data: "); !strings.HasPrefix(data, fmt.Sprintf(`{"path":%q,"status":200,"body":{`, path)) {
			t.Errorf("got data %s, want the result of %s", data, path)
		}
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	if name := next("event: ended"); name != "" {
		t.Errorf("got an event ended%s, want ended", name)
	}
	if data := next("data: "); !strings.Contains(data, `"code":"stopping"`) {
		t.Errorf("got data %s, want the code stopping", data)
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}
