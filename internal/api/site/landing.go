package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// landingFile is the built landing page, beside the documentation whose style it has.
const landingFile = "landing.html"

// healthMark is where the built page has no health yet.
var healthMark = []byte("<!-- health -->")

// Landing serves the page of the address of the server itself: what the service is, whether
// it works, and where the documentation is.
type Landing struct {
	page   file
	health func(ctx context.Context) map[string]string
}

// NewLanding reads the built page. health returns the state of each part of the service, in
// the words of /healthz, and that of the whole as "status". NewLanding returns an error if
// the page was not built.
func NewLanding(assets fs.FS, health func(ctx context.Context) map[string]string) (*Landing, error) {
	page, err := fs.ReadFile(assets, docsDir+"/"+landingFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(page, healthMark) {
		return nil, errors.New("the landing page was not built into this binary: run make build")
	}
	if err != nil {
		return nil, fmt.Errorf("read the landing page: %w", err)
	}
	return &Landing{page: file{contentType: "text/html; charset=utf-8", uncompressed: page}, health: health}, nil
}

// ServeHTTP implements http.Handler.
func (l *Landing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !requireGetOrHead(w, r) {
		return
	}
	setSecurityHeaders(w.Header(), docsPolicy, nil)
	w.Header().Set("Cache-Control", "no-store")
	page := l.page
	page.uncompressed = bytes.Replace(page.uncompressed, healthMark, []byte(healthHTML(l.health(r.Context()))), 1)
	page.serve(w, r, http.StatusOK)
}

// healthHTML says in a sentence whether the service works, and which parts do not.
func healthHTML(report map[string]string) string {
	var broken []string
	for _, part := range slices.Sorted(maps.Keys(report)) {
		if state := report[part]; part != "status" && (state == "unavailable" || state == "read_only") {
			broken = append(broken, html.EscapeString(part+": "+strings.ReplaceAll(state, "_", " ")))
		}
	}
	if report["status"] == "ok" && len(broken) == 0 {
		return `<p class="health ok">The service works.</p>`
	}
	sentence := "The service is stopping or does not work completely."
	if report["status"] == "draining" {
		sentence = "This node gives its meetings to other nodes."
	}
	if len(broken) > 0 {
		sentence = "A part of the service does not work (" + strings.Join(broken, ", ") + ")."
	}
	return `<p class="health problem" role="alert">` + sentence + ` Meetings that run may continue.</p>`
}
