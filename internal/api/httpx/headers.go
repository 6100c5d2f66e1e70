package httpx

import "net/http"

// Values of the security headers. A page replaces the policy and adds headers that
// only matter for documents. The slices are shared so that a response allocates
// none. A response with more than eight headers costs a tenth more, because a map of
// more than eight entries does.
var (
	noSniff = []string{"nosniff"}
	// denyAllPolicy is the policy of a response that is data: a browser that
	// displays it loads nothing, and no page can embed it.
	denyAllPolicy   = []string{"default-src 'none'; frame-ancestors 'none'"}
	connectionClose = []string{"close"}
	// hstsMaxAge is 30 days, without includeSubDomains, because the operator may
	// serve other sites on subdomains and may want to return to http.
	hstsMaxAge = []string{"max-age=2592000"}
)

// setSecurityHeaders sets the security headers of a response.
func setSecurityHeaders(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["X-Content-Type-Options"] = noSniff
	h["Content-Security-Policy"] = denyAllPolicy
	if len(r.TransferEncoding) > 0 {
		// net/http removes a Content-Length beside chunked encoding, so that the
		// handler cannot detect one. Bytes after such a body may be a smuggled
		// request (RFC 9112, section 6.1), so the connection closes.
		h["Connection"] = connectionClose
	}
}

// WithHSTS adds Strict-Transport-Security to every response, so that browsers
// use only HTTPS. It is for servers whose public URL is https.
func WithHSTS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Strict-Transport-Security"] = hstsMaxAge
		next.ServeHTTP(w, r)
	})
}
