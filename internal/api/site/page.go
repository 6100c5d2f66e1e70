// Package site serves what the web build makes: the room page, one HTML file
// for every room, the documentation under /docs, their assets, and the headers
// that keep all of them to themselves. It imports the standard library only
// and knows nothing of rooms but who may show them; the page asks the join API.
package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

// pagePolicy lets the page load from its own host and from nowhere else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"media-src 'self' blob:; font-src 'self'; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'"

// roomPrefix is where the page of a room is, before its id.
const roomPrefix = "r/"

// Rooms says whose pages may show a room.
type Rooms interface {
	// EmbedOrigins returns the origins that may show a room in a frame; none
	// when there is no such room, or nothing can be said of it.
	EmbedOrigins(ctx context.Context, roomID string) []string
}

// Handler serves the assets under their names, and the page under every other
// path; only /r/{room_id} is not 404.
type Handler struct {
	files map[string]file
	rooms Rooms
}

// New reads the built page. It fails when the page was not built.
func New(assets fs.FS, rooms Rooms) (*Handler, error) {
	files, err := readFiles(assets, docsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the room page: %w", err)
	}
	if _, ok := files["index.html"]; !ok {
		return nil, errors.New("the room page was not built into this binary: run make build")
	}
	return &Handler{files, rooms}, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !requireGetOrHead(w, r) {
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	f, isAsset := h.files[name]
	isPage := !isAsset || name == "index.html"
	status := http.StatusOK
	var ancestors []string
	if isPage {
		// The page itself says which addresses are no rooms.
		f = h.files["index.html"]
		if id, isRoom := strings.CutPrefix(name, roomPrefix); isRoom {
			ancestors = h.rooms.EmbedOrigins(r.Context(), id)
		} else {
			status = http.StatusNotFound
		}
	}
	cache := cacheOneHour
	switch {
	case isPage:
		cache = cacheRevalidate
		w.Header().Set("Permissions-Policy", "camera=(self), microphone=(self), display-capture=(self), autoplay=(self)")
	case strings.HasPrefix(name, "assets/"):
		cache = cacheImmutable
	}
	w.Header().Set("Cache-Control", cache)
	setSecurityHeaders(w.Header(), pagePolicy, ancestors)
	f.serve(w, r, status)
}
