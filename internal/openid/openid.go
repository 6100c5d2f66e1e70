// Package openid signs people in with an OpenID Connect provider, by the authorization code
// flow with PKCE (OpenID Connect Core 1.0, section 3.1, and RFC 7636).
//
// It uses go-oidc, because checking an ID token and following the rotation of the provider's
// keys is security code that others maintain and review.
package openid

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/seal"
)

const (
	// timeout is the time for one request to the provider.
	timeout = 10 * time.Second
	// failureLifetime is how long a failed discovery is not repeated.
	failureLifetime = time.Second
	// maxRedirects is the number of redirects that one request follows.
	maxRedirects = 5
)

var errDiscovering = errors.New("another request asks the provider for its description")

// Config describes the client that the provider knows.
type Config struct {
	Issuer       string // URL of the provider, as in its ID tokens
	ClientID     string
	ClientSecret seal.Secret
	Name         string // of the provider, for people
	// Allowed lists email addresses and domains that begin with @, in lower case. If it is not
	// empty, others cannot sign in.
	Allowed []string
	// RedirectURL returns the URL to which the provider sends the browser back.
	RedirectURL func() string
}

// Provider is an OpenID Connect provider.
type Provider struct {
	cfg    Config
	now    func() time.Time
	client *http.Client

	discovered atomic.Pointer[oidc.Provider] // nil before the provider has answered

	mu       sync.Mutex // held during a discovery, so that one runs at a time
	failed   error      // of the last discovery
	failedAt time.Time
}

// New returns a Provider. It makes no request, so that the service starts while the provider
// does not answer.
func New(cfg Config, now func() time.Time) *Provider {
	client := &http.Client{Timeout: timeout, CheckRedirect: checkRedirect}
	return &Provider{cfg: cfg, now: now, client: client}
}

// checkRedirect refuses the redirect of a POST request, because a status of 307 or 308 would send
// the client secret and the code to the new address.
func checkRedirect(_ *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet {
		return errors.New("the provider redirects its token endpoint, which OpenID Connect does not allow")
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("the provider redirects more than %d times", maxRedirects)
	}
	return nil
}

// Name returns the name of the provider for people.
func (p *Provider) Name() string { return p.cfg.Name }

// SignIn is the state of one sign-in: the state parameter, the nonce and the PKCE verifier. The
// browser keeps it in a cookie until it comes back from the provider. It contains only letters,
// digits, hyphens, underscores and dots.
type SignIn string

func newSignIn() SignIn {
	return SignIn(seal.NewSessionSecret().Reveal() + "." + seal.NewSessionSecret().Reveal() + "." +
		oauth2.GenerateVerifier())
}

// parts returns the state parameter, the nonce and the PKCE verifier.
func (s SignIn) parts() (state, nonce, verifier string) {
	state, rest, _ := strings.Cut(string(s), ".")
	nonce, verifier, _ = strings.Cut(rest, ".")
	return state, nonce, verifier
}

// Start begins a sign-in. It returns the URL to which the browser must go, and the state of the
// sign-in for Finish. Errors: Unavailable if the provider does not answer.
func (p *Provider) Start(ctx context.Context) (redirectURL string, signIn SignIn, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", "", err
	}
	signIn = newSignIn()
	state, nonce, verifier := signIn.parts()
	return p.oauth(found).AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), signIn, nil
}

