package v5

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/key"
	"parley/internal/requestlog"
	"parley/internal/seal"
)

// retireKey rotates the key without an overlap.
func retireKey(t testing.TB, b *fixture) {
	t.Helper()
	_, err := b.keys.RotateKey(t.Context(), b.project.ID, key.Rotation{})
	must(t, err)
}

// rejectedCall is a call that fails authentication, and its entry in the request
// log.
type rejectedCall struct {
	name   string
	header func(b *fixture) http.Header
	body   string
	result RequestItemAuthResult // empty if the call named no known key
	hint   string
}

const listTarget = prefix + "requests?limit=2"

func (b *fixture) timestamp(offset time.Duration) string {
	return sign.FormatTimestamp(b.now.Add(offset))
}

func rejectedCalls() []rejectedCall {
	with := func(change func(b *fixture, h http.Header)) func(*fixture) http.Header {
		return func(b *fixture) http.Header {
			h := b.signedHeaders("GET", listTarget, nil)
			change(b, h)
			return h
		}
	}
	timed := func(offset time.Duration) func(*fixture) http.Header {
		return func(b *fixture) http.Header {
			return signHeaders(b.issued.APIKey, b.issued.GatewaySecret, "GET", listTarget, b.timestamp(offset), nil)
		}
	}
	text := func(timestamp func(b *fixture) string) func(*fixture) http.Header {
		return func(b *fixture) http.Header {
			return signHeaders(b.issued.APIKey, b.issued.GatewaySecret, "GET", listTarget, timestamp(b), nil)
		}
	}
	secret := func(change func(seal.Secret) seal.Secret) func(*fixture) http.Header {
		return func(b *fixture) http.Header {
			return signHeaders(b.issued.APIKey, change(b.issued.GatewaySecret), "GET", listTarget, b.timestamp(0), nil)
		}
	}
	target := func(method, target string) func(*fixture) http.Header {
		return func(b *fixture) http.Header { return b.signedHeaders(method, target, nil) }
	}
	twice := func(name string) func(*fixture) http.Header {
		return with(func(_ *fixture, h http.Header) { h[name] = append(h[name], h[name]...) })
	}
	without := func(name string) func(*fixture) http.Header {
		return with(func(_ *fixture, h http.Header) { h.Del(name) })
	}
	return []rejectedCall{
		{name: "no headers", header: func(*fixture) http.Header { return http.Header{} }},
		{name: "unknown key", header: with(func(_ *fixture, h http.Header) { h.Set("api-key", seal.NewAPIKey(false).Reveal()) })},
		{name: "key in its older header", header: with(func(_ *fixture, h http.Header) { h["Key"] = h["Api-Key"]; h.Del("api-key") })},
		{name: "key twice", header: twice("Api-Key")},
		{name: "no key", header: without("api-key")},
		{name: "no timestamp", header: without("timestamp"), result: requestlog.CauseStaleTimestamp, hint: requestlog.HintHeaders},
		{name: "timestamp twice", header: twice("Timestamp"), result: requestlog.CauseStaleTimestamp, hint: requestlog.HintHeaders},
		{name: "no signature", header: without("hash-signature"), result: requestlog.CauseBadSignature, hint: requestlog.HintHeaders},
		{name: "signature twice", header: twice("Hash-Signature"), result: requestlog.CauseBadSignature, hint: requestlog.HintHeaders},
		{name: "wrong secret", header: secret(func(seal.Secret) seal.Secret { return "gs_other" }), result: requestlog.CauseBadSignature},
		{name: "the key as the secret", header: func(b *fixture) http.Header {
			return signHeaders(b.issued.APIKey, b.issued.APIKey, "GET", listTarget, b.timestamp(0), nil)
		}, result: requestlog.CauseBadSignature, hint: requestlog.HintCredential},
		{name: "newline in the secret", header: secret(func(s seal.Secret) seal.Secret { return s + "\n" }), result: requestlog.CauseBadSignature, hint: requestlog.HintNewline},
		{name: "Windows newline in the secret", header: secret(func(s seal.Secret) seal.Secret { return s + "\r\n" }), result: requestlog.CauseBadSignature, hint: requestlog.HintNewline},
		{name: "just too old", header: timed(-301 * time.Second), result: requestlog.CauseStaleTimestamp},
		{name: "just too new", header: timed(301 * time.Second), result: requestlog.CauseStaleTimestamp},
		{name: "milliseconds", header: text(func(b *fixture) string { return strconv.FormatInt(b.now.UnixMilli(), 10) }), result: requestlog.CauseStaleTimestamp, hint: requestlog.HintMilliseconds},
		{name: "a date", header: text(func(*fixture) string { return "2026-11-21T09:30:00Z" }), result: requestlog.CauseStaleTimestamp, hint: requestlog.HintTimestamp},
		{name: "a sign", header: text(func(b *fixture) string { return "+" + b.timestamp(0) }), result: requestlog.CauseStaleTimestamp, hint: requestlog.HintTimestamp},
		{name: "other digits", header: text(func(b *fixture) string { return strings.ReplaceAll(b.timestamp(0), "1", "１") }), result: requestlog.CauseStaleTimestamp, hint: requestlog.HintTimestamp},
		{name: "stale and wrong", header: func(b *fixture) http.Header {
			return signHeaders(b.issued.APIKey, "gs_other", "GET", listTarget, b.timestamp(-time.Hour), nil)
		}, result: requestlog.CauseStaleTimestamp},
		{name: "Base64 for hex", header: with(func(_ *fixture, h http.Header) {
			raw, _ := hex.DecodeString(h.Get("hash-signature"))
			h.Set("hash-signature", base64.StdEncoding.EncodeToString(raw))
		}), result: requestlog.CauseBadSignature, hint: requestlog.HintBase64},
		{name: "URL-safe Base64 for hex", header: with(func(_ *fixture, h http.Header) {
			raw, _ := hex.DecodeString(h.Get("hash-signature"))
			h.Set("hash-signature", base64.RawURLEncoding.EncodeToString(raw))
		}), result: requestlog.CauseBadSignature, hint: requestlog.HintBase64},
		{name: "cut off", header: with(func(_ *fixture, h http.Header) { h.Set("hash-signature", h.Get("hash-signature")[:62]) }), result: requestlog.CauseBadSignature},
		{name: "query left out", header: target("GET", prefix+"requests"), result: requestlog.CauseBadSignature, hint: requestlog.HintQuery},
		{name: "query altered", header: target("GET", prefix+"requests?limit=3"), result: requestlog.CauseBadSignature},
		{name: "query encoded otherwise", header: target("GET", prefix+"requests?limit=%32"), result: requestlog.CauseBadSignature},
		{name: "another method", header: target("HEAD", listTarget), result: requestlog.CauseBadSignature},
		{name: "with the host", header: target("GET", "http://example.com"+listTarget), result: requestlog.CauseBadSignature, hint: requestlog.HintURL},
		{name: "an idempotency key signed", header: func(b *fixture) http.Header {
			h := b.signedHeaders("GET", listTarget, nil)
			h.Set("Idempotency-Key", "once")
			h.Set("hash-signature", sign.V5(b.issued.GatewaySecret.Reveal(), "GET", listTarget, b.timestamp(0), "once",
				nil))
			return h
		}, result: requestlog.CauseBadSignature, hint: requestlog.HintIdempotencyKeySigned},
		{name: "a third line feed at the end", header: func(b *fixture) http.Header {
			return signHeaders(b.issued.APIKey, b.issued.GatewaySecret, "GET", listTarget, b.timestamp(0), []byte("\n"))
		}, result: requestlog.CauseBadSignature, hint: requestlog.HintLineFeeds},
		{name: "body not signed", header: target("GET", listTarget), body: `{"project_id":"x"}`, result: requestlog.CauseBadSignature, hint: requestlog.HintBody},
	}
}

