package v3

import (
	"net/http"
	"strconv"
	"time"

	"parley/internal/api/roomapi"
)

// Deprecation is when this version ends. A zero time is not set.
type Deprecation struct {
	// Deprecated is the time after which clients should not use the version.
	Deprecated time.Time
	// Sunset is the time after which the version is no longer served.
	Sunset time.Time
}

// successorLinks points to the next version and to the deprecation policy.
const successorLinks = `</api/v4/openapi.yaml>; rel="successor-version"; type="application/yaml", ` +
	`</docs/versions>; rel="deprecation"; type="text/html"`

// isDescription reports whether a path is that of the description of this version.
func isDescription(path string) bool {
	return path == "/api/v3/openapi.yaml" || path == "/api/v3/openapi.json"
}

// middleware adds the end of this version to every response (RFC 9745 and RFC
// 8594). After the sunset, only its description is served, because integrators who
// migrate still need it.
func (e Deprecation) middleware(now func() time.Time) func(a *roomapi.API, next http.Handler) http.Handler {
	if e.Deprecated.IsZero() && e.Sunset.IsZero() {
		return nil
	}
	headers := http.Header{"Link": {successorLinks}}
	if !e.Deprecated.IsZero() {
		headers.Set("Deprecation", "@"+strconv.FormatInt(e.Deprecated.Unix(), 10))
	}
	if !e.Sunset.IsZero() {
		headers.Set("Sunset", e.Sunset.UTC().Format(http.TimeFormat))
	}
	over := "version 3 ended on " + e.Sunset.UTC().Format(time.DateOnly) + ", use version 4"
	return func(a *roomapi.API, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, values := range headers {
				w.Header()[name] = values
			}
			if e.Sunset.IsZero() || now().Before(e.Sunset) || isDescription(r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			a.WriteErrorMessage(w, r, http.StatusGone, over)
		})
	}
}
