package client

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func FuzzDecodeError(f *testing.F) {
	f.Add(400, "req_1", "7", []byte(`{"error":"name must not be blank"}`))
	f.Add(401, "", "Thu, 01 Jan 1970 00:00:00 GMT",
		[]byte(`{"error":{"code":"SVC_UNAUTHORIZED","message":"m","request_id":"r"}}`))
	f.Add(502, "\x00", "-1", []byte("<html>gs_secret"))
	f.Add(500, "gs_secret", "99999999999999999999", []byte(`{"error":{"message":"gs_\u0073ecret \ud800\n"}}`))
	f.Add(-1, "", "", []byte(`{"error":{"code":5}}`))
	f.Add(0, "", "", []byte(`{"error":null,"ERROR":"x"}`))
	redact := Credentials{GatewaySecret: "gs_secret"}.replacer()
	f.Fuzz(func(t *testing.T, status int, id, after string, body []byte) {
		header := http.Header{"X-Request-Id": {id}, "Retry-After": {after}}
		e := decodeError(status, header, body, redact)
		for _, text := range []string{e.Message, e.Code, e.RequestID, e.Error()} {
			if strings.Contains(text, "gs_secret") {
				t.Errorf("body %q: got the text %q, want no secret in it", body, text)
			}
			if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("body %q: got the text %q, want valid UTF-8 without control characters", body, text)
			}
			if utf8.RuneCountInString(text) > 1000 {
				t.Errorf("body %q: got a text of %d characters, want at most 1000", body, utf8.RuneCountInString(text))
			}
		}
		if e.Status != status || e.RetryAfter < 0 || e.RetryAfter > 24*time.Hour {
			t.Errorf("status %d: got %+v, want that status and RetryAfter from 0 to 24 hours", status, e)
		}
		if e.Is(nil) && e.sentinel() != nil {
			t.Errorf("error %+v: got Is(nil) true with the sentinel %v, want Is(nil) true only without a sentinel", e,
				e.sentinel())
		}
	})
}
