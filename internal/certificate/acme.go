package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/certmagic" // obtains and renews certificates, with what authorities expect of a client
	"github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"
)

const (
	// firstRetryDelay is the time until another attempt to obtain a first certificate, after the authority or the
	// database did not answer. It doubles up to lastRetryDelay. An attempt first looks whether another node has obtained
	// the certificate. After a refusal of the authority, certmagic itself tries again.
	firstRetryDelay = 5 * time.Second
	lastRetryDelay  = 5 * time.Minute

	// stopTimeout is how long Run waits at its end for work in progress, and unlockTimeout for the
	// database to release locks.
	stopTimeout   = 3 * time.Second
	unlockTimeout = time.Second

	// directoryTimeout bounds the question for the name of the authority.
	directoryTimeout = 10 * time.Second
)

// ACMEConfig is the configuration of ACME.
type ACMEConfig struct {
	Domains []string       // in lower case
	CA      string         // URL of the directory of the authority
	Roots   *x509.CertPool // to check the authority's own server with; nil for those of the system
	Email   string         // empty for none
	// ListenHost and Port are those of the listener whose connections TLSConfig serves. The authority
	// connects to port 443, which may be forwarded to Port.
	ListenHost string
	Port       int
	// HTTPPort is the port, at ListenHost, of the listener that HTTPHandler serves, or 0 without one.
	HTTPPort int
	// RenewalCheck is the time between two looks at the expiry, or 0 for ten minutes.
	RenewalCheck time.Duration
	Store        Store
	Now          func() time.Time
	Log          *slog.Logger
}

// ACME obtains a certificate for each domain from an ACME authority (RFC 8555). It proves the domains
// on the port of the service (RFC 8737), and also over HTTP if there is a listener for it.
type ACME struct {
	domains []string
	client  *acme.Client // to ask the authority for its name
	log     *slog.Logger
	storage *storage
	cache   *certmagic.Cache
	magic   *certmagic.Config
	issuer  *certmagic.ACMEIssuer

	mu       sync.Mutex
	failures map[string]Failure // of the last attempts, by domain
}

// NewACME returns an ACME that has no certificate before Run.
func NewACME(c ACMEConfig) *ACME {
	a := &ACME{
		domains:  c.Domains,
		log:      c.Log,
		storage:  newStorage(c.Store, c.Now, c.Log),
		failures: map[string]Failure{},
		client: &acme.Client{Directory: c.CA, HTTPClient: &http.Client{
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: c.Roots}},
		}},
	}
	silent := zap.NewNop() // the events of report are enough
	a.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert:   func(certmagic.Certificate) (*certmagic.Config, error) { return a.magic, nil },
		RenewCheckInterval: c.RenewalCheck,
		Logger:             silent,
	})
	a.magic = certmagic.New(a.cache, certmagic.Config{
		Storage:           a.storage,
		DefaultServerName: c.Domains[0], // for clients that name none, such as a health check by address
		Logger:            silent,
		OnEvent:           a.report,
	})
	a.issuer = certmagic.NewACMEIssuer(a.magic, certmagic.ACMEIssuer{
		CA:                   c.CA,
		TrustedRoots:         c.Roots,
		Email:                c.Email,
		Agreed:               true, // the documentation says so
		DisableHTTPChallenge: c.HTTPPort == 0,
		ListenHost:           c.ListenHost,
		AltTLSALPNPort:       c.Port,
		AltHTTPPort:          c.HTTPPort,
		Logger:               silent,
	})
	a.magic.Issuers = []certmagic.Issuer{a.issuer}
	return a
}

// report logs the events of certmagic that an operator needs, and keeps the failures.
func (a *ACME) report(ctx context.Context, event string, data map[string]any) error {
	domain, _ := data["identifier"].(string)
	switch event {
	case "cert_obtained":
		a.setFailure(domain, Failure{})
		a.log.Info("certificate obtained", "domain", domain, "renewal", data["renewal"])
	case "cert_failed":
		err, _ := data["error"].(error)
		if errors.Is(err, context.Canceled) { // the service stops
			return nil
		}
		f := newFailure(cause(err), a.remedy(ctx, domain, err))
		a.setFailure(domain, f)
		a.log.Error("obtain certificate failed, will retry", "domain", domain, "renewal", data["renewal"],
			"remedy", f.Remedy, "error", fmt.Sprint(err))
		// Without a refusal of the authority, perhaps only this node does not reach it. certmagic would keep the lock until
		// its next attempt, so that no other node could try. After a refusal it may: the authority limits how often it can
		// be asked, and its answer would be the same.
		if end, first := ctx.Value(endAttempt{}).(context.CancelFunc); first && !errors.As(err, new(acme.Problem)) {
			end()
		}
	}
	return nil
}

// endAttempt is the key of the function in a context that ends the attempts of certmagic to obtain a first certificate.
type endAttempt struct{}

// setFailure keeps the failure of the last attempt for a domain, the zero value after a success.
func (a *ACME) setFailure(domain string, f Failure) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures[domain] = f
}

// Failure returns why this process got no certificate for a domain at its last attempt.
func (a *ACME) Failure(domain string) Failure {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failures[domain]
}

// cause returns the reason that the authority gave, or the error.
func cause(err error) string {
	var problem acme.Problem
	if errors.As(err, &problem) && problem.Detail != "" {
		return problem.Detail
	}
	return fmt.Sprint(err)
}

