package rooms

import (
	"crypto/subtle"
	"net/http"
	"time"

	"parley/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
)

// A key nobody has. Checks for unknown projects run against it, so that they
// cost what checks for known ones cost.
const dummyKey = "pk_00000000000000000000000000000000"

var errUnauthorized = fault.New(fault.Unauthorized, "unauthorized", "invalid signature")

// Authenticate holds a call to its signature, Base64(HMAC-SHA256(k, raw
// body)), k being a live API key or project secret of the project. Unknown
// project, unknown key and wrong signature are one answer. It fails closed.
// The limits follow the signature.
func (a *API) Authenticate(r *http.Request, projectID string, body []byte) (project.Project, error) {
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

// AuthenticateJoinEvent holds a join event to its signature: the same, but keyed
// with a project secret only.
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
	presented := 0
	for _, name := range [...]string{"Api-Key", "Key"} {
		for _, k := range r.Header[name] {
			presented++
			if credential, ok = findLiveKey(ring, now, k); !ok {
				verifyDummy(r, body)
				return "", false
			}
		}
	}
	secretsOnly := ring.Project.Settings.RequireSecretSignatures
	if presented > 0 && a.KeyHeaderOnly && !secretsOnly && len(r.Header["Hash-Signature"]) == 0 {
		return credential, true
	}
	return verifySignature(r, ring, secretsOnly, now, body)
}

// verifySignature holds a message to the signature of its call, and names the
// credential that made it.
func verifySignature(r *http.Request, ring *key.Keyring, secretsOnly bool, now time.Time, message []byte) (credential string, ok bool) {
	signatures := r.Header["Hash-Signature"]
	if len(signatures) != 1 {
		verifyDummy(r, message)
		return "", false
	}
	return ring.Verify(now, secretsOnly, func(k string) bool { return sign.VerifyLegacy(k, message, signatures[0]) })
}

// verifyDummy does the work of a check that cannot succeed: a project commonly has
// one key and one secret.
func verifyDummy(r *http.Request, message []byte) {
	for range 2 {
		sign.VerifyLegacy(dummyKey, message, r.Header.Get("Hash-Signature"))
	}
}

// findLiveKey finds a live API key by its text, comparing it with every one.
func findLiveKey(ring *key.Keyring, now time.Time, text string) (id string, ok bool) {
	for _, k := range ring.Keys() {
		if subtle.ConstantTimeCompare([]byte(k.Key.Reveal()), []byte(text)) == 1 && k.Live(now) {
			id, ok = k.ID, true
		}
	}
	return id, ok
}

// authenticationError answers a call that has not shown who makes it.
func (a *API) authenticationError(r *http.Request) error {
	if a.Limits.Failures != nil {
		if over, retryAfter := a.Limits.Failures.RecordAttempt(httpx.FromContext(r.Context()).Client); over {
			return &fault.Error{Kind: fault.Exhausted, Code: "too_many_attempts", RetryAfter: retryAfter,
				Message: "too many failed authentications from your address, try again later"}
		}
	}
	return errUnauthorized
}

// countCall counts a call for each API key that it was made with: the one that signed
// it and those that its headers name. A call signed with the project secret
// that names no key counts for none.
func (a *API) countCall(r *http.Request, ring *key.Keyring, signer string) {
	if a.CallCounter == nil {
		return
	}
	for _, k := range ring.Keys() {
		if text := k.Key.Reveal(); k.ID == signer || r.Header.Get("Api-Key") == text || r.Header.Get("Key") == text {
			a.CallCounter.Add(k.ID, string(k.Slot))
		}
	}
}

// takeToken takes a call from what a credential has left; nil is without end.
func takeToken(rate RateLimiter, credential string) error {
	if rate != nil {
		if ok, retryAfter := rate.Allow(credential); !ok {
			return &fault.Error{Kind: fault.Exhausted, Code: "rate_limited", RetryAfter: retryAfter,
				Message: "too many calls with this key, try again later"}
		}
	}
	return nil
}