// Finish returns the account of the person who comes back from the provider with a state and
// a code. Errors: Unauthorized if the answer is not valid for the sign-in, Forbidden if the
// account is not allowed to sign in, Unavailable.
func (p *Provider) Finish(ctx context.Context, signIn SignIn, state, code string) (operator.OpenIDAccount, error) {
	wanted, nonce, verifier := signIn.parts()
	if wanted == "" || subtle.ConstantTimeCompare([]byte(wanted), []byte(state)) != 1 {
		return operator.OpenIDAccount{}, fault.New(fault.Unauthorized, "openid_expired",
			"the sign-in took too long, or began in another browser: start again")
	}
	found, err := p.discover(ctx)
	if err != nil {
		return operator.OpenIDAccount{}, err
	}
	token, err := p.oauth(found).Exchange(oidc.ClientContext(ctx, p.client), code, oauth2.VerifierOption(verifier))
	if err != nil {
		return operator.OpenIDAccount{}, exchangeError(err)
	}
	raw, _ := token.Extra("id_token").(string)
	verified, err := found.VerifierContext(oidc.ClientContext(context.Background(), p.client),
		&oidc.Config{ClientID: p.cfg.ClientID, Now: p.now}).Verify(oidc.ClientContext(ctx, p.client), raw)
	if err != nil {
		return operator.OpenIDAccount{}, invalidResponse(err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(nonce)) != 1 {
		return operator.OpenIDAccount{}, invalidResponse(errors.New("the nonce of the ID token is not that of the sign-in"))
	}
	account := operator.OpenIDAccount{Issuer: verified.Issuer, Subject: verified.Subject}
	account.Email, account.EmailVerified, err = p.email(ctx, found, verified, token)
	if err != nil {
		return account, err
	}
	return account, p.checkAllowed(account)
}

// checkAllowed returns a Forbidden error unless the account may sign in.
func (p *Provider) checkAllowed(a operator.OpenIDAccount) error {
	email := strings.ToLower(a.Email)
	_, domain, _ := strings.Cut(email, "@")
	switch {
	case len(p.cfg.Allowed) == 0:
		return nil
	case !a.EmailVerified:
		return operator.ErrEmailNotVerified
	case slices.Contains(p.cfg.Allowed, email), slices.Contains(p.cfg.Allowed, "@"+domain):
		return nil
	}
	return fault.New(fault.Forbidden, "email_not_allowed",
		"your email address is not allowed to sign in: the operator can add it to --oidc-allow")
}

// email returns the email address of a person. Many providers have it in the ID token, but
// OpenID Connect Core 1.0, section 5.4, puts it into the answer of the UserInfo endpoint.
func (p *Provider) email(
	ctx context.Context, found *oidc.Provider, verified *oidc.IDToken, token *oauth2.Token,
) (email string, isVerified bool, err error) {
	var claims struct {
		Email         string `json:"email"`
		EmailVerified any    `json:"email_verified"` // some providers send the text "true"
	}
	if err := verified.Claims(&claims); err != nil {
		return "", false, invalidResponse(err)
	}
	if claims.Email != "" || found.UserInfoEndpoint() == "" {
		return claims.Email, claims.EmailVerified == true || claims.EmailVerified == "true", nil
	}
	info, err := found.UserInfo(oidc.ClientContext(ctx, p.client), oauth2.StaticTokenSource(token))
	if err != nil {
		return "", false, unavailable(err)
	}
	if info.Subject != verified.Subject { // section 5.3.2
		return "", false, invalidResponse(errors.New("the UserInfo endpoint answered for another person"))
	}
	return info.Email, info.EmailVerified, nil
}

// discover returns the description of the provider, which it keeps. It makes one request at a time and
// remembers a failure for failureLifetime, because anybody can start a sign-in. A caller who comes during a
// request fails instead of waiting. Errors: Unavailable.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	if found := p.discovered.Load(); found != nil {
		return found, nil
	}
	if !p.mu.TryLock() {
		return nil, unavailable(errDiscovering)
	}
	defer p.mu.Unlock()
	if p.failed != nil && p.now().Sub(p.failedAt) < failureLifetime {
		return nil, unavailable(p.failed)
	}
	// A caller who leaves does not end the request, because its result serves the next callers.
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), p.client)
	found, err := oidc.NewProvider(ctx, p.cfg.Issuer)
	if err != nil {
		p.failed, p.failedAt = err, p.now()
		return nil, unavailable(err)
	}
	p.discovered.Store(found)
	return found, nil
}

func (p *Provider) oauth(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID:     p.cfg.ClientID,
		ClientSecret: p.cfg.ClientSecret.Reveal(),
		Endpoint:     found.Endpoint(),
		RedirectURL:  p.cfg.RedirectURL(),
		Scopes:       []string{oidc.ScopeOpenID, "email"},
	}
}

// exchangeError distinguishes a provider that refuses the code from one that does not answer.
func exchangeError(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode < 500 {
		// Without the body, which is not ours to log.
		return invalidResponse(fmt.Errorf("the provider refused the code: %s %s", refused.Response.Status, refused.ErrorCode))
	}
	return unavailable(err)
}

func unavailable(err error) error {
	return &fault.Error{Kind: fault.Unavailable, Code: "openid_unavailable", Err: err,
		Message: "the OpenID Connect provider does not answer: try again in a moment, or sign in with a link or a token"}
}

func invalidResponse(err error) error {
	return &fault.Error{Kind: fault.Unauthorized, Code: "openid_failed", Err: err,
		Message: "the answer of the OpenID Connect provider is not valid: start again; the log of the server says why"}
}
