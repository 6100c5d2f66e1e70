package roomapi

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/requestlog"
	"parley/internal/validate"
)

// dummyKey belongs to no project. Calls for an unknown project are checked against
// it, so that the response time does not reveal whether a project exists.
const dummyKey = "pk_00000000000000000000000000000000"

// codeTooManyAttempts is the code and the cause of calls beyond the limit of failures.
const codeTooManyAttempts = "too_many_attempts"

var errUnauthorized = fault.New(fault.Unauthorized, "unauthorized", "invalid signature")

// authentication is the result of checking the credentials of a call.
type authentication struct {
	keyring    *key.Keyring // of the project that the call names; nil if there is none
	credential string       // id of the credential; empty if the call is rejected
	slot       string       // of the named key, or else of the credential that signed
	signerSlot string       // of the credential that signed, if the call names another one
	cause      string       // why the call is rejected; empty if it is accepted
	matches    bool         // a live credential signed the call, which may be rejected for its timestamp
	// explain finds the mistake of a rejected call; see httpx.RequestInfo.
	explain func(ctx context.Context) (cause, hint string)
}

// ProjectAuth authenticates the calls that sign their body: Base64(HMAC-SHA256(k, raw body)),
// where k is a live API key or the project secret of the project that find returns. An unknown
// project, an unknown key and a wrong signature have the same response.
func ProjectAuth(find func(c *Call) (projectID string, err error)) Auth {
	return func(a *API, c *Call) (credential string, err error) {
		projectID, err := find(c)
		if err != nil {
			return "", err
		}
		keyring, err := a.keys.Keyring(c.Request.Context(), projectID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return "", err
		}
		result := authentication{cause: requestlog.CauseUnknownProject}
		if err == nil {
			result = a.verifyRequest(c.Request, keyring, c.Body)
		} else {
			verifyDummy(c.Request, c.Body)
		}
		if err := a.finishAuthentication(c.Request, result); err != nil {
			return "", err
		}
		a.countCall(c.Request, keyring, result.credential)
		c.Project = keyring.Project
		return result.credential, nil
	}
}

// SecretAuth is ProjectAuth for calls that only a project secret may sign. The project that find
// returns exists.
func SecretAuth(find func(c *Call) (projectID string, err error)) Auth {
	return func(a *API, c *Call) (credential string, err error) {
		projectID, err := find(c)
		if err != nil {
			return "", err
		}
		keyring, err := a.keys.Keyring(c.Request.Context(), projectID)
		if err != nil {
			return "", err
		}
		result := verifySignature(c.Request, keyring, true, a.now(), c.Body)
		if err := a.finishAuthentication(c.Request, result); err != nil {
			return "", err
		}
		c.Project = keyring.Project
		return result.credential, nil
	}
}

// projectInBody parses the body and reads the project that it names. An id in the form of a UUID
// is in its canonical form.
func (c *Call) projectInBody() (id string, isUUID bool, err error) {
	if c.Fields, err = httpx.ParseObject(c.Body); err != nil {
		return "", false, err
	}
	text := c.Fields.RequiredText("project_id")
	if err := c.Fields.Err(); err != nil {
		return "", false, err
	}
	id, isUUID = validate.ParseUUID(text)
	return id, isUUID, nil
}

// finishAuthentication records who makes a call, and returns the error of a call that is
// rejected.
func (a *API) finishAuthentication(r *http.Request, result authentication) error {
	info := httpx.FromContext(r.Context())
	info.Caller.KeySlot, info.Caller.SignerSlot = result.slot, result.signerSlot
	if result.keyring != nil {
		info.Caller.ProjectID = result.keyring.Project.ID
	}
	if result.cause == "" {
		return nil
	}
	info.Cause, info.Explain = result.cause, result.explain
	if result.matches {
		return errUnauthorized // not a failed authentication: the holder of the key has a wrong clock
	}
	if a.Limits.Failures != nil {
		if over, retryAfter := a.Limits.Failures.RecordAttempt(info.Client); over {
			// Counted only, because a stranger who knows a project could fill its log quickly.
			info.Caller, info.Cause, info.Explain = httpx.Caller{}, codeTooManyAttempts, nil
			return &fault.Error{Kind: fault.Exhausted, Code: codeTooManyAttempts, RetryAfter: retryAfter,
				Message: "too many failed authentications from your address, try again later"}
		}
	}
	return errUnauthorized
}

