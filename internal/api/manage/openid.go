package manage

import (
	"context"
	"net/http"
	"net/url"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/openid"
	"parley/internal/operator"
)

// OpenID is an OpenID Connect provider.
type OpenID interface {
	Name() string
	Start(ctx context.Context) (redirectURL string, signIn openid.SignIn, err error)
	Finish(ctx context.Context, signIn openid.SignIn, state, code string) (operator.OpenIDAccount, error)
}

// The paths of a sign-in with OpenID Connect. The provider must know the URL of the second as
// a redirect URI.
const (
	openIDStartPath    = "/console/openid/start"
	OpenIDCallbackPath = "/console/openid/callback"
)

// openIDCookie is the cookie with the state of a sign-in. It is Lax and not Strict, because
// the browser comes back from a page of the provider.
const openIDCookie = "__Host-parley-openid"

// openIDSeconds is how long a sign-in at the provider may take.
const openIDSeconds = 600

// NewOpenIDHandler returns the handler for all paths under /console/openid/, which signs people
// in with the provider. Errors send the browser back to the sign-in page.
func NewOpenIDHandler(services Services) http.Handler {
	s := &server{Services: services}
	mux := http.NewServeMux()
	if s.OpenID != nil {
		mux.HandleFunc("GET "+openIDStartPath, s.startOpenID)
		mux.HandleFunc("GET "+OpenIDCallbackPath, s.finishOpenID)
	}
	return httpx.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		mux.ServeHTTP(w, r)
	}))
}

func (s *server) startOpenID(w http.ResponseWriter, r *http.Request) {
	target, signIn, err := s.OpenID.Start(r.Context())
	if err != nil {
		redirectError(w, r, err)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name:     openIDCookie,
		Value:    string(signIn),
		Path:     "/",
		MaxAge:   openIDSeconds,
		Secure:   true,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, target, http.StatusSeeOther)
}

func (s *server) finishOpenID(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{
		Name:     openIDCookie,
		Path:     "/",
		MaxAge:   -1,
		Secure:   true,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	})
	account, err := s.openIDAccount(r)
	if err != nil {
		redirectError(w, r, LimitFailures(r, s.Failures, err))
		return
	}
	c, secret, err := s.Console.SignInWithOpenID(r.Context(), account, s.origin(r))
	if err != nil {
		redirectError(w, r, err)
		return
	}
	setSessionCookie(w, secret, c.ExpiresAt)
	http.Redirect(w, r, "/console", http.StatusSeeOther)
}

func (s *server) openIDAccount(r *http.Request) (operator.OpenIDAccount, error) {
	query := r.URL.Query()
	if query.Has("error") {
		return operator.OpenIDAccount{}, fault.New(fault.Unauthorized, "openid_refused",
			"the OpenID Connect provider has not signed you in")
	}
	signIn := ""
	if cookie, err := r.Cookie(openIDCookie); err == nil {
		signIn = cookie.Value
	}
	return s.OpenID.Finish(r.Context(), openid.SignIn(signIn), query.Get("state"), query.Get("code"))
}

// redirectError sends the browser to the sign-in page, which explains the code of the error.
func redirectError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	httpx.LogFault(r, f)
	http.Redirect(w, r, "/console/sign-in?error="+url.QueryEscape(f.Code), http.StatusSeeOther)
}