// TestAuthenticate_SameResponseForEveryCause checks that all 401s are identical
// except for the request id, and that the request log has the true cause.
func TestAuthenticate_SameResponseForEveryCause(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	first := ""
	var wanted []rejectedCall
	for _, tc := range rejectedCalls() {
		r := httptest.NewRequest(http.MethodGet, listTarget, strings.NewReader(tc.body))
		r.Header = tc.header(b)
		r.Header.Set("User-Agent", tc.name)
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		resp := w.Result()
		raw, err := io.ReadAll(resp.Body)
		must(t, err)
		id := resp.Header.Get("X-Gateway-Request-ID")
		var header strings.Builder
		must(t, resp.Header.Write(&header))
		got := strings.ReplaceAll(resp.Status+"\n"+header.String()+"\n"+string(raw), id, "ID")
		if first == "" {
			first = got
		}
		if resp.StatusCode != 401 || got != first {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, got, first)
		}
		if !w.Flushed {
			t.Errorf("%s: got no flush of the response before the call was recorded, want one", tc.name)
		}
		if tc.result != "" {
			wanted = append(wanted, tc)
		}
		b.now = b.now.Add(time.Millisecond)
	}
	items := b.listCalls(t, 100)
	if len(items) != len(wanted) {
		t.Fatalf("got %d calls in the log, want %d", len(items), len(wanted))
	}
	for i, tc := range wanted {
		item := items[len(items)-1-i]
		hint := ""
		if item.Hint != nil {
			hint = *item.Hint
		}
		if *item.UserAgent != tc.name || string(item.AuthResult) != string(tc.result) || hint != tc.hint ||
			item.Status != 401 ||
			*item.Code != "SVC_UNAUTHORIZED" || item.Path != prefix+"requests" || item.KeySlot != Current {
			t.Errorf("%s: got log entry %+v with hint %q, want result %s, hint %q", tc.name, item, hint, tc.result,
				tc.hint)
		}
	}
}

