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

// dummySecret belongs to no key. Calls with an unknown key are checked against it,
// so that the response time does not reveal whether a key exists.
const dummySecret = "gs_0000000000000000000000000000000000000000000"

// authenticate checks the signature of a call, sets its project, and returns the
// id of the API key in the header, which decides the project. Every wrong
// credential has the same response after the same work.
func (a *API) authenticate(c *Call) (credential string, err error) {
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
		c.IdempotencyKey = a.newReplayKey(c, ring.Project.ID)
	}
	c.Project = ring.Project
	return k.ID, nil
}

// clockSkewMargin is added to the time for which a signature is remembered,
// because the clocks of several nodes may differ.
const clockSkewMargin = time.Minute

// newReplayKey identifies a correctly signed request by its signature, for as long
// as any node accepts its timestamp.
func (a *API) newReplayKey(c *Call, projectID string) *room.IdempotencyKey {
	timestamp, now := c.Request.Header.Get("Timestamp"), a.Now()
	ahead := time.Duration(sign.CheckTimestamp(timestamp, now, a.Skew).SkewSeconds) * time.Second
	return &room.IdempotencyKey{ProjectID: projectID, Signature: strings.ToLower(c.Request.Header.Get("Hash-Signature")),
		ValidFor: a.Skew + ahead + clockSkewMargin}
}

// verifyTimestamped checks SVC-HMAC-V5-1 with the Gateway secret of the key. The
// fifth part of the signed text is the Idempotency-Key of a POST, and empty otherwise.
func (a *API) verifyTimestamped(c *Call) (ring *key.Keyring, k key.APIKey, ok bool, err error) {
	h := c.Request.Header
	secret, idempotencyKey := dummySecret, ""
	if c.Request.Method == http.MethodPost {
		idempotencyKey = h.Get("Idempotency-Key")
	}
	k, ring, err = a.Keys.ByAPIKey(c.Request.Context(), h.Get("Api-Key"))
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

// verifyBodySigned checks the signature that older clients send: that of the project
// secret over the body, or over path and query for GET. The header key is the older
// name of api-key; if both are sent, both must be live.
func (a *API) verifyBodySigned(c *Call) (ring *key.Keyring, k key.APIKey, ok bool, err error) {
	message := c.body
	if c.Request.Method != http.MethodPost {
		message = []byte(c.Request.RequestURI)
	}
	named, now := c.Request.Header.Get("Api-Key"), a.Now()
	if named == "" {
		named = c.Request.Header.Get("Key")
	}
	k, ring, err = a.Keys.ByAPIKey(c.Request.Context(), named)
	if fault.Is(err, fault.NotFound) || err == nil && !k.Live(now) {
		verifyDummy(c.Request, message)
		return nil, k, false, nil
	}
	if err != nil {
		return nil, k, false, err
	}
	if older := c.Request.Header.Get("Key"); older != "" {
		if _, ok := findLiveKey(ring, now, older); !ok {
			verifyDummy(c.Request, message)
			return nil, k, false, nil
		}
	}
	_, ok = verifySignature(c.Request, ring, true, now, message)
	return ring, k, ok, nil
}
