package site

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

// consoleDir is the directory of the built console.
const consoleDir = "console"

// consolePolicy is the Content-Security-Policy of the console: it may load only from its own
// host, and calls the management API.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self'; base-uri 'none'; form-action 'none'"

// Console serves the console, which is one HTML file for every path under /console, and its
// assets.
type Console struct {
	files map[string]file
}

// NewConsole reads the built console. It returns an error if the console was not built.
func NewConsole(assets fs.FS) (*Console, error) {
	dir, err := fs.Sub(assets, consoleDir)
	if err != nil {
		return nil, fmt.Errorf("find the console: %w", err)
	}
	files, err := readFiles(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the console: %w", err)
	}
	if _, ok := files["index.html"]; !ok {
		return nil, errors.New("the console was not built into this binary: run make build")
	}
	return &Console{files}, nil
}

// IsConsole reports whether a path belongs to the console.
func IsConsole(path string) bool { return path == "/console" || strings.HasPrefix(path, "/console/") }

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !requireGetOrHead(w, r) {
		return
	}
	setSecurityHeaders(w.Header(), consolePolicy, nil)
	name := strings.TrimPrefix(r.URL.Path, "/console/")
	if !strings.HasPrefix(name, "assets/") {
		// The page itself says that it has no such page.
		w.Header().Set("Cache-Control", cacheRevalidate)
		c.files["index.html"].serve(w, r, http.StatusOK)
		return
	}
	f, known := c.files[name]
	if !known {
		http.Error(w, "the console has no such file: reload the page", http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", cacheImmutable)
	f.serve(w, r, http.StatusOK)
}