// verifyRequest checks the API keys in the headers of a call, and its signature.
func (a *API) verifyRequest(r *http.Request, keyring *key.Keyring, body []byte) authentication {
	now := a.now()
	named := authentication{keyring: keyring}
	for _, name := range [...]string{"Api-Key", "Key"} {
		if len(r.Header[name]) == 0 {
			continue
		}
		if named = a.checkNamedKey(r, keyring, now, name); named.cause != "" {
			verifyDummy(r, body)
			return named
		}
	}
	secretsOnly := keyring.Project.Settings.RequireSecretSignatures
	if named.credential != "" && a.KeyHeaderOnly && !secretsOnly && len(r.Header["Hash-Signature"]) == 0 {
		return named
	}
	signed := verifySignature(r, keyring, secretsOnly, now, body)
	signed.nameKey(named.slot) // also countCall counts the named key
	return signed
}

// nameKey makes the slot of the key that a call names the one of the result, which is of a signature.
func (result *authentication) nameKey(slot string) {
	if slot == "" || slot == result.slot {
		return
	}
	result.slot, result.signerSlot = slot, result.slot
}

// checkNamedKey checks that the API key in a header is a live one of the project.
func (a *API) checkNamedKey(r *http.Request, keyring *key.Keyring, now time.Time, header string) authentication {
	text := headerValue(r, header)
	id, slot := findKey(keyring, now, text)
	result := authentication{keyring: keyring, credential: id, slot: string(slot)}
	switch slot {
	case "":
		result.cause = requestlog.CauseUnknownKey
		result.explain = func(ctx context.Context) (cause, hint string) {
			if k, _, err := a.keys.ByAPIKey(ctx, text); err == nil && k.ProjectID == keyring.Project.ID {
				return requestlog.CauseRetiredKey, ""
			}
			return "", ""
		}
	case key.Retired:
		result.credential, result.cause = "", requestlog.CauseRetiredKey
	}
	return result
}

// headerValue returns a header, "" if it is absent. The values of a header that was sent
// more than once are joined with a comma (RFC 9110, section 5.3), so that two keys become
// one key that does not exist. The name has the canonical form of net/http.
func headerValue(r *http.Request, name string) string { return strings.Join(r.Header[name], ", ") }

// verifySignature checks the signature of a message, and finds the credential that signed
// it.
func verifySignature(r *http.Request, keyring *key.Keyring, secretsOnly bool, now time.Time,
	message []byte) authentication {
	signatures := r.Header["Hash-Signature"]
	if len(signatures) == 1 {
		signer, ok := keyring.Verify(now, secretsOnly, func(k string) bool {
			return sign.VerifyLegacy(k, message, signatures[0])
		})
		if ok {
			return authentication{keyring: keyring, credential: signer.ID, slot: slotOf(signer), matches: true}
		}
	} else {
		verifyDummy(r, message)
	}
	explain := func(ctx context.Context) (cause, hint string) {
		return requestlog.BodySignedCall{
			APIKeys:        keyring.LiveAPIKeys(now),
			ProjectSecrets: keyring.LiveProjectSecrets(now),
			GatewaySecrets: keyring.LiveGatewaySecrets(now),
			SecretsOnly:    secretsOnly,
			Signatures:     signatures,
			Message:        message,
		}.Explain(ctx)
	}
	return authentication{keyring: keyring, cause: requestlog.CauseBadSignature, explain: explain}
}

func slotOf(signer key.Signer) string {
	switch {
	case !signer.IsSecret:
		return string(signer.Slot)
	case signer.Slot == key.Current:
		return requestlog.SlotSecret
	}
	return requestlog.SlotOverlapSecret
}

// verifyDummy takes as long as a check with the one key and the one secret that a
// project usually has.
func verifyDummy(r *http.Request, message []byte) {
	for range 2 {
		sign.VerifyLegacy(dummyKey, message, r.Header.Get("Hash-Signature"))
	}
}

// findKey returns the id of the API key with the text and its slot, which is Retired if the
// key is not live and empty if the project has no such key. It compares the text with every
// key, so that the response time does not reveal which one matched.
func findKey(keyring *key.Keyring, now time.Time, text string) (id string, slot key.Slot) {
	for _, k := range keyring.Keys() {
		if subtle.ConstantTimeCompare([]byte(k.Key.Reveal()), []byte(text)) == 1 {
			id, slot = k.ID, k.Slot
			if !k.Live(now) {
				slot = key.Retired
			}
		}
	}
	return id, slot
}

// countCall counts a call for the API key that signed it and for those in its
// headers. A call that the project secret signed without naming a key counts for
// none.
func (a *API) countCall(r *http.Request, keyring *key.Keyring, signer string) {
	if a.CallCounter == nil {
		return
	}
	for _, k := range keyring.Keys() {
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
