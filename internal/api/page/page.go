// Package page serves the room page: one HTML file for every room, its assets,
// and the headers that keep both to themselves. It imports the standard
// library only and knows nothing of rooms; the page asks the join API.
package page

import (
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
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

// file is an asset with the forms it can be sent in.
type file struct {
	kind         string
	plain        []byte
	brotli, gzip []byte // nil when the build made none
}

// New reads the built page. It fails when the page was not built.
func New(assets fs.FS) (*Handler, error) {
	h := &Handler{files: map[string]file{}}
	err := fs.WalkDir(assets, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(assets, name)
		if err != nil {
			return err
		}
		base, form := name, ""
		if ext := path.Ext(name); ext == ".br" || ext == ".gz" {
			base, form = strings.TrimSuffix(name, ext), ext
		}
		f := h.files[base]
		switch form {
		case ".br":
			f.brotli = body
		case ".gz":
			f.gzip = body
		default:
			f.plain = body
			f.kind = mime.TypeByExtension(path.Ext(name))
		}
		h.files[base] = f
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the room page: %w", err)
	}
	if _, ok := h.files["index.html"]; !ok {
		return nil, errors.New("the room page was not built into this binary: run make build")
	}
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this page can only be read", http.StatusMethodNotAllowed)
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
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer") // a link's room must not travel on
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	switch {
	case isPage:
		header.Set("Cache-Control", "no-cache")
		header.Set("Permissions-Policy", "camera=(self), microphone=(self), display-capture=(self), autoplay=(self)")
	case strings.HasPrefix(name, "assets/"):
		header.Set("Cache-Control", "public, max-age=31536000, immutable") // names carry a hash
	default:
		header.Set("Cache-Control", "public, max-age=3600")
	}
	body := f.plain
	header.Add("Vary", "Accept-Encoding")
	accepted := r.Header.Get("Accept-Encoding")
	switch {
	case f.brotli != nil && strings.Contains(accepted, "br"):
		body = f.brotli
		header.Set("Content-Encoding", "br")
	case f.gzip != nil && strings.Contains(accepted, "gzip"):
		body = f.gzip
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body)
	}
}
