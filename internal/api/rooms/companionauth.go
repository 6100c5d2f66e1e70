package rooms

import (
	"net/http"
	"strings"
	"time"

	"parley/client/sign"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/room"
)

// authenticateCompanion checks the signature of a companion call, sets its project, and
// returns the id of the API key in the header, which decides the project. Every wrong
// credential has the same response after the same work.
func (a *API) authenticateCompanion(c *Call) (credential string, err error) {
	check := a.verifyTimestamped
	if a.BodySignatures && len(c.Request.Header["Timestamp"]) == 0 {
		check, c.bodySigned = a.verifyBodySigned, true
	}
	ring, k, ok, err := check(c)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", a.authenticationError(c.Request)
	}
	if a.CallCounter != nil {
		a.CallCounter.Add(k.ID, string(k.Slot))
	}
	if !c.bodySigned && c.Request.Method == http.MethodPost {
		c.IdempotencyKey = a.signatureIdempotencyKey(c, ring.Project.ID)
	}
	c.Project = ring.Project
	return k.ID, nil
}

// clockSkewMargin is added to the time for which a signature is remembered,
// because the clocks of several nodes may differ.
const clockSkewMargin = time.Minute

// signatureIdempotencyKey identifies a correctly signed request by its signature, for
// as long as any node accepts its timestamp.
func (a *API) signatureIdempotencyKey(c *Call, projectID string) *room.IdempotencyKey {
	timestamp, now := c.Request.Header.Get("Timestamp"), a.Now()
	ahead := time.Duration(sign.CheckTimestamp(timestamp, now, a.Skew).SkewSeconds) * time.Second
	return &room.IdempotencyKey{ProjectID: projectID, Signature: strings.ToLower(c.Request.Header.Get("Hash-Signature")),
		ValidFor: a.Skew + ahead + clockSkewMargin}
}

// verifyTimestamped checks SVC-HMAC-V5-1 with the Gateway secret of the key. The
// fifth part of the signed text is the Idempotency-Key of a POST, and empty otherwise.
func (a *API) verifyTimestamped(c *Call) (ring *key.Keyring, k key.APIKey, ok bool, err error) {
	h := c.Request.Header
	secret, idempotencyKey := key.DummyGatewaySecret, ""
	if c.Request.Method == http.MethodPost {
		idempotencyKey = headerValue(c.Request, "Idempotency-Key")
	}
	k, ring, err = a.Keys.ByAPIKey(c.Request.Context(), headerValue(c.Request, "Api-Key"))
	switch {
	case err == nil:
		secret = k.GatewaySecret.Reveal()
	case !fault.Is(err, fault.NotFound):
		return nil, k, false, err
	}
	now := a.Now()
	valid := sign.VerifyV5(secret, c.Request.Method, c.Request.RequestURI, h.Get("Timestamp"), idempotencyKey, c.body,
		h.Get("Hash-Signature"))
	fresh := sign.CheckTimestamp(h.Get("Timestamp"), now, a.Skew).Freshness == sign.Fresh
	single := len(h["Timestamp"]) == 1 && len(h["Hash-Signature"]) == 1
	return ring, k, valid && fresh && single && ring != nil && k.Live(now), nil
}
