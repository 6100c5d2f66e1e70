package site

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
)

// docsDir is the directory of the built documentation.
const docsDir = "docs"

// docsPolicy is the Content-Security-Policy of the documentation. It allows
// data: images because the viewer's styles contain some.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'"

// npmPackage matches the package for npm, whose name has the version of all packages of the SDKs.
var npmPackage = regexp.MustCompile(`^sdk/parley-sdk-(.+)\.tgz$`)

// Docs serves the documentation: /docs, its pages /docs/{name}, and their
// assets.
type Docs struct {
	files      map[string]file
	sdkVersion string // of the packages of the SDKs; empty if they were not built
}

// NewDocs reads the built documentation. It returns an error if the
// documentation was not built.
func NewDocs(assets fs.FS) (*Docs, error) {
	dir, err := fs.Sub(assets, docsDir)
	if err != nil {
		return nil, fmt.Errorf("find the documentation: %w", err)
	}
	files, err := readFiles(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the documentation: %w", err)
	}
	if _, ok := files["index.html"]; !ok {
		return nil, errors.New("the documentation was not built into this binary: run make build")
	}
	d := &Docs{files: files}
	for name := range files {
		if strings.HasPrefix(name, landingFile) {
			delete(files, name) // NewLanding serves it
		}
		if m := npmPackage.FindStringSubmatch(name); m != nil {
			d.sdkVersion = m[1]
		}
	}
	return d, nil
}

// IsDocs reports whether a path belongs to the documentation.
func IsDocs(path string) bool { return path == "/docs" || strings.HasPrefix(path, "/docs/") }

// ServeHTTP implements http.Handler.
func (d *Docs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !requireGetOrHead(w, r) {
		return
	}
	name := strings.Trim(strings.TrimPrefix(r.URL.Path, "/docs"), "/")
	if name == "" {
		name = "index"
	}
	cache := cacheRevalidate
	f, known := d.files[name]
	if strings.HasPrefix(name, "assets/") {
		cache = cacheImmutable
	} else if !known {
		f, known = d.files[name+".html"]
	}
	setSecurityHeaders(w.Header(), docsPolicy, nil)
	if !known {
		message := "there is no such page in the documentation, see /docs"
		if d.sdkVersion != "" && strings.HasPrefix(name, "sdk/") {
			message = "this server offers only version " + d.sdkVersion + " of its SDKs: install that version, " +
				"or a copy of an earlier one, see /docs/sdks"
		}
		http.Error(w, message, http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", cache)
	f.serve(w, r, http.StatusOK)
}
