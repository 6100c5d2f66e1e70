package testkit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificate is a self-signed certificate of localhost and 127.0.0.1, in PEM. It is valid for 90
// days and as many more as its serial number says.
type Certificate struct {
	CertPEM, KeyPEM []byte
	Pair            tls.Certificate // for servers
	Pool            *x509.CertPool  // with the certificate, for clients
}

// NewCertificate returns a certificate with a serial number.
func NewCertificate(t testing.TB, serial int64) Certificate {
	t.Helper()
	return NewCertificateUntil(t, serial, time.Now().Add(time.Duration(90+serial)*24*time.Hour))
}

// NewCertificateUntil returns a certificate with a serial number and an end of its validity, which
// begins 90 days before that or an hour ago, whichever is earlier.
func NewCertificateUntil(t testing.TB, serial int64, end time.Time) Certificate {
	t.Helper()
	c, err := MakeCertificate(serial, end)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// NewCertificateFrom returns a certificate with a serial number that is valid for 90 days from a time on.
func NewCertificateFrom(t testing.TB, serial int64, begin time.Time) Certificate {
	t.Helper()
	c, err := makeCertificate(serial, begin, begin.Add(90*24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// MakeCertificate is NewCertificateUntil for programs that are not tests.
func MakeCertificate(serial int64, end time.Time) (Certificate, error) {
	begin := time.Now().Add(-time.Hour)
	if early := end.Add(-90 * 24 * time.Hour); early.Before(begin) {
		begin = early
	}
	return makeCertificate(serial, begin, end)
}

func makeCertificate(serial int64, begin, end time.Time) (c Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(serial),
		Subject:               pkix.Name{CommonName: "localhost"},
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:             begin,
		NotAfter:              end,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return c, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return c, err
	}
	c = Certificate{
		CertPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		KeyPEM:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		Pool:    x509.NewCertPool(),
	}
	c.Pool.AppendCertsFromPEM(c.CertPEM)
	c.Pair, err = tls.X509KeyPair(c.CertPEM, c.KeyPEM)
	return c, err
}

// Write writes the certificate and its key to cert.pem and key.pem in a directory.
func (c Certificate) Write(t testing.TB, dir string) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile, err := c.WriteTo(dir)
	if err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// WriteTo is Write for programs that are not tests.
func (c Certificate) WriteTo(dir string) (certFile, keyFile string, err error) {
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	return certFile, keyFile, errors.Join(os.WriteFile(certFile, c.CertPEM, 0o600), os.WriteFile(keyFile, c.KeyPEM, 0o600))
}
