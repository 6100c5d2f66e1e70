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
		"behind":  {testkit.NewCertificateFrom(t, 1, time.Now().Add(time.Hour)), "Set the clock of the server, which is behind"},
		"ahead":   {testkit.NewCertificateUntil(t, 1, time.Now().Add(-time.Hour)), "If the clock of the server is ahead"},
		"unknown": {testkit.NewCertificate(t, 1), "Let the server connect to https://ca.example.test/directory"},
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

// What an operator can do depends on the response of the authority. What is no authority, such as a wrong --acme-ca,
// leads to the setting.
func TestRemedy_Response(t *testing.T) {
	t.Parallel()
	const noAuthority = "If URL is not the directory of an ACME authority, correct --acme-ca. Otherwise remove the " +
		"cause; the server tries again by itself."
	const port443 = "Open TCP port 443 in the firewall, and point meet.example.test (--tls-domain) to the server in " +
		"the DNS, without a proxy that ends TLS."
	const email = "Correct --acme-email (PARLEY_ACME_EMAIL)."
	const problem = "application/problem+json"
	type response struct {
		status     int
		mediaType  string
		body, want string
	}
	responses := map[string]response{
		"a page that does not exist": {404, "text/html", "<h1>Not found</h1>", noAuthority},
		"a page":                     {200, "text/html", "<h1>Welcome</h1>", noAuthority},
		"another API":                {200, "application/json", `{"version":2}`, noAuthority},
		"no JSON":                    {200, "application/json", `{`, noAuthority},
		"an outage":                  {503, "text/html", "<h1>Unavailable</h1>", noAuthority},
	}
	for kind, want := range map[string]string{
		acme.ProblemTypeConnection:         port443,
		acme.ProblemTypeTLS:                port443,
		acme.ProblemTypeUnauthorized:       port443,
		acme.ProblemTypeIncorrectResponse:  port443,
		acme.ProblemTypeInvalidContact:     email,
		acme.ProblemTypeUnsupportedContact: email,
		acme.ProblemTypeDNS: "Add an A or AAAA record of meet.example.test (--tls-domain) with the public address of the " +
			"server.",
		acme.ProblemTypeCAA: "Add a CAA record of meet.example.test (--tls-domain) to the DNS that allows this authority, " +
			"whose documentation says which name to use.",
		acme.ProblemTypeRateLimited: "Let the server run until the limit of the authority ends, because it tries again by " +
			"itself.",
		acme.ProblemTypeExternalAccountRequired: "Set --acme-ca to another authority, because this one needs an account " +
			"that was created elsewhere.",
		acme.ProblemTypeRejectedIdentifier: "Replace meet.example.test in --tls-domain with a public name, or set " +
			"--acme-ca to another authority.",
		acme.ProblemTypeServerInternal: "Do what the reason of the authority says, or set --acme-ca to another authority.",
	} {
		responses[kind] = response{403, problem, `{"type":"` + kind + `","detail":"no"}`, want}
	}
	for name, c := range responses {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.mediaType)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		t.Cleanup(server.Close)
		a := &ACME{client: &acme.Client{Directory: server.URL}}
		_, err := a.client.GetDirectory(t.Context())
		want := strings.Replace(c.want, "URL", server.URL, 1)
		if got := a.remedy(t.Context(), "meet.example.test", err); err == nil || got != want {
			t.Errorf("%s: got the remedy %q of the error %v, want %q", name, got, err, want)
		}
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
