package site

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func TestDocs_ServesBuiltFiles(t *testing.T) {
	t.Parallel()
	built := fstest.MapFS{
		"index.html":             {Data: []byte("the room")},
		"docs/index.html":        {Data: []byte("start")},
		"docs/v3.html":           {Data: []byte("version 3")},
		"docs/signing.html":      {Data: []byte("signing")},
		"docs/signing.md":        {Data: []byte("# Signing")},
		"docs/llms.txt":          {Data: []byte("# Parley")},
		"docs/vectors.json":      {Data: []byte("{}")},
		"docs/openapi/v4.yaml":   {Data: []byte("openapi: 3.1.0")},
		"docs/assets/main-1.css": {Data: []byte("css")},

		"docs/sdk/parley-sdk-0.1.1.tgz": {Data: []byte("tar")},
	}
	docs, err := NewDocs(built)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path        string
		status      int
		body        string
		contentType string
		cache       string
	}{
		{"/docs", 200, "start", "text/html; charset=utf-8", "no-cache"},
		{"/docs/", 200, "start", "text/html; charset=utf-8", "no-cache"},
		{"/docs/v3", 200, "version 3", "text/html; charset=utf-8", "no-cache"},
		{"/docs/signing", 200, "signing", "text/html; charset=utf-8", "no-cache"},
		{"/docs/signing.md", 200, "# Signing", "text/markdown; charset=utf-8", "no-cache"},
		{"/docs/llms.txt", 200, "# Parley", "text/plain; charset=utf-8", "no-cache"},
		{"/docs/vectors.json", 200, "{}", "application/json", "no-cache"},
		{"/docs/openapi/v4.yaml", 200, "openapi: 3.1.0", "application/yaml", "no-cache"},
		{"/docs/assets/main-1.css", 200, "css", "text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		{"/docs/v9", 404, "there is no such page", "text/plain; charset=utf-8", ""},
		{"/docs/sdk/parley-sdk-0.1.0.tgz", 404, "this server offers only version 0.1.1 of its SDKs: install that version, " +
			"or a copy of an earlier one, see /docs/sdks", "text/plain; charset=utf-8", ""},
		{"/docs/sdk/go/parley.example/client/@v/v0.1.0.zip", 404, "this server offers only version 0.1.1 of its SDKs",
			"text/plain; charset=utf-8", ""},
		{"/docs/sdks/other", 404, "there is no such page", "text/plain; charset=utf-8", ""},
		{"/docs/assets/other.js", 404, "there is no such page", "text/plain; charset=utf-8", ""},
	} {
		w := httptest.NewRecorder()
		docs.ServeHTTP(w, httptest.NewRequest(http.MethodGet, tc.path, nil))
		if w.Code != tc.status || !strings.HasPrefix(w.Body.String(), tc.body) ||
			w.Header().Get("Content-Type") != tc.contentType || w.Header().Get("Cache-Control") != tc.cache {
			t.Errorf("%s: got %d %q %v, want %d %q, Content-Type %q, Cache-Control %q",
				tc.path, w.Code, w.Body, w.Header(), tc.status, tc.body, tc.contentType, tc.cache)
		}
		if w.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: got headers %v, want Referrer-Policy no-referrer", tc.path, w.Header())
		}
		checkPolicy(t, tc.path, w.Header())
	}
	checkReadOnly(t, docs, "/docs")
	checkOutsideRoomPage(t, built, "/docs/vectors.json")
	for path, want := range map[string]bool{"/docsy": false, "/docs": true, "/docs/v3": true} {
		if got := IsDocs(path); got != want {
			t.Errorf("IsDocs(%q): got %v, want %v", path, got, want)
		}
	}
}

func TestNewDocs_NotBuilt(t *testing.T) {
	t.Parallel()
	if _, err := NewDocs(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("got error %v, want one that names make build", err)
	}
}