// remedy says what an operator can do about a failure of the authority.
func (a *ACME) remedy(ctx context.Context, domain string, err error) string {
	var problem acme.Problem
	var invalid x509.CertificateInvalidError
	switch {
	case NotYetValid(err) != nil:
		return "Set the clock of the server, which is behind: timedatectl set-ntp true"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "If the clock of the server is ahead, set it: timedatectl set-ntp true. Otherwise the certificate of the " +
			"authority's own server has expired."
	case errors.As(err, new(net.Error)) || errors.As(err, new(*tls.CertificateVerificationError)):
		return "Let the server connect to " + a.client.Directory + " (--acme-ca), whose certificate it must trust " +
			"(--acme-ca-roots). A public authority issues no certificates for internal names."
	}
	if !errors.As(err, &problem) {
		return "If " + a.client.Directory + " is not the directory of an ACME authority, correct --acme-ca. Otherwise " +
			"remove the cause; the server tries again by itself."
	}
	switch problem.Type {
	case acme.ProblemTypeConnection, acme.ProblemTypeTLS, acme.ProblemTypeUnauthorized, acme.ProblemTypeIncorrectResponse:
		return fmt.Sprintf("Open TCP port 443 in the firewall, and point %s (--tls-domain) to the server in the DNS, "+
			"without a proxy that ends TLS.", domain)
	case acme.ProblemTypeDNS:
		return fmt.Sprintf("Add an A or AAAA record of %s (--tls-domain) with the public address of the server.", domain)
	case acme.ProblemTypeCAA:
		name := a.caaName(ctx)
		if name == "" {
			return fmt.Sprintf("Add a CAA record of %s (--tls-domain) to the DNS that allows this authority, whose "+
				"documentation says which name to use.", domain)
		}
		return fmt.Sprintf("Add this record to the DNS: %s. CAA 0 issue %q", domain, name)
	case acme.ProblemTypeRateLimited:
		return "Let the server run until the limit of the authority ends, because it tries again by itself."
	case acme.ProblemTypeInvalidContact, acme.ProblemTypeUnsupportedContact:
		return "Correct --acme-email (PARLEY_ACME_EMAIL)."
	case acme.ProblemTypeExternalAccountRequired:
		return "Set --acme-ca to another authority, because this one needs an account that was created elsewhere."
	case acme.ProblemTypeRejectedIdentifier:
		return fmt.Sprintf("Replace %s in --tls-domain with a public name, or set --acme-ca to another authority.", domain)
	}
	return "Do what the reason of the authority says, or set --acme-ca to another authority."
}

// caaName returns the name of the authority in CAA records, such as letsencrypt.org; empty if it is not known.
func (a *ACME) caaName(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, directoryTimeout)
	defer cancel()
	directory, err := a.client.GetDirectory(ctx)
	if err != nil || directory.Meta == nil || len(directory.Meta.CAAIdentities) == 0 {
		return ""
	}
	return directory.Meta.CAAIdentities[0]
}

// Run obtains the certificates, unless the store has them, and renews them until ctx ends. It
// retries after a failure.
func (a *ACME) Run(ctx context.Context) {
	var work sync.WaitGroup
	for _, domain := range a.domains {
		work.Go(func() { a.manage(ctx, domain) })
	}
	<-ctx.Done()
	ended := make(chan struct{})
	go func() {
		work.Wait()
		a.cache.Stop() // a renewal in progress may take long
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(stopTimeout):
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
	defer cancel()
	a.storage.releaseAll(ctx)
}

// manage puts the certificate of a domain into the cache, which renews it from then on.
func (a *ACME) manage(ctx context.Context, domain string) {
	for delay := firstRetryDelay; ; delay = min(2*delay, lastRetryDelay) {
		cached, err := a.magic.CacheManagedCertificate(ctx, domain)
		if errors.Is(err, fs.ErrNotExist) {
			if err = a.obtain(ctx, domain); err == nil {
				cached, err = a.magic.CacheManagedCertificate(ctx, domain)
			}
		}
		if err == nil && cached.NeedsRenewal(a.magic) { // such as that of an old backup; otherwise it waits for its turn
			err = a.cache.RenewManagedCertificates(ctx)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		if !errors.Is(err, context.Canceled) { // report has logged why it ended the attempt
			a.log.Warn("no certificate yet, will retry", "domain", domain, "error", err)
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// obtain obtains a first certificate. It returns context.Canceled if report has ended the attempt.
func (a *ACME) obtain(ctx context.Context, domain string) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	ctx = context.WithValue(ctx, endAttempt{}, end)
	return a.magic.ObtainCertAsync(ctx, domain) // "async" only means that it may take long
}

// TLSConfig returns the configuration of a server. A handshake before the first certificate fails.
func (a *ACME) TLSConfig() *tls.Config { return a.magic.TLSConfig() }

// HTTPHandler answers the challenges of the authority over HTTP, and passes other requests to next.
func (a *ACME) HTTPHandler(next http.Handler) http.Handler {
	return a.issuer.HTTPChallengeHandler(next)
}

// Leaf returns the certificate of the domains that expires first, and the domains that have none.
func (a *ACME) Leaf() (first *x509.Certificate, missing []string) {
	for _, domain := range a.domains {
		var newest *x509.Certificate
		for _, c := range a.cache.AllMatchingCertificates(domain) {
			if c.Leaf != nil && (newest == nil || c.Leaf.NotAfter.After(newest.NotAfter)) {
				newest = c.Leaf
			}
		}
		switch {
		case newest == nil:
			missing = append(missing, domain)
		case first == nil || newest.NotAfter.Before(first.NotAfter):
			first = newest
		}
	}
	return first, missing
}
