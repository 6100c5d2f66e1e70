package site

import (
	"cmp"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"parley/internal/api/httpx"
)

// file is a built file with its compressed forms.
type file struct {
	contentType  string
	uncompressed []byte
	brotli, gzip []byte // nil if the build made none
}

// textTypes are the media types of text files that not every system knows, by the
// ending of their names.
var textTypes = map[string]string{
	".json": "application/json",
	".md":   "text/markdown; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
	".yaml": "application/yaml",
}

// readFiles returns the files of a directory tree by name, without those in the
// directories skipped.
func readFiles(assets fs.FS, skipped ...string) (map[string]file, error) {
	files := map[string]file{}
	err := fs.WalkDir(assets, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, name):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		body, err := fs.ReadFile(assets, name)
		if err != nil {
			return err
		}
		base, encoding := name, ""
		if ext := path.Ext(name); ext == ".br" || ext == ".gz" {
			base, encoding = strings.TrimSuffix(name, ext), ext
		}
		f := files[base]
		switch encoding {
		case ".br":
			f.brotli = body
		case ".gz":
			f.gzip = body
		default:
			f.uncompressed = body
			f.contentType = cmp.Or(textTypes[path.Ext(name)], mime.TypeByExtension(path.Ext(name)), "application/octet-stream")
		}
		files[base] = f
		return nil
	})
	return files, err
}

// requireGetOrHead responds with 405 and returns false for methods other than
// GET and HEAD.
func requireGetOrHead(w http.ResponseWriter, r *http.Request) (ok bool) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "this is a page and accepts only GET and HEAD: the paths of the API begin with /api/",
		http.StatusMethodNotAllowed)
	return false
}

// setSecurityHeaders sets the security headers of a response. policy is its
// Content-Security-Policy without frame-ancestors; ancestors are the origins
// that may embed it, where none means that no page may.
func setSecurityHeaders(header http.Header, policy string, ancestors []string) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer") // because the URL contains the room's id
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	if len(ancestors) == 0 {
		ancestors = []string{"'none'"}
		header.Set("X-Frame-Options", "DENY") // only here, because X-Frame-Options cannot name origins
	}
	header.Set("Content-Security-Policy", policy+"; frame-ancestors "+strings.Join(ancestors, " "))
}

// serve writes the smallest form of the file that the client accepts.
func (f file) serve(w http.ResponseWriter, r *http.Request, status int) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	body := f.uncompressed
	header.Add("Vary", "Accept-Encoding")
	switch {
	case f.brotli != nil && httpx.AcceptsEncoding(r, "br"):
		body = f.brotli
		header.Set("Content-Encoding", "br")
	case f.gzip != nil && httpx.AcceptsEncoding(r, "gzip"):
		body = f.gzip
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body)
	}
}

const (
	cacheRevalidate = "no-cache"
	cacheOneHour    = "public, max-age=3600"
	cacheImmutable  = "public, max-age=31536000, immutable" // for names that contain a hash
)
