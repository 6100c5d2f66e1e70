// Package certificate provides the TLS certificate of the service: from files of the operator
// (Files), or from an ACME authority (ACME). It imports certmagic and fault.
package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
)

// Source provides a certificate.
type Source interface {
	// TLSConfig returns the configuration of a server, without the protocols of HTTP in NextProtos.
	TLSConfig() *tls.Config
	// Run keeps the certificate up to date until ctx ends.
	Run(ctx context.Context)
	// Leaf returns the certificate that expires first, or nil if there is none yet, and the host names that have none.
	Leaf() (first *x509.Certificate, missing []string)
	// HTTPHandler returns a handler for plain HTTP, which passes to next what is not for the source.
	HTTPHandler(next http.Handler) http.Handler
}
