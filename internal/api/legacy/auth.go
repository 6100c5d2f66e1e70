package legacy

import (
	"crypto/subtle"
	"net/http"
	"time"

	"parley/client/sign"
	"parley/internal/api/web"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
)

// A key nobody has. Checks for unknown projects run against it, so that they
// cost what checks for known ones cost.
const nobodysKey = "pk_00000000000000000000000000000000"

var errUnauthorized = fault.New(fault.Unauthorized, "unauthorized", "invalid signature")

// Authenticate holds a call to its signature, Base64(HMAC-SHA256(k, raw
// body)), k being a live API key or project secret of the project. Unknown
// project, unknown key and wrong signature are one answer. It fails closed.
// The limits follow the signature.
func (a *API) Authenticate(r *http.Request, projectID string, body []byte) (project.Project, error) {
	ring, err := a.Rings.Ring(r.Context(), projectID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return project.Project{}, err
	}
	credential, ok := "", false
	if err == nil {
		credential, ok = a.request(r, ring, body)
	} else {
		Vain(r, body)
	}
	if !ok {
		return project.Project{}, a.Failed(r)
	}
	a.use(r, ring, credential)
	return ring.Project, Spend(a.Limits.Rate, credential)
}

// AuthenticateEvent holds a join event to its signature: the same, but keyed
// with a project secret only.
func (a *API) AuthenticateEvent(r *http.Request, projectID string, body []byte) (project.Project, error) {
	ring, err := a.Rings.Ring(r.Context(), projectID)
	if err != nil {
		return project.Project{}, err
	}
	credential, ok := Signed(r, ring, true, a.Now(), body)
	if !ok {
		return project.Project{}, a.Failed(r)
	}
	return ring.Project, Spend(a.Limits.Rate, credential)
}

func (a *API) request(r *http.Request, ring *key.Ring, body []byte) (credential string, ok bool) {
	now := a.Now()
	presented := 0
	for _, name := range [...]string{"Api-Key", "Key"} {
		for _, k := range r.Header[name] {
			presented++
			if credential, ok = Live(ring, now, k); !ok {
				Vain(r, body)
				return "", false
			}
		}
	}
	secretsOnly := ring.Project.Settings.RequireSecretSignatures
	if presented > 0 && a.KeyHeaderAlone && !secretsOnly && len(r.Header["Hash-Signature"]) == 0 {
		return credential, true
	}
	return Signed(r, ring, secretsOnly, now, body)
}

// Signed holds a message to the signature of its call, and names the
// credential that made it.
func Signed(r *http.Request, ring *key.Ring, secretsOnly bool, now time.Time, message []byte) (credential string, ok bool) {
	signatures := r.Header["Hash-Signature"]
	if len(signatures) != 1 {
		Vain(r, message)
		return "", false
	}
	return ring.Verify(now, secretsOnly, func(k string) bool { return sign.VerifyLegacy(k, message, signatures[0]) })
}

// Vain does the work of a check that cannot succeed: a project commonly has
// one key and one secret.
func Vain(r *http.Request, message []byte) {
	for range 2 {
		sign.VerifyLegacy(nobodysKey, message, r.Header.Get("Hash-Signature"))
	}
}

// Live finds a live API key by its text, comparing it with every one.
func Live(ring *key.Ring, now time.Time, text string) (id string, ok bool) {
	for _, k := range ring.Keys() {
		if subtle.ConstantTimeCompare([]byte(k.Key.Reveal()), []byte(text)) == 1 && k.Live(now) {
			id, ok = k.ID, true
		}
	}
	return id, ok
}

// Failed answers a call that has not shown who makes it.
func (a *API) Failed(r *http.Request) error {
	if a.Limits.Failures != nil {
		if over, retryAfter := a.Limits.Failures.Failed(web.From(r.Context()).Client); over {
			return &fault.Error{Kind: fault.Exhausted, Code: "too_many_attempts", RetryAfter: retryAfter,
				Message: "too many failed authentications from your address, try again later"}
		}
	}
	return errUnauthorized
}

// use counts a call for each API key that it was made with: the one that signed
// it and those that its headers name. A call signed with the project secret
// that names no key counts for none.
func (a *API) use(r *http.Request, ring *key.Ring, signer string) {
	if a.Uses == nil {
		return
	}
	for _, k := range ring.Keys() {
		if text := k.Key.Reveal(); k.ID == signer || r.Header.Get("Api-Key") == text || r.Header.Get("Key") == text {
			a.Uses.Add(k.ID, string(k.Slot))
		}
	}
}

// Spend takes a call from what a credential has left; nil is without end.
func Spend(rate Rate, credential string) error {
	if rate != nil {
		if ok, retryAfter := rate.Allow(credential); !ok {
			return &fault.Error{Kind: fault.Exhausted, Code: "rate_limited", RetryAfter: retryAfter,
				Message: "too many calls with this key, try again later"}
		}
	}
	return nil
}
