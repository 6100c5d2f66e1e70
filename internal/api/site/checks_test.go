package site

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// checkPolicy checks that a page may load only from this host, run no inline code, and be in no frame.
func checkPolicy(t *testing.T, path string, header http.Header) {
	t.Helper()
	policy := header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") ||
		strings.Contains(policy, "http") || !strings.HasSuffix(policy, "; frame-ancestors 'none'") ||
		header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("%s: got the headers %v, want a policy that allows only this host and no frame", path, header)
	}
}

// checkReadOnly checks that a path refuses POST.
func checkReadOnly(t *testing.T, handler http.Handler, path string) {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST %s: got status %d, Allow %q, want 405", path, w.Code, w.Header().Get("Allow"))
	}
}

// checkOutsideRoomPage checks that the room page does not serve a file of another page.
func checkOutsideRoomPage(t *testing.T, built fs.FS, path string) {
	t.Helper()
	room, err := New(built, fakeRooms{})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	room.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusNotFound || w.Body.String() != "the room" {
		t.Errorf("the room page, %s: got %d %q, want 404 %q", path, w.Code, w.Body, "the room")
	}
}
