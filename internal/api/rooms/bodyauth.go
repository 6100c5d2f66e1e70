package rooms

import (
	"cmp"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"parley/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
)

// dummyKey belongs to no project. Calls for an unknown project are checked against
// it, so that the response time does not reveal whether a project exists.
const dummyKey = "pk_00000000000000000000000000000000"

var errUnauthorized = fault.New(fault.Unauthorized, "unauthorized", "invalid signature")

// AuthenticateProject checks the signature of a call that names its project:
// Base64(HMAC-SHA256(k, raw body)), where k is a live API key or the project secret of
// the project. Then it checks the rate limit. An unknown project, an unknown key and a
// wrong signature have the same response.
func (a *API) AuthenticateProject(r *http.Request, projectID string, body []byte) (project.Project, error) {
	ring, err := a.Keys.Keyring(r.Context(), projectID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return project.Project{}, err
	}
	credential, ok := "", false
	if err == nil {
		credential, ok = a.verifyRequest(r, ring, body)
	} else {
		verifyDummy(r, body)
	}
	if !ok {
		return project.Project{}, a.authenticationError(r)
	}
	a.countCall(r, ring, credential)
	return ring.Project, takeToken(a.Limits.Writes, credential)
}

// AuthenticateJoinEvent checks the signature of a join event as AuthenticateProject
// does, but only with a project secret.
func (a *API) AuthenticateJoinEvent(r *http.Request, projectID string, body []byte) (project.Project, error) {
	ring, err := a.Keys.Keyring(r.Context(), projectID)
	if err != nil {
		return project.Project{}, err
	}
	credential, ok := verifySignature(r, ring, true, a.Now(), body)
	if !ok {
		return project.Project{}, a.authenticationError(r)
	}
	return ring.Project, takeToken(a.Limits.Writes, credential)
}

func (a *API) verifyRequest(r *http.Request, ring *key.Keyring, body []byte) (credential string, ok bool) {
	now := a.Now()
	presented := false
	for _, name := range [...]string{"Api-Key", "Key"} {
		if len(r.Header[name]) == 0 {
			continue
		}
		presented = true
		if credential, ok = findLiveKey(ring, now, headerValue(r, name)); !ok {
			verifyDummy(r, body)
			return "", false
		}
	}
	secretsOnly := ring.Project.Settings.RequireSecretSignatures
	if presented && a.KeyHeaderOnly && !secretsOnly && len(r.Header["Hash-Signature"]) == 0 {
		return credential, true
	}
	return verifySignature(r, ring, secretsOnly, now, body)
}

// verifyBodySigned checks the signature that older clients send with a companion call:
// that of the project secret over the body, or over path and query for GET. The header
// key is the older name of api-key; if both are sent, both must be live.
func (a *API) verifyBodySigned(c *Call) (ring *key.Keyring, k key.APIKey, ok bool, err error) {
	message := c.body
	if c.Request.Method != http.MethodPost {
		message = []byte(c.Request.RequestURI)
	}
	older, now := headerValue(c.Request, "Key"), a.Now()
	named := cmp.Or(headerValue(c.Request, "Api-Key"), older)
	k, ring, err = a.Keys.ByAPIKey(c.Request.Context(), named)
	if fault.Is(err, fault.NotFound) || err == nil && !k.Live(now) {
		verifyDummy(c.Request, message)
		return nil, k, false, nil
	}
	if err != nil {
		return nil, k, false, err
	}
	if older != "" {
		if _, ok := findLiveKey(ring, now, older); !ok {
			verifyDummy(c.Request, message)
			return nil, k, false, nil
		}
	}
	_, ok = verifySignature(c.Request, ring, true, now, message)
	return ring, k, ok, nil
}

// headerValue returns a header, "" if it is absent. The values of a header that was sent
// more than once are joined with a comma (RFC 9110, section 5.3), so that two keys become
// one key that does not exist. The name has the canonical form of net/http.
func headerValue(r *http.Request, name string) string { return strings.Join(r.Header[name], ", ") }

// verifySignature checks the signature of a message, and returns the id of the
// credential that signed it.
func verifySignature(r *http.Request, ring *key.Keyring, secretsOnly bool, now time.Time,
	message []byte) (credential string, ok bool) {
	signatures := r.Header["Hash-Signature"]
	if len(signatures) != 1 {
		verifyDummy(r, message)
		return "", false
	}
	return ring.Verify(now, secretsOnly, func(k string) bool { return sign.VerifyLegacy(k, message, signatures[0]) })
}

// verifyDummy takes as long as a check with the one key and the one secret that a
// project usually has.
func verifyDummy(r *http.Request, message []byte) {
	for range 2 {
		sign.VerifyLegacy(dummyKey, message, r.Header.Get("Hash-Signature"))
	}
}

// findLiveKey returns the id of the live API key with the text. It compares the text
// with every key, so that the response time does not reveal which one matched.
func findLiveKey(ring *key.Keyring, now time.Time, text string) (id string, ok bool) {
	for _, k := range ring.Keys() {
		if subtle.ConstantTimeCompare([]byte(k.Key.Reveal()), []byte(text)) == 1 && k.Live(now) {
			id, ok = k.ID, true
		}
	}
	return id, ok
}

// authenticationError records a failed authentication and returns its error.
func (a *API) authenticationError(r *http.Request) error {
	if a.Limits.Failures != nil {
		if over, retryAfter := a.Limits.Failures.RecordAttempt(httpx.FromContext(r.Context()).Client); over {
			return &fault.Error{Kind: fault.Exhausted, Code: "too_many_attempts", RetryAfter: retryAfter,
				Message: "too many failed authentications from your address, try again later"}
		}
	}
	return errUnauthorized
}

// countCall counts a call for the API key that signed it and for those in its
// headers. A call that the project secret signed without naming a key counts for
// none.
func (a *API) countCall(r *http.Request, ring *key.Keyring, signer string) {
	if a.CallCounter == nil {
		return
	}
	for _, k := range ring.Keys() {
		if text := k.Key.Reveal(); k.ID == signer || headerValue(r, "Api-Key") == text || headerValue(r, "Key") == text {
			a.CallCounter.Add(k.ID, string(k.Slot))
		}
	}
}

// takeToken counts a call against the rate limit of a credential; a nil limiter
// allows every call.
func takeToken(rate RateLimiter, credential string) error {
	if rate != nil {
		if ok, retryAfter := rate.Allow(credential); !ok {
			return &fault.Error{Kind: fault.Exhausted, Code: "rate_limited", RetryAfter: retryAfter,
				Message: "too many calls with this key, try again later"}
		}
	}
	return nil
}
