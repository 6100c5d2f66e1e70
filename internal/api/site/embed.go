package site

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
)

// embedDir is the directory of the built script of the web component.
const embedDir = "embed"

// EmbedPath is the path of the script that defines the web component with which other sites
// show a room.
const EmbedPath = "/embed.js"

// EmbedScript serves the script of the web component to pages of every origin. It contains
// nothing secret; the policy of the room page decides which pages can show a room.
type EmbedScript struct {
	script file
}

// NewEmbedScript reads the built script. It returns an error if the script was not built.
func NewEmbedScript(assets fs.FS) (*EmbedScript, error) {
	dir, err := fs.Sub(assets, embedDir)
	if err != nil {
		return nil, fmt.Errorf("find the web component: %w", err)
	}
	files, err := readFiles(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the web component: %w", err)
	}
	script, ok := files["embed.js"]
	if !ok {
		return nil, errors.New("the web component was not built into this binary: run make build")
	}
	return &EmbedScript{script}, nil
}

// ServeHTTP implements http.Handler.
func (e *EmbedScript) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !requireGetOrHead(w, r) {
		return
	}
	header := w.Header()
	setSecurityHeaders(header, "default-src 'none'", nil)
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	header.Set("Access-Control-Allow-Origin", "*") // for <script crossorigin>
	header.Set("Cache-Control", cacheOneHour)
	e.script.serve(w, r, http.StatusOK)
}
