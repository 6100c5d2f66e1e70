// Package certificate provides the TLS certificate of the service: from files of the operator
// (Files), or from an ACME authority (ACME). NotYetValid finds a certificate of any server that is refused
// because it is not valid yet. It imports certmagic and fault.
package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Source provides a certificate.
type Source interface {
	// TLSConfig returns the configuration of a server, without the protocols of HTTP in NextProtos.
	TLSConfig() *tls.Config
	// Run keeps the certificate up to date until ctx ends.
	Run(ctx context.Context)
	// Leaf returns the certificate that expires first, or nil if there is none yet, and the host names that have none.
	Leaf() (first *x509.Certificate, missing []string)
	// Failure returns why the last attempt to get the certificate of a host name failed; the zero value if it did not
	// fail, or was not made by this process.
	Failure(name string) Failure
	// HTTPHandler returns a handler for plain HTTP, which passes to next what is not for the source.
	HTTPHandler(next http.Handler) http.Handler
}

// Failure is why there is no new certificate, for an operator.
type Failure struct {
	Cause  string // without a full stop
	Remedy string // one line to change
}

// maxCause is the longest Cause in characters. A part of it is a text of the authority.
const maxCause = 300

// newFailure returns a Failure with a cause in one line.
func newFailure(cause, remedy string) Failure {
	cause = strings.TrimRight(strings.Join(strings.Fields(cause), " "), ".")
	if runes := []rune(cause); len(runes) > maxCause {
		cause = string(runes[:maxCause]) + "…"
	}
	return Failure{Cause: cause, Remedy: remedy}
}

// NotYetValid returns the certificate that was refused because its validity has not begun, or nil. The clock of this
// machine is then behind, unless the certificate was issued for a later time.
func NotYetValid(err error) *x509.Certificate {
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore) {
		return invalid.Cert
	}
	return nil
}
