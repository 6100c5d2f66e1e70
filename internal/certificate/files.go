package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// reloadInterval is the time between two looks at the files. They are read and not only their
// times, because a mounted secret changes by a symbolic link.
const reloadInterval = 5 * time.Second

// Files is a certificate in files of the operator. It follows the files when they change.
type Files struct {
	certFile, keyFile string
	log               *slog.Logger
	loaded            atomic.Pointer[pair]
}

// pair is a certificate with its key, and the text of the files.
type pair struct {
	certificate     tls.Certificate
	certPEM, keyPEM []byte
}

// LoadFiles reads a certificate with its chain, and its key, from PEM files. It accepts a
// certificate that has expired, because people rather see a warning of their browser than
// nothing. Its errors name the setting and do not contain the key.
func LoadFiles(certFile, keyFile string, log *slog.Logger) (*Files, error) {
	f := &Files{certFile: certFile, keyFile: keyFile, log: log}
	p, err := f.read()
	if err != nil {
		return nil, err
	}
	f.loaded.Store(p)
	return f, nil
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

// Run loads the files again when they change, until ctx ends. New connections get the new
// certificate, and open ones stay. If the new files are not valid, it logs that once and keeps
// the old certificate.
func (f *Files) Run(ctx context.Context) {
	tick := time.NewTicker(reloadInterval)
	defer tick.Stop()
	logged := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p, err := f.read()
		if err != nil {
			if logged != err.Error() {
				f.log.Error("load changed certificate failed, the old one stays in use", "error", err)
			}
			logged = err.Error()
			continue
		}
		logged = ""
		if old := f.loaded.Load(); bytes.Equal(p.certPEM, old.certPEM) && bytes.Equal(p.keyPEM, old.keyPEM) {
			continue
		}
		f.loaded.Store(p)
		leaf := p.certificate.Leaf
		f.log.Info("certificate loaded again", "names", leaf.DNSNames, "expires", leaf.NotAfter)
	}
}

// TLSConfig returns the configuration of a server.
func (f *Files) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return &f.loaded.Load().certificate, nil
		},
	}
}

// HTTPHandler returns next.
func (f *Files) HTTPHandler(next http.Handler) http.Handler { return next }

// Leaf returns the certificate.
func (f *Files) Leaf() *x509.Certificate { return f.loaded.Load().certificate.Leaf }
