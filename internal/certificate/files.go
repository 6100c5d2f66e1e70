package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// reloadInterval is the time between two looks at the files. They are read and not only their
// times, because a mounted secret changes by a symbolic link.
const reloadInterval = 5 * time.Second

// errNoCertificate ends the handshakes of clients while the files cannot be used.
var errNoCertificate = errors.New("no certificate yet")

// Files is a certificate in files of the operator. It follows the files when they change. A start with
// files that cannot be used is no failure, because everything but TLS works without them, and the server
// may be starting in the middle of a renewal or before their disk is mounted.
type Files struct {
	certFile, keyFile, host string
	log                     *slog.Logger
	loaded                  atomic.Pointer[pair]  // nil until the files can be used
	failure                 atomic.Pointer[error] // of the last Load; nil after a success
}

// pair is a certificate with its key, and the text of the files.
type pair struct {
	certificate     tls.Certificate
	certPEM, keyPEM []byte
}

// NewFiles returns a certificate with its chain, and its key, in PEM files, for a host. It has none before Load.
func NewFiles(certFile, keyFile, host string, log *slog.Logger) *Files {
	return &Files{certFile: certFile, keyFile: keyFile, host: host, log: log}
}

// Load reads the files. It accepts a certificate that has expired or is for another host, because people
// rather see a warning of their browser than nothing. Otherwise it logs once what is wrong, and the last
// certificate that Load accepted stays in use. The error names the setting and does not contain the key.
func (f *Files) Load() error {
	p, err := f.read()
	old := f.loaded.Load()
	if err != nil {
		if before := f.failure.Swap(&err); before != nil && (*before).Error() == err.Error() {
			return err
		}
		if old == nil {
			f.log.Error("load certificate failed, browsers cannot connect, will retry", "error", err)
		} else {
			f.log.Error("load changed certificate failed, the old one stays in use", "error", err)
		}
		return err
	}
	f.failure.Store(nil)
	if old != nil && bytes.Equal(p.certPEM, old.certPEM) && bytes.Equal(p.keyPEM, old.keyPEM) {
		return nil
	}
	f.loaded.Store(p)
	leaf := p.certificate.Leaf
	f.log.Info("certificate loaded", "names", leaf.DNSNames, "expires", leaf.NotAfter)
	if leaf.VerifyHostname(f.host) != nil {
		f.log.Warn("the certificate of --tls-cert-file (PARLEY_TLS_CERT_FILE) is not for the host of --public-url "+
			"(PARLEY_PUBLIC_URL): browsers refuse it", "host", f.host, "names", leaf.DNSNames)
	}
	return nil
}

func (f *Files) read() (*pair, error) {
	var p pair
	var err error
	if p.certPEM, err = os.ReadFile(f.certFile); err != nil {
		return nil, fmt.Errorf("--tls-cert-file (PARLEY_TLS_CERT_FILE): cannot read the certificate: %w", err)
	}
	if p.keyPEM, err = os.ReadFile(f.keyFile); err != nil {
		return nil, fmt.Errorf("--tls-key-file (PARLEY_TLS_KEY_FILE): cannot read the key: %w", err)
	}
	if p.certificate, err = tls.X509KeyPair(p.certPEM, p.keyPEM); err != nil {
		return nil, fmt.Errorf("--tls-cert-file (PARLEY_TLS_CERT_FILE) must be a certificate in PEM, "+
			"and --tls-key-file (PARLEY_TLS_KEY_FILE) its key: %w", err)
	}
	return &p, nil
}

// Failure returns why the files could not be used when they were last read. They are of the only host.
func (f *Files) Failure(string) Failure {
	err := f.failure.Load()
	switch {
	case err == nil:
		return Failure{}
	case errors.Is(*err, fs.ErrNotExist):
		return newFailure((*err).Error(), "Correct the path in --tls-cert-file or --tls-key-file, or create the file.")
	case errors.Is(*err, fs.ErrPermission):
		return newFailure((*err).Error(), "Let the user of the server read the files of --tls-cert-file and --tls-key-file.")
	}
	return newFailure((*err).Error(), "Set --tls-cert-file and --tls-key-file to a certificate and its key, both in PEM.")
}

// Run loads the files again when they change, until ctx ends. New connections get the new
// certificate, and open ones stay.
func (f *Files) Run(ctx context.Context) {
	tick := time.NewTicker(reloadInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = f.Load() // logged
		}
	}
}

// TLSConfig returns the configuration of a server. Its handshakes fail while there is no certificate.
func (f *Files) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			if p := f.loaded.Load(); p != nil {
				return &p.certificate, nil
			}
			return nil, errNoCertificate
		},
	}
}

// HTTPHandler returns next.
func (f *Files) HTTPHandler(next http.Handler) http.Handler { return next }

// Leaf returns the certificate, or nil and the host while there is none.
func (f *Files) Leaf() (first *x509.Certificate, missing []string) {
	if p := f.loaded.Load(); p != nil {
		return p.certificate.Leaf, nil
	}
	return nil, []string{f.host}
}
