package v3

import (
	"net/http"
	"strconv"
	"time"

	"parley/internal/api/rooms"
)

// Deprecation is how this version ends, where the operator has set dates. A
// zero time is not set.
type Deprecation struct {
	// Deprecated is from when on the version should not be used any more.
	Deprecated time.Time
	// Sunset is from when on it is not served any more.
	Sunset time.Time
}

// successorLinks is where those who call this version may go, and the policy.
const successorLinks = `</api/v4/openapi.yaml>; rel="successor-version"; type="application/yaml", </docs/versions>; rel="deprecation"; type="text/html"`

// middleware adds to every answer when this version ends (RFC 9745 and RFC
// 8594). After that only its description is served, for those who leave it.
func (e Deprecation) middleware(now func() time.Time, api *rooms.API, next http.Handler) http.Handler {
	if e.Deprecated.IsZero() && e.Sunset.IsZero() {
		return next
	}
	headers := http.Header{"Link": {successorLinks}}
	if !e.Deprecated.IsZero() {
		headers.Set("Deprecation", "@"+strconv.FormatInt(e.Deprecated.Unix(), 10))
	}
	if !e.Sunset.IsZero() {
		headers.Set("Sunset", e.Sunset.UTC().Format(http.TimeFormat))
	}
	over := "version 3 ended on " + e.Sunset.UTC().Format(time.DateOnly) + ", use version 4"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range headers {
			w.Header()[name] = values
		}
		if e.Sunset.IsZero() || now().Before(e.Sunset) || r.URL.Path == "/api/v3/openapi.yaml" {
			next.ServeHTTP(w, r)
			return
		}
		api.WriteErrorMessage(w, r, http.StatusGone, over)
	})
}
