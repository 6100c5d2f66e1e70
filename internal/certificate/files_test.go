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

func TestFiles_LoadFails(t *testing.T) {
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
			err := NewFiles(certFile, keyFile, "localhost", slog.New(slog.DiscardHandler)).Load()
			if want := form + c.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		const want = "--tls-cert-file (PARLEY_TLS_CERT_FILE): cannot read the certificate: open none.pem: no such file or directory"
		err := NewFiles("none.pem", "none.pem", "localhost", slog.New(slog.DiscardHandler)).Load()
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
		files := NewFiles(certFile, keyFile, "localhost", slog.New(slog.NewTextHandler(&log, nil)))
		if err := files.Load(); err != nil {
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
		leaf, _ := files.Leaf()
		expiry := leaf.NotAfter
		next.Write(t, dir)
		if got := served(); got != 2 {
			t.Errorf("after the change: got the certificate %d, want 2", got)
		}
		leaf, _ = files.Leaf()
		if got, want := leaf.NotAfter, expiry.Add(24*time.Hour); !got.Equal(want) {
			t.Errorf("got the expiry %s, want %s", got, want)
		}
		if strings.Contains(log.String(), "PRIVATE KEY") {
			t.Errorf("got a key in the log\n%s", &log)
		}
	})
}

// A certificate for another host is used, and the log says that browsers refuse it.
func TestFiles_OtherHost(t *testing.T) {
	t.Parallel()
	certFile, keyFile := testkit.NewCertificate(t, 1).Write(t, t.TempDir())
	for host, want := range map[string]bool{"localhost": false, "127.0.0.1": false, "meet.example.org": true} {
		var log testkit.Buffer
		files := NewFiles(certFile, keyFile, host, slog.New(slog.NewTextHandler(&log, nil)))
		err := files.Load()
		if leaf, missing := files.Leaf(); err != nil || leaf == nil || len(missing) > 0 {
			t.Errorf("%s: got the certificate %v, the missing names %q and %v, want a certificate", host, leaf, missing, err)
		}
		if got := strings.Contains(log.String(), "is not for the host of --public-url"); got != want {
			t.Errorf("%s: got a warning %t, want %t, in\n%s", host, got, want, &log)
		}
	}
}
