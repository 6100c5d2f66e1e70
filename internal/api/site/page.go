// Package site serves the output of the web build: the room page, which is one
// HTML file for all rooms, the documentation under /docs, the console under
// /console, their assets, the script of the web component under /embed.js, and their security
// headers. Of rooms it knows only the previews of links and the origins that may embed them; the
// page calls the join API.
package site

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"strings"

	"parley/internal/room"
	"parley/internal/validate"
)

// pagePolicy is the Content-Security-Policy of the room page: it may load only
// from its own host.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self'; worker-src 'self' blob:; " +
	"manifest-src 'self'; base-uri 'none'; form-action 'none'"

// checkPage is the path of the page that checks the connection with the code in its fragment.
const checkPage = "check"

// roomPrefix precedes the room's id in the path of a room page.
const roomPrefix = "r/"

// Rooms looks up what the HTML of a room's page contains.
type Rooms interface {
	// RoomPage returns the preview of links to a room, and the origins whose pages
	// may embed it in a frame. The preview is empty if not everybody with the address
	// may read the title. It returns nothing if there is no such room or the lookup
	// failed.
	RoomPage(ctx context.Context, roomID string) (preview room.LinkPreview, embedOrigins []string)
}

// Handler serves the assets under their names, and the room page under every
// other path: with status 200 under /r/{room_id} and /check, else with 404.
type Handler struct {
	files map[string]file
	rooms Rooms
}

// New reads the built page. It returns an error if the page was not built.
func New(assets fs.FS, rooms Rooms) (*Handler, error) {
	files, err := readFiles(assets, docsDir, consoleDir, embedDir)
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
		// The page itself shows the error if there is no such room.
		f = h.files["index.html"]
		if id, isRoom := strings.CutPrefix(name, roomPrefix); isRoom {
			id, _ = validate.ParseUUID(id)
			var preview room.LinkPreview
			preview, ancestors = h.rooms.RoomPage(r.Context(), id)
			if preview.Title != "" {
				f = f.withLinkPreview(preview)
			}
		} else if name != checkPage {
			status = http.StatusNotFound
		}
	}
	cache := cacheOneHour
	switch {
	case isPage:
		cache = cacheRevalidate
		w.Header().Set("Permissions-Policy",
			"camera=(self), microphone=(self), display-capture=(self), autoplay=(self)")
	case strings.HasPrefix(name, "assets/"):
		cache = cacheImmutable
	}
	w.Header().Set("Cache-Control", cache)
	setSecurityHeaders(w.Header(), pagePolicy, ancestors)
	f.serve(w, r, status)
}

// withLinkPreview returns the page with the tags that messengers read to preview
// a link (https://ogp.me). It is not compressed, because it is small. The text
// says nothing about the people in the room.
func (f file) withLinkPreview(p room.LinkPreview) file {
	tags := metaTag("og:site_name", cmp.Or(p.BrandName, "Parley")) + metaTag("og:title", p.Title) +
		metaTag("og:description", "Open this link to join in your browser, without an account or an app.")
	if p.LogoURL != "" {
		tags += metaTag("og:image", p.LogoURL)
	}
	page := bytes.Replace(f.uncompressed, []byte("</head>"), []byte(tags+"</head>"), 1)
	return file{contentType: f.contentType, uncompressed: page}
}

func metaTag(property, content string) string {
	return `<meta property="` + property + `" content="` + html.EscapeString(content) + `">`
}
