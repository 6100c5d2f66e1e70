package manage

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/seal"
)

// sessionCookie is the cookie with the secret of a session of the console. Its prefix makes
// browsers accept it only with Secure, for this host and for all paths (RFC 6265bis, section
// 4.1.3.2).
const sessionCookie = "__Host-parley-console"

// publicPaths are the paths that do not need a caller.
var publicPaths = []string{"/sign-in", "/sign-in-methods"}

func (s *server) SignIn(w http.ResponseWriter, r *http.Request) {
	c, secret, err := s.signIn(w, r)
	if err != nil {
		writeError(w, r, LimitFailures(r, s.Failures, err))
		return
	}
	identify(httpx.FromContext(r.Context()), c)
	setSessionCookie(w, secret, c.ExpiresAt)
	httpx.WriteJSON(w, http.StatusOK, newCaller(c))
}

func (s *server) signIn(w http.ResponseWriter, r *http.Request) (operator.Caller, seal.Secret, error) {
	q, err := read[SignIn](w, r)
	if err != nil {
		return operator.Caller{}, "", err
	}
	if !keepsSecureCookies(r) {
		return operator.Caller{}, "", fault.New(fault.Forbidden, "https_required",
			"a browser keeps a session with HTTPS or on localhost only: open the console at an https address, "+
				"or on the machine itself at http://localhost")
	}
	switch {
	case (q.Token == nil) == (q.Code == nil):
		return operator.Caller{}, "", fault.Invalidf("the body must have either token or code")
	case q.Token != nil:
		t, err := s.Tokens.Authenticate(r.Context(), *q.Token)
		if err == nil {
			err = s.limit(t.Caller())
		}
		if err != nil {
			return operator.Caller{}, "", err
		}
		return s.Console.SignInWithToken(r.Context(), *q.Token, s.origin(r))
	}
	return s.Console.SignInWithLink(r.Context(), *q.Code, s.origin(r))
}

// keepsSecureCookies reports whether the browser that sent a request keeps a cookie with the
// attribute Secure. Callers that are no browsers send no Origin.
func keepsSecureCookies(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Scheme != "http" {
		return true
	}
	host := origin.Hostname()
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "127.0.0.1" || host == "::1"
}

func setSessionCookie(w http.ResponseWriter, secret seal.Secret, expiresAt time.Time) {
	http.SetCookie(w, &http.Cookie{
		Name:     sessionCookie,
		Value:    secret.Reveal(),
		Path:     "/",
		Expires:  expiresAt,
		Secure:   true,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
}

func (s *server) ListSignInMethods(w http.ResponseWriter, _ *http.Request) {
	out := SignInMethods{Methods: []SignInMethodsMethods{"token", "link"}}
	if s.OpenID != nil {
		out.Methods, out.OpenidName = append(out.Methods, "openid"), new(s.OpenID.Name())
	}
	httpx.WriteJSON(w, http.StatusOK, out)
}

func (s *server) SignOut(w http.ResponseWriter, r *http.Request) {
	c := caller(r)
	if c.SessionID == "" {
		writeError(w, r, fault.New(fault.Conflict, "no_session",
			"this request has a management token and no session: parley token revoke revokes a token"))
		return
	}
	if _, err := s.Console.RevokeSession(r.Context(), c.SessionID); err != nil {
		writeError(w, r, err)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name:     sessionCookie,
		Path:     "/",
		MaxAge:   -1,
		Secure:   true,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
	httpx.WriteJSON(w, http.StatusOK, newCaller(c))
}

func (s *server) GetCaller(w http.ResponseWriter, r *http.Request) {
	httpx.WriteJSON(w, http.StatusOK, newCaller(caller(r)))
}

func newCaller(c operator.Caller) Caller {
	return Caller{
		Kind:       CallerKind(c.Kind),
		Id:         c.ID,
		Name:       c.Name,
		Role:       TokenRole(c.Role),
		ProjectIds: projectIDs(c.ProjectIDs),
		SessionId:  httpx.OrNil(c.SessionID),
		ExpiresAt:  httpx.TimeOrNil(c.ExpiresAt),
	}
}

func (s *server) CreateSignInLink(w http.ResponseWriter, r *http.Request) {
	out, err := s.createSignInLink(w, r)
	writeResult(w, r, out, err)
}

func (s *server) createSignInLink(w http.ResponseWriter, r *http.Request) (out NewSignInLinkWithURL, err error) {
	q, err := read[NewSignInLink](w, r)
	if err != nil {
		return out, err
	}
	link := operator.NewLink{UserID: httpx.OrZero(q.UserId), Name: httpx.OrZero(q.Name),
		Role: operator.Role(httpx.OrZero(q.Role))}
	staff := link.Role != "" && link.Role != operator.Integrator
	if c := caller(r); c.Role != operator.Owner && (staff || link.UserID != "") {
		return out, errRole(c, operator.Owner)
	}
	if link.ExpiresAt, err = parseTime("expires_at", q.ExpiresAt); err != nil {
		return out, err
	}
	if link.ProjectIDs, err = s.projectsOf(r, q.ProjectIds); err != nil {
		return out, err
	}
	n, code, err := s.Console.CreateLink(r.Context(), link)
	if err != nil {
		return out, err
	}
	// In the fragment, which browsers do not send, so that no server logs the code.
	out = NewSignInLinkWithURL{SessionId: n.ID, Url: s.BaseURL() + "/console/sign-in#code=" + code.Reveal(),
		OpenBy: NewTime(n.OpenBy)}
	if n.UserID == "" {
		out.ExpiresAt = httpx.TimeOrNil(n.ExpiresAt)
	}
	return out, nil
}
