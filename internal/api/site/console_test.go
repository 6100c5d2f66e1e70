package site

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func TestConsole_ServesBuiltFiles(t *testing.T) {
	t.Parallel()
	built := fstest.MapFS{
		"index.html":                   {Data: []byte("the room")},
		"console/index.html":           {Data: []byte("the console")},
		"console/assets/main-1.js":     {Data: []byte("plain")},
		"console/assets/main-1.js.gz":  {Data: []byte("gz")},
		"console/.vite/manifest.json":  {Data: []byte("{}")},
		"console/assets/main-1.css":    {Data: []byte("css")},
		"console/assets/main-1.css.br": {Data: []byte("br")},
	}
	console, err := NewConsole(built)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path, encoding string
		status         int
		body, cache    string
	}{
		{"/console", "", 200, "the console", "no-cache"},
		{"/console/", "", 200, "the console", "no-cache"},
		{"/console/rooms/0197", "br", 200, "the console", "no-cache"},
		{"/console/.vite/manifest.json", "", 200, "the console", "no-cache"},
		{"/console/assets/main-1.js", "gzip", 200, "gz", "public, max-age=31536000, immutable"},
		{"/console/assets/main-1.css", "gzip, br", 200, "br", "public, max-age=31536000, immutable"},
		{"/console/assets/main-2.js", "", 404, "the console has no such file: reload the page\n", ""},
	} {
		r := httptest.NewRequest(http.MethodGet, tc.path, nil)
		r.Header.Set("Accept-Encoding", tc.encoding)
		w := httptest.NewRecorder()
		console.ServeHTTP(w, r)
		if w.Code != tc.status || w.Body.String() != tc.body || w.Header().Get("Cache-Control") != tc.cache {
			t.Errorf("%s: got %d %q %v, want %d %q, Cache-Control %q",
				tc.path, w.Code, w.Body, w.Header(), tc.status, tc.body, tc.cache)
		}
		checkPolicy(t, tc.path, w.Header())
	}
	checkReadOnly(t, console, "/console")
	checkOutsideRoomPage(t, built, "/console/assets/main-1.js")
	for path, want := range map[string]bool{"/consoles": false, "/console": true, "/console/rooms": true} {
		if got := IsConsole(path); got != want {
			t.Errorf("IsConsole(%q): got %v, want %v", path, got, want)
		}
	}
}

func TestNewConsole_NotBuilt(t *testing.T) {
	t.Parallel()
	if _, err := NewConsole(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("got error %v, want one that names make build", err)
	}
}
