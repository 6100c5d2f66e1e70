package site

import (
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// file is a built file with the forms it can be sent in.
type file struct {
	contentType  string
	uncompressed []byte
	brotli, gzip []byte // nil when the build made none
}

// readFiles returns the files of a folder by their names, without those below skip.
func readFiles(built fs.FS, skip string) (map[string]file, error) {
	files := map[string]file{}
	err := fs.WalkDir(built, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == skip:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		body, err := fs.ReadFile(built, name)
		if err != nil {
			return err
		}
		base, form := name, ""
		if ext := path.Ext(name); ext == ".br" || ext == ".gz" {
			base, form = strings.TrimSuffix(name, ext), ext
		}
		f := files[base]
		switch form {
		case ".br":
			f.brotli = body
		case ".gz":
			f.gzip = body
		default:
			f.uncompressed = body
			f.contentType = mime.TypeByExtension(path.Ext(name))
		}
		files[base] = f
		return nil
	})
	return files, err
}

// requireGetOrHead answers for methods that change something.
func requireGetOrHead(w http.ResponseWriter, r *http.Request) (ok bool) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "this page can only be read", http.StatusMethodNotAllowed)
	return false
}

// setSecurityHeaders sets the headers that all we serve has, with a policy of what it may
// load and the origins whose pages may show it in a frame; nobody's without any.
func setSecurityHeaders(header http.Header, policy string, ancestors []string) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer") // a link's room must not travel on
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	if len(ancestors) == 0 {
		ancestors = []string{"'none'"}
		header.Set("X-Frame-Options", "DENY") // which can name no origins
	}
	header.Set("Content-Security-Policy", policy+"; frame-ancestors "+strings.Join(ancestors, " "))
}

// serve answers with the smallest form of a file that the caller takes.
func (f file) serve(w http.ResponseWriter, r *http.Request, status int) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	body := f.uncompressed
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

const (
	cacheRevalidate = "no-cache"
	cacheOneHour    = "public, max-age=3600"
	cacheImmutable  = "public, max-age=31536000, immutable" // for names that carry a hash
)
