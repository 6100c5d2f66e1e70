package certificate

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mholt/acmez/v3/acme"

	"parley/internal/fault"
	"parley/internal/testkit"
)

// emptyStore is a store without files.
type emptyStore struct{ Store }

func (emptyStore) ACMEFile(context.Context, string) ([]byte, time.Time, error) {
	return nil, time.Time{}, fault.New(fault.NotFound, "not_found", "there is no such file")
}

// A certificate of the authority's own server that is not valid now is a matter of the clock, not of the network.
func TestRemedy_Clock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		certificate testkit.Certificate
		want        string
	}{
		"behind":  {testkit.NewCertificateFrom(t, 1, time.Now().Add(time.Hour)), "Set the clock of this machine, which is behind"},
		"ahead":   {testkit.NewCertificateUntil(t, 1, time.Now().Add(-time.Hour)), "If the clock of this machine is ahead"},
		"unknown": {testkit.NewCertificate(t, 1), "Let this machine connect to https://ca.example.test/directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.TLS = &tls.Config{Certificates: []tls.Certificate{c.certificate.Pair}}
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.StartTLS()
			defer server.Close()
			_, err := http.Get(server.URL)
			a := &ACME{client: &acme.Client{Directory: "https://ca.example.test/directory"}}
			if got := a.remedy(t.Context(), "meet.example.test", err); !strings.HasPrefix(got, c.want) {
				t.Errorf("%v: got the remedy %q, want %q", err, got, c.want)
			}
		})
	}
}

// A domain without a certificate does not hide those of the others.
func TestACME_Leaf(t *testing.T) {
	t.Parallel()
	a := NewACME(ACMEConfig{
		Domains: []string{"www.example.test", "localhost"},
		Store:   emptyStore{},
		Now:     time.Now,
		Log:     slog.Default(),
	})
	defer a.cache.Stop()
	if first, missing := a.Leaf(); first != nil || !slices.Equal(missing, a.domains) {
		t.Errorf("without a certificate: got %v and the missing names %q, want none and %q", first, missing, a.domains)
	}
	for _, serial := range []int64{1, 2} { // the second replaces the first, which ends a day earlier
		c := testkit.NewCertificate(t, serial)
		if _, err := a.magic.CacheUnmanagedTLSCertificate(t.Context(), c.Pair, nil); err != nil {
			t.Fatal(err)
		}
		first, missing := a.Leaf()
		if first == nil || first.SerialNumber.Int64() != serial || !slices.Equal(missing, []string{"www.example.test"}) {
			t.Errorf("got the certificate %v and the missing names %q, want number %d and www.example.test", first, missing,
				serial)
		}
	}
}
