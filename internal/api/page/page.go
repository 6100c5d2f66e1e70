// Package page serves what the web build makes: the room page, one HTML file
// for every room, the documentation under /docs, their assets, and the headers
// that keep all of them to themselves. It imports the standard library only
// and knows nothing of rooms; the page asks the join API.
package page

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

// policy lets the page load from its own host and from nowhere else, and be
// framed by nobody.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"media-src 'self' blob:; font-src 'self'; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the assets under their names, and the page under every other
// path; only /r/{room_id} is not 404.
type Handler struct {
	files map[string]file
}

// New reads the built page. It fails when the page was not built.
func New(assets fs.FS) (*Handler, error) {
	files, err := read(assets, docsFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the room page: %w", err)
	}
	if _, ok := files["index.html"]; !ok {
		return nil, errors.New("the room page was not built into this binary: run make build")
	}
	return &Handler{files}, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !readOnly(w, r) {
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	f, isAsset := h.files[name]
	isPage := !isAsset || name == "index.html"
	status := http.StatusOK
	if isPage {
		// The page itself says which addresses are no rooms.
		f = h.files["index.html"]
		if !strings.HasPrefix(name, "r/") {
			status = http.StatusNotFound
		}
	}
	cache := cacheHour
	switch {
	case isPage:
		cache = cacheCheck
		w.Header().Set("Permissions-Policy", "camera=(self), microphone=(self), display-capture=(self), autoplay=(self)")
	case strings.HasPrefix(name, "assets/"):
		cache = cacheForEver
	}
	w.Header().Set("Cache-Control", cache)
	f.send(w, r, status, policy)
}
