package v5

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"parley.example/client/sign"
)

// FuzzHeaders sends arbitrary headers and targets. Only correctly signed calls may
// succeed, and no call may cause an internal error.
func FuzzHeaders(f *testing.F) {
	b := setup(f, nil)
	for _, tc := range rejectedCalls() {
		h := tc.header(b)
		f.Add(strings.ReplaceAll(h.Get("api-key"), b.issued.APIKey.Reveal(), "KEY"), h.Get("timestamp"),
			h.Get("hash-signature"), listTarget, tc.body)
	}
	f.Add("KEY", "NOW", "RIGHT", prefix+"keys?\x00\n", "")
	f.Fuzz(func(t *testing.T, apiKey, timestamp, signature, target, body string) {
		// Placeholders, because the key and the time differ in each process.
		apiKey = strings.ReplaceAll(apiKey, "KEY", b.issued.APIKey.Reveal())
		timestamp = strings.ReplaceAll(timestamp, "NOW", b.timestamp(0))
		right := sign.V5(b.issued.GatewaySecret.Reveal(), "GET", target, timestamp, "", []byte(body))
		signature = strings.ReplaceAll(signature, "RIGHT", right)
		r := httptest.NewRequest(http.MethodGet, prefix+"requests", strings.NewReader(body))
		r.RequestURI = target
		_, r.URL.RawQuery, _ = strings.Cut(target, "?")
		r.Header = http.Header{"Api-Key": {apiKey}, "Timestamp": {timestamp}, "Hash-Signature": {signature}}
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		allowed := apiKey == b.issued.APIKey.Reveal() && strings.EqualFold(signature, right) &&
			!strings.Contains(target, "\n")
		switch w.Code {
		case 200, 400:
			if !allowed {
				t.Fatalf("got %d for a call with a wrong signature, want 401", w.Code)
			}
		case 401, 413:
		default:
			t.Fatalf("got %d %s, want 200, 401 or 413", w.Code, w.Body)
		}
		b.recorder.ExplainPending()
		if err := b.recorder.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzPage sends arbitrary queries.
func FuzzPage(f *testing.F) {
	b := setup(f, nil)
	for _, seed := range []string{"", "limit=1", "limit=0", "limit=%31", "limit=1&limit=1", "cursor=AAAAAAAAAAA",
		"cursor=%41", "&&=&limit", "%zz=1", "limit=99999999999999999999", "cursor=__________8", "a;limit=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		limit, below, err := parsePageQuery(query)
		if err == nil && (limit < 1 || limit > 100 || below < 0) {
			t.Fatalf("%q: got limit %d, below %d, want 1 to 100, at least 0", query, limit, below)
		}
		target := prefix + "requests?" + query
		r := httptest.NewRequest(http.MethodGet, prefix+"requests", nil)
		r.RequestURI, r.URL = target, &url.URL{Path: prefix + "requests", RawQuery: query}
		r.Header = b.signedHeaders("GET", target, nil)
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		want := 200
		if err != nil {
			want = 400
		}
		if strings.Contains(query, "\n") {
			want = 401 // no such request line exists
		}
		if w.Code != want {
			t.Fatalf("%q: got %d, want %d: %s", query, w.Code, want, w.Body)
		}
	})
}

// FuzzCursor checks that parseCursor accepts only cursors of encodeCursor.
func FuzzCursor(f *testing.F) {
	f.Add("AAAAAAAAAAA")
	f.Add(encodeCursor(1_800_000_000_000_000_000))
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := parseCursor(text); err == nil && (n < 0 || encodeCursor(n) != text) {
			t.Fatalf("cursor %q: got %d, want an error", text, n)
		}
	})
}