// listCalls flushes the request log and returns the calls of the project, without
// making a call itself.
func (b *fixture) listCalls(t testing.TB, limit int) []RequestItem {
	t.Helper()
	b.flushRequestLog(t)
	page, err := b.recorder.List(t.Context(), requestlog.Query{ProjectID: b.project.ID, API: version, Limit: limit})
	must(t, err)
	items := make([]RequestItem, 0, len(page.Calls))
	for _, c := range page.Calls {
		items = append(items, newRequestItem(c.Call))
	}
	return items
}

func TestAuthenticate_AcceptedRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for _, target := range []string{
		prefix + "keys", prefix + "keys?", prefix + "keys?b=2&a=1&a=%41+%c3%a9;x", prefix + "keys?%zz",
		prefix + "k%65ys", prefix + "keys?project_id=other&organization_id=x",
		prefix + "keys?x=\u00e9", prefix + "keys?next=http://example.org/?a#b",
	} {
		r := httptest.NewRequest(http.MethodGet, prefix+"keys", nil)
		r.RequestURI = target // as the server reads it from the request line
		r.Header = b.signedHeaders("GET", target, nil)
		r.Header.Set("key", "other")
		r.Header.Set("secret-key", "other")
		r.Header.Set("Idempotency-Key", "ignored")
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Errorf("%s: got %d %s, want 200", target, w.Code, w.Body)
		}
	}
	for name, header := range map[string]http.Header{
		"just old enough": signHeaders(b.issued.APIKey, b.issued.GatewaySecret, "GET", listTarget,
			b.timestamp(-300*time.Second), nil),
		"just new enough": signHeaders(b.issued.APIKey, b.issued.GatewaySecret, "GET", listTarget,
			b.timestamp(300*time.Second), nil),
		"capitals in hex": func() http.Header {
			h := b.signedHeaders("GET", listTarget, nil)
			h.Set("hash-signature", strings.ToUpper(h.Get("hash-signature")))
			return h
		}(),
	} {
		r := httptest.NewRequest(http.MethodGet, listTarget, nil)
		r.Header = header
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Errorf("%s: got %d %s, want 200", name, w.Code, w.Body)
		}
	}
	body := []byte("any bytes\x00\xff")
	r := httptest.NewRequest(http.MethodGet, listTarget, strings.NewReader(string(body)))
	r.Header = b.signedHeaders("GET", listTarget, body)
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	if w.Code != 200 {
		t.Errorf("a signed body: got %d %s, want 200", w.Code, w.Body)
	}
}
