package roomapi

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/requestlog"
	"parley/internal/room"
)

// authenticateCompanion checks the signature of a companion call, sets its project, and
// returns the id of the API key in the header, which decides the project. Every wrong
// credential has the same response after the same work.
func (a *API) authenticateCompanion(c *Call) (credential string, err error) {
	check, isUnique := a.verifyTimestamped, c.Request.Method == http.MethodPost
	switch {
	case len(c.Request.Header["Timestamp"]) > 0:
	case a.LegacyClients && a.KeyHeaderOnly && len(c.Request.Header["Hash-Signature"]) == 0:
		check, isUnique = a.verifyKeyHeader, false
	case a.BodySignatures:
		check, isUnique, c.bodySigned = a.verifyBodySigned, false, true
	}
	result, k, err := check(c)
	if err != nil {
		return "", err
	}
	if err := a.finishAuthentication(c.Request, result); err != nil {
		return "", err
	}
	if a.CallCounter != nil {
		a.CallCounter.Add(k.ID, string(k.Slot))
	}
	c.Project = result.keyring.Project
	if isUnique {
		c.IdempotencyKey = a.signatureIdempotencyKey(c, c.Project.ID)
	}
	return k.ID, nil
}

// clockSkewMargin is added to the time for which a signature is remembered,
// because the clocks of several nodes may differ.
const clockSkewMargin = time.Minute

// signatureIdempotencyKey identifies a correctly signed request by its signature, for
// as long as any node accepts its timestamp.
func (a *API) signatureIdempotencyKey(c *Call, projectID string) *room.IdempotencyKey {
	timestamp, now := c.Request.Header.Get("Timestamp"), a.now()
	ahead := time.Duration(sign.CheckTimestamp(timestamp, now, a.Skew).SkewSeconds) * time.Second
	return &room.IdempotencyKey{ProjectID: projectID, Signature: strings.ToLower(c.Request.Header.Get("Hash-Signature")),
		ValidFor: a.Skew + ahead + clockSkewMargin}
}

// verifyTimestamped checks SVC-HMAC-V5-1 with the Gateway secret of the key. The
// fifth part of the signed text is the Idempotency-Key of a POST, and empty otherwise.
func (a *API) verifyTimestamped(c *Call) (result authentication, k key.APIKey, err error) {
	h := c.Request.Header
	secret, signed := key.DummyGatewaySecret, signedCall(c.Request, c.Body)
	k, keyring, err := a.keys.ByAPIKey(c.Request.Context(), headerValue(c.Request, "Api-Key"))
	known := err == nil
	switch {
	case known:
		secret = k.GatewaySecret.Reveal()
	case !fault.Is(err, fault.NotFound):
		return result, k, err
	}
	now := a.now()
	signed.Secret, signed.Check = secret, sign.CheckTimestamp(signed.Timestamp, now, a.Skew)
	signed.HeadersWrong = len(h["Timestamp"]) != 1 || len(h["Hash-Signature"]) != 1
	valid := sign.VerifyV5(secret, signed.Method, signed.Target, signed.Timestamp, signed.IdempotencyKey, c.Body,
		signed.Signature) && !signed.HeadersWrong
	explain := func(ctx context.Context) (cause, hint string) {
		if known {
			signed.APIKeys, signed.ProjectSecrets = keyring.LiveAPIKeys(now), keyring.LiveProjectSecrets(now)
			signed.GatewaySecrets = keyring.LiveGatewaySecrets(now)
		}
		return signed.Explain(ctx)
	}
	result = authentication{keyring: keyring, slot: string(k.Slot), explain: explain}
	if !known {
		result.cause = requestlog.CauseUnknownKey
		return result, k, nil
	}
	if signed.Check.Freshness != sign.Malformed {
		caller := &httpx.FromContext(c.Request.Context()).Caller
		caller.ClockSkew, caller.HasTimestamp = signed.Check.SkewSeconds, true
	}
	result.matches = valid && k.Live(now)
	switch {
	case !k.Live(now):
		result.slot, result.cause = string(key.Retired), requestlog.CauseRetiredKey
	case signed.Check.Freshness != sign.Fresh:
		result.cause = requestlog.CauseStaleTimestamp
	case !valid:
		result.cause = requestlog.CauseBadSignature
	default:
		result.credential = k.ID
	}
	return result, k, nil
}

// verifyBodySigned checks the signature that older clients send with a companion call:
// that of the project secret over the body, or over path and query for GET.
func (a *API) verifyBodySigned(c *Call) (result authentication, k key.APIKey, err error) {
	message := companionMessage(c)
	k, result, err = a.findNamedKey(c)
	if err != nil {
		return result, k, err
	}
	if result.cause != "" {
		verifyDummy(c.Request, message)
		return result, k, nil
	}
	result = verifySignature(c.Request, result.keyring, true, a.now(), message)
	if result.cause == "" {
		result.credential = k.ID // the key in the header decides the project and pays
	}
	result.nameKey(string(k.Slot))
	return result, k, nil
}

// verifyKeyHeader checks a companion call that names a live API key and has no signature,
// as older clients of version 3 send it. A project that accepts only signatures with its
// secret refuses it.
func (a *API) verifyKeyHeader(c *Call) (result authentication, k key.APIKey, err error) {
	k, result, err = a.findNamedKey(c)
	if err != nil {
		return result, k, err
	}
	verifyDummy(c.Request, companionMessage(c))
	if result.cause == "" && result.keyring.Project.Settings.RequireSecretSignatures {
		result.credential, result.cause, result.explain = "", requestlog.CauseBadSignature, explainUnsigned
	}
	return result, k, nil
}

func explainUnsigned(context.Context) (cause, hint string) { return "", requestlog.HintUnsigned }

// findNamedKey finds the API key in the header api-key, or in its older name key. If both
// are sent, both must be live and of one project. The result has a cause if not.
func (a *API) findNamedKey(c *Call) (k key.APIKey, result authentication, err error) {
	older, now := headerValue(c.Request, "Key"), a.now()
	k, keyring, err := a.keys.ByAPIKey(c.Request.Context(), cmp.Or(headerValue(c.Request, "Api-Key"), older))
	switch {
	case fault.Is(err, fault.NotFound):
		return k, authentication{cause: requestlog.CauseUnknownKey}, nil
	case err != nil:
		return k, result, err
	case !k.Live(now):
		return k, authentication{keyring: keyring, slot: string(key.Retired), cause: requestlog.CauseRetiredKey}, nil
	case older != "":
		return k, a.checkNamedKey(c.Request, keyring, now, "Key"), nil
	}
	return k, authentication{keyring: keyring, credential: k.ID, slot: string(k.Slot)}, nil
}

// companionMessage returns what the body signature of a companion call covers.
func companionMessage(c *Call) []byte {
	if c.Request.Method != http.MethodPost {
		return []byte(c.Request.RequestURI)
	}
	return c.Body
}

// signedCall returns what the signature of a companion call covers.
func signedCall(r *http.Request, body []byte) requestlog.SignedCall {
	signed := requestlog.SignedCall{
		Method:    r.Method,
		Target:    r.RequestURI,
		Timestamp: r.Header.Get("Timestamp"),
		Signature: r.Header.Get("Hash-Signature"),
		Host:      r.Host,
		Body:      body,

		SentIdempotencyKey: headerValue(r, "Idempotency-Key"),
	}
	if r.Method == http.MethodPost {
		signed.IdempotencyKey = signed.SentIdempotencyKey
	}
	return signed
}
