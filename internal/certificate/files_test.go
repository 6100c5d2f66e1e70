package certificate

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/testkit"
)

func TestLoadFiles_Refused(t *testing.T) {
	first, other := testkit.NewCertificate(t, 1), testkit.NewCertificate(t, 2)
	const form = "--tls-cert-file (PARLEY_TLS_CERT_FILE) must be a certificate in PEM, " +
		"and --tls-key-file (PARLEY_TLS_KEY_FILE) its key: "
	for name, c := range map[string]struct {
		cert, key []byte
		want      string
	}{
		"key of another certificate": {first.CertPEM, other.KeyPEM, "tls: private key does not match public key"},
		"no certificate":             {[]byte("hello"), first.KeyPEM, "tls: failed to find any PEM data in certificate input"},
		"half a certificate": {first.CertPEM[:len(first.CertPEM)/2], first.KeyPEM,
			"tls: failed to find any PEM data in certificate input"},
		"certificate as key": {first.CertPEM, first.CertPEM,
			"tls: found a certificate rather than a key in the PEM for the private key"},
	} {
		t.Run(name, func(t *testing.T) {
			certFile, keyFile := testkit.Certificate{CertPEM: c.cert, KeyPEM: c.key}.Write(t, t.TempDir())
			_, err := LoadFiles(certFile, keyFile, slog.New(slog.DiscardHandler))
			if want := form + c.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		const want = "--tls-cert-file (PARLEY_TLS_CERT_FILE): cannot read the certificate: open none.pem: no such file or directory"
		_, err := LoadFiles("none.pem", "none.pem", slog.New(slog.DiscardHandler))
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
}

// New files are used without a restart. Files that do not fit together, such as those in the
// middle of a change, are reported once and change nothing.
func TestFiles_FollowChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		first, next := testkit.NewCertificate(t, 1), testkit.NewCertificate(t, 2)
		certFile, keyFile := first.Write(t, dir)
		var log testkit.Buffer
		files, err := LoadFiles(certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go files.Run(ctx)
		served := func() int64 {
			t.Helper()
			time.Sleep(2 * reloadInterval)
			synctest.Wait()
			c, err := files.TLSConfig().GetCertificate(nil)
			if err != nil {
				t.Fatal(err)
			}
			return c.Leaf.SerialNumber.Int64()
		}
		testkit.Certificate{CertPEM: next.CertPEM, KeyPEM: first.KeyPEM}.Write(t, dir)
		if got := served(); got != 1 {
			t.Errorf("with files that do not fit: got the certificate %d, want 1", got)
		}
		if got := strings.Count(log.String(), "load changed certificate failed"); got != 1 {
			t.Errorf("got %d lines about the failure, want 1, in\n%s", got, &log)
		}
		expiry := files.Leaf().NotAfter
		next.Write(t, dir)
		if got := served(); got != 2 {
			t.Errorf("after the change: got the certificate %d, want 2", got)
		}
		if got, want := files.Leaf().NotAfter, expiry.Add(24*time.Hour); !got.Equal(want) {
			t.Errorf("got the expiry %s, want %s", got, want)
		}
		if strings.Contains(log.String(), "PRIVATE KEY") {
			t.Errorf("got a key in the log\n%s", &log)
		}
	})
}
