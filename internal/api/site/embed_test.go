package site

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestEmbedScript_Headers(t *testing.T) {
	t.Parallel()
	built := fstest.MapFS{
		"index.html":        {Data: []byte("the room")},
		"embed/embed.js":    {Data: []byte("plain")},
		"embed/embed.js.br": {Data: []byte("br")},
		"embed/embed.js.gz": {Data: []byte("gz")},
	}
	script, err := NewEmbedScript(built)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ method, accept, encoding, length, body string }{
		{http.MethodGet, "", "", "5", "plain"},
		{http.MethodGet, "gzip", "gzip", "2", "gz"},
		{http.MethodGet, "gzip, br", "br", "2", "br"},
		{http.MethodHead, "", "", "5", ""},
	} {
		r := httptest.NewRequest(tc.method, EmbedPath, nil)
		r.Header.Set("Accept-Encoding", tc.accept)
		r.Header.Set("Origin", "https://app.example.org")
		w := httptest.NewRecorder()
		script.ServeHTTP(w, r)
		want := http.Header{
			"Access-Control-Allow-Origin":  {"*"},
			"Cache-Control":                {"public, max-age=3600"},
			"Content-Length":               {tc.length},
			"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
			"Content-Type":                 {"text/javascript; charset=utf-8"},
			"Cross-Origin-Opener-Policy":   {"same-origin"},
			"Cross-Origin-Resource-Policy": {"cross-origin"},
			"Referrer-Policy":              {"no-referrer"},
			"Vary":                         {"Accept-Encoding"},
			"X-Content-Type-Options":       {"nosniff"},
			"X-Frame-Options":              {"DENY"},
		}
		if tc.encoding != "" {
			want.Set("Content-Encoding", tc.encoding)
		}
		if diff := cmp.Diff(want, w.Header()); w.Code != http.StatusOK || w.Body.String() != tc.body || diff != "" {
			t.Errorf("%s with Accept-Encoding %q: got %d %q, want 200 %q; headers (-want +got):\n%s",
				tc.method, tc.accept, w.Code, w.Body, tc.body, diff)
		}
	}
	checkReadOnly(t, script, EmbedPath)
	checkOutsideRoomPage(t, built, "/embed/embed.js") // there it would have other headers
}

func TestNewEmbedScript_NotBuilt(t *testing.T) {
	t.Parallel()
	if _, err := NewEmbedScript(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("got error %v, want one that names make build", err)
	}
}
