package httpx

import "net/http"

// The headers of every response. A page replaces those that it needs otherwise.
// Their values are shared, so that they cost no allocation for each response.
var (
	noSniff    = []string{"nosniff"}
	noReferrer = []string{"no-referrer"}
	sameOrigin = []string{"same-origin"}
	// denyAllPolicy is the policy of a response that is data: a browser that is
	// led to show it loads nothing, and no page shows it in a frame.
	denyAllPolicy   = []string{"default-src 'none'; frame-ancestors 'none'"}
	connectionClose = []string{"close"}
	// hstsMaxAge is for 30 days, for this host name alone: the operator may serve
	// other things below it, and can go back within a month.
	hstsMaxAge = []string{"max-age=2592000"}
)

// setSecurityHeaders sets the headers of every response.
func setSecurityHeaders(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["X-Content-Type-Options"] = noSniff
	h["Referrer-Policy"] = noReferrer
	h["Content-Security-Policy"] = denyAllPolicy
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	if len(r.TransferEncoding) > 0 {
		// net/http removes a Content-Length beside chunked encoding, so nobody can
		// see whether there was one. Bytes behind such a body may be a smuggled
		// request (RFC 9112, section 6.1): they are not read.
		h["Connection"] = connectionClose
	}
}

// WithHSTS has browsers use HTTPS alone from the first response on
// (Strict-Transport-Security). It is for servers whose public URL is https.
func WithHSTS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Strict-Transport-Security"] = hstsMaxAge
		next.ServeHTTP(w, r)
	})
}

// ReadOnly answers 405 to methods other than GET and HEAD.
func ReadOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			WriteJSON(w, http.StatusMethodNotAllowed, struct {
				Error string `json:"error"`
			}{"this path takes GET, HEAD, not " + r.Method})
			return
		}
		next.ServeHTTP(w, r)
	})
}
