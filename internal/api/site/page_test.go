package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"parley/internal/room"
)

func TestHandler_ServesBuiltFiles(t *testing.T) {
	t.Parallel()
	h, err := New(fstest.MapFS{
		"index.html":          {Data: []byte("<!doctype html>")},
		"assets/main-1.js":    {Data: []byte("plain")},
		"assets/main-1.js.br": {Data: []byte("br")},
		"assets/main-1.js.gz": {Data: []byte("gz")},
		"favicon.svg":         {Data: []byte("<svg/>")},
	}, fakeRooms{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path, encoding string
		status         int
		body, cache    string
		kind           string
	}{
		{"/r/0197", "", 200, "<!doctype html>", "no-cache", "text/html"},
		{"/r/0197/more", "", 200, "<!doctype html>", "no-cache", "text/html"},
		{"/check", "", 200, "<!doctype html>", "no-cache", "text/html"},
		{"/", "", 404, "<!doctype html>", "no-cache", "text/html"},
		{"/assets/main-1.js", "", 200, "plain", "public, max-age=31536000, immutable", "text/javascript"},
		{"/assets/main-1.js", "gzip", 200, "gz", "public, max-age=31536000, immutable", "text/javascript"},
		{"/assets/main-1.js", "gzip, br", 200, "br", "public, max-age=31536000, immutable", "text/javascript"},
		{"/assets/other.js", "", 404, "<!doctype html>", "no-cache", "text/html"},
		{"/favicon.svg", "br", 200, "<svg/>", "public, max-age=3600", "image/svg+xml"},
	} {
		r := httptest.NewRequest(http.MethodGet, tc.path, nil)
		r.Header.Set("Accept-Encoding", tc.encoding)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.status || w.Body.String() != tc.body || w.Header().Get("Cache-Control") != tc.cache ||
			!strings.HasPrefix(w.Header().Get("Content-Type"), tc.kind) {
			t.Errorf("%s: got %d %q %v, want %d %q, Cache-Control %q",
				tc.path, w.Code, w.Body, w.Header(), tc.status, tc.body, tc.cache)
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
			strings.Contains(policy, "http") {
			t.Errorf("%s: got policy %q, want default-src none, nothing unsafe and no other host", tc.path, policy)
		}
		if w.Header().Get("Referrer-Policy") != "no-referrer" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: got headers %v, want Referrer-Policy no-referrer and nosniff", tc.path, w.Header())
		}
	}
	checkReadOnly(t, h, "/r/0197")
}

// fakeRooms maps the id of a room to the origins that may embed it.
type fakeRooms map[string][]string

func (e fakeRooms) RoomPage(_ context.Context, roomID string) (room.LinkPreview, []string) {
	return room.LinkPreview{}, e[roomID]
}

// previewedRooms maps the id of a room to the preview of its links.
type previewedRooms map[string]room.LinkPreview

func (e previewedRooms) RoomPage(_ context.Context, roomID string) (room.LinkPreview, []string) {
	return e[roomID], nil
}

// TestHandler_LinkPreview checks that the page of a room whose title is public has
// the tags for previews of links with the brand of its project, that title and name
// cannot add HTML, and that every other address gets the built page.
func TestHandler_LinkPreview(t *testing.T) {
	t.Parallel()
	const built = "<html><head><title>Parley</title></head><body></body></html>"
	h, err := New(fstest.MapFS{"index.html": {Data: []byte(built)}, "index.html.gz": {Data: []byte("gz")}},
		previewedRooms{"0197": {Title: `Algebra "II" </head><script>`},
			"0199":                                 {Title: "Algebra", BrandName: `Acme "&"`, LogoURL: "https://meet.example.org/logo"},
			"0200":                                 {BrandName: "Acme", LogoURL: "https://meet.example.org/logo"},
			"0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71": {Title: "Algebra"}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/r/0197": `<html><head><title>Parley</title><meta property="og:site_name" content="Parley">` +
			`<meta property="og:title" content="Algebra &#34;II&#34; &lt;/head&gt;&lt;script&gt;">` +
			`<meta property="og:description" content="Open this link to join in your browser, without an account or an app.">` +
			`</head><body></body></html>`,
		"/r/0199": `<html><head><title>Parley</title><meta property="og:site_name" content="Acme &#34;&amp;&#34;">` +
			`<meta property="og:title" content="Algebra">` +
			`<meta property="og:description" content="Open this link to join in your browser, without an account or an app.">` +
			`<meta property="og:image" content="https://meet.example.org/logo"></head><body></body></html>`,
		"/r/0197C9B4-6D1F-7A22-9C55-0D6A4B8E3F71": `<html><head><title>Parley</title>` +
			`<meta property="og:site_name" content="Parley"><meta property="og:title" content="Algebra">` +
			`<meta property="og:description" content="Open this link to join in your browser, without an account or an app.">` +
			`</head><body></body></html>`,
		"/r/0198": built,
		"/r/0200": built,
		"/":       built,
		"/0197":   built,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Body.String() != want || w.Header().Get("Content-Length") != strconv.Itoa(len(want)) {
			t.Errorf("%s: got %s with Content-Length %s\nwant %s with %d", path, w.Body,
				w.Header().Get("Content-Length"), want, len(want))
		}
	}
}

// TestHandler_FrameAncestors checks that only the page of a room can be
// embedded, by the origins that its project allows.
func TestHandler_FrameAncestors(t *testing.T) {
	t.Parallel()
	h, err := New(fstest.MapFS{"index.html": {Data: []byte("page")}, "assets/a.js": {Data: []byte("js")}},
		fakeRooms{"0197": {"https://a.example", "https://b.example:8443"}, "": {"https://c.example"},
			"assets/a.js": {"https://c.example"}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/r/0197":      "https://a.example https://b.example:8443",
		"/r/0197?x=y":  "https://a.example https://b.example:8443",
		"/r/0198":      "'none'",
		"/r/0197/more": "'none'",
		"/":            "'none'",
		"/0197":        "'none'",
		"/index.html":  "'none'",
		"/assets/a.js": "'none'",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
			policy, refused := w.Header().Get("Content-Security-Policy"), w.Header().Get("X-Frame-Options")
			if !strings.HasSuffix(policy, "; form-action 'none'; frame-ancestors "+want) ||
				strings.Count(policy, "frame-ancestors") != 1 {
				t.Errorf("%s %s: got policy %q, want %s", method, path, policy, want)
			}
			if (refused == "DENY") != (want == "'none'") || refused != "" && refused != "DENY" {
				t.Errorf("%s %s: got X-Frame-Options %q, want DENY %v", method, path, refused, want == "'none'")
			}
		}
	}
}

func TestNew_NotBuilt(t *testing.T) {
	t.Parallel()
	if _, err := New(fstest.MapFS{}, fakeRooms{}); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("got error %v, want one that names make build", err)
	}
}
