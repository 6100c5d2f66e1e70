package roomstest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"parley.example/client/sign"
	"parley/internal/api/apitest"
	"parley/internal/room"
	"parley/internal/seal"
)

// CheckIdempotencyKey checks the Idempotency-Key of a creation.
func CheckIdempotencyKey(t *testing.T, c *apitest.Checker, b *Fixture, route string, fields map[string]any) {
	post := func(key string) (*http.Response, string) {
		body := EncodeJSON(t, fields)
		header := SignedHeaders(b.Issued.APIKey, body)
		header.Set("Idempotency-Key", key)
		resp := c.Do(t, http.MethodPost, route, header, body)
		raw, err := io.ReadAll(resp.Body)
		Must(t, err)
		resp.Body = io.NopCloser(strings.NewReader(string(raw)))
		return resp, string(raw)
	}
	refused := fields["max_participants"]
	fields["max_participants"] = 0
	resp, _ := post("first")
	AssertError(t, resp, 400, "max_participants must be between 1 and 1000, not 0") // an error is not stored
	fields["max_participants"] = refused
	SetField("metadata.default_lock_settings", map[string]any{})(fields)

	first, text := post("first")
	again, same := post("first")
	if first.StatusCode != 200 || again.StatusCode != 200 || text != same ||
		first.Header.Get("X-Ignored-Fields") != "metadata.default_lock_settings" ||
		again.Header.Get("X-Ignored-Fields") != first.Header.Get("X-Ignored-Fields") {
		t.Errorf("a repeated request: got %d %s %v\nthen %d %s %v\nwant the same response twice",
			first.StatusCode, text, first.Header, again.StatusCode,
			same, again.Header)
	}
	if other, text := post("another ~ key!"); other.StatusCode != 200 || text == same {
		t.Errorf("another key: got %d %s, want 200 and another room", other.StatusCode, text)
	}
	fields["max_participants"] = 0 // another body, which is detected before its fields are checked
	resp, _ = post("first")
	AssertError(t, resp, 422, "this Idempotency-Key was used with another body")
	fields["max_participants"] = refused

	before, _, err := b.Rooms.List(t.Context(), room.ListQuery{ProjectID: b.Project.ID, Limit: 2})
	Must(t, err)
	b.LoseOutcome.Store(true) // a 503 does not tell whether there is a room
	resp, _ = post("unknown outcome")
	AssertError(t, resp, 503, "the database does not answer, try again in a moment")
	if resp, text = post("unknown outcome"); resp.StatusCode != 200 {
		t.Errorf("the same request after a 503: got %d %s, want 200", resp.StatusCode, text)
	}
	after, _, err := b.Rooms.List(t.Context(), room.ListQuery{ProjectID: b.Project.ID, Limit: 2})
	if Must(t, err); after[1].ID != before[0].ID || !strings.Contains(text, after[0].ID) {
		t.Errorf("after a 503 and the same request again: got %s and the rooms %s and %s, want one room after %s", text,
			after[0].ID, after[1].ID, before[0].ID)
	}

	end, err := b.Rooms.BeginIdempotent(t.Context(),
		&room.IdempotencyKey{ProjectID: b.Project.ID, Route: route, Key: "running"})
	Must(t, err)
	resp, _ = post("running")
	AssertError(t, resp, 409, "a request with this Idempotency-Key is still under way, try again in a moment")
	if resp.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After: got %q, want 1", resp.Header.Get("Retry-After"))
	}
	end()
	if resp, _ = post("running"); resp.StatusCode != 200 {
		t.Errorf("after the first request ended: got %d, want 200", resp.StatusCode)
	}
}

// SendConcurrently sends one signed body 32 times concurrently. It returns the
// number of responses by status, and the set of successful bodies.
func SendConcurrently(t *testing.T, handler http.Handler, credential seal.Secret, route, idempotencyKey string,
	body []byte) (statuses map[int]int, successes map[string]bool) {
	t.Helper()
	statuses, successes = map[int]int{}, map[string]bool{}
	var mu sync.Mutex
	var work sync.WaitGroup
	for range 32 {
		work.Go(func() {
			r := httptest.NewRequest(http.MethodPost, route, strings.NewReader(string(body)))
			r.Header = SignedHeaders(credential, body)
			if idempotencyKey != "" {
				r.Header.Set("Idempotency-Key", idempotencyKey)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			mu.Lock()
			defer mu.Unlock()
			if statuses[w.Code]++; w.Code == 200 {
				successes[w.Body.String()] = true
			}
		})
	}
	work.Wait()
	return statuses, successes
}

// CheckFuzzedBody sends an arbitrary body with a correct signature. PROJECT in the
// body is replaced by the project's id, which differs in each process.
func CheckFuzzedBody(t *testing.T, handler http.Handler, b *Fixture, method, target string, credential seal.Secret,
	body []byte) {
	t.Helper()
	text := strings.ReplaceAll(string(body), "PROJECT", b.Project.ID)
	r := httptest.NewRequest(method, target, strings.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("hash-signature", sign.Legacy(credential.Reveal(), []byte(text)))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	switch w.Code {
	case 200, 400, 401, 409, 413:
	default:
		t.Fatalf("%q: got %d %s, want 200, 400, 401, 409 or 413", text, w.Code, w.Body)
	}
	if w.Code != 200 && len(ErrorMessage(t, w.Result())) < 10 {
		t.Fatalf("%q: got %s, want an error of at least 10 bytes", text, w.Body)
	}
}
