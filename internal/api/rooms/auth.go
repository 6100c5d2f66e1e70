package rooms

import (
	"net/http"
	"strings"
	"time"

	"parley/client/sign"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

// A secret nobody has. Calls with unknown keys are checked against it, so that
// they cost what calls with known ones cost.
const dummySecret = "gs_0000000000000000000000000000000000000000000"

// authenticate holds a call to its signature and returns whose it is. The API
// key in the header decides the project. All that can be wrong is one answer
// after the same work; it fails closed.
func (s *Server) authenticate(c *call) (project.Project, string, error) {
	check := s.verifyTimestamped
	if s.options.BodySignatures && len(c.r.Header["Timestamp"]) == 0 {
		check, c.bodySigned = s.verifyBodySigned, true
	}
	ring, k, ok, err := check(c)
	if err != nil {
		return project.Project{}, "", err
	}
	if !ok {
		return project.Project{}, "", s.api.AuthenticationError(c.r)
	}
	if s.api.CallCounter != nil {
		s.api.CallCounter.Add(k.ID, string(k.Slot))
	}
	if !c.bodySigned && c.r.Method == http.MethodPost {
		c.replayKey = s.newReplayKey(c, ring.Project.ID)
	}
	return ring.Project, k.ID, nil
}

// clockSkewMargin is added to the time for which a signature is remembered,
// because the clocks of several nodes may differ.
const clockSkewMargin = time.Minute

// newReplayKey identifies a rightly signed request by its signature, for as long as a
// node takes its timestamp.
func (s *Server) newReplayKey(c *call, projectID string) *room.IdempotencyKey {
	timestamp, now := c.r.Header.Get("Timestamp"), s.api.Now()
	ahead := time.Duration(sign.CheckTimestamp(timestamp, now, s.options.Skew).SkewSeconds) * time.Second
	return &room.IdempotencyKey{ProjectID: projectID, Signature: strings.ToLower(c.r.Header.Get("Hash-Signature")),
		ValidFor: s.options.Skew + ahead + clockSkewMargin}
}

// verifyTimestamped checks SVC-HMAC-V5-1, with the Gateway secret of the key. The fifth
// part is the Idempotency-Key of a write, and empty where nothing is written.
func (s *Server) verifyTimestamped(c *call) (ring *key.Keyring, k key.APIKey, ok bool, err error) {
	h := c.r.Header
	secret, idempotencyKey := dummySecret, ""
	if c.r.Method == http.MethodPost {
		idempotencyKey = h.Get("Idempotency-Key")
	}
	k, ring, err = s.keys.ByAPIKey(c.r.Context(), h.Get("Api-Key"))
	switch {
	case err == nil:
		secret = k.GatewaySecret.Reveal()
	case !fault.Is(err, fault.NotFound):
		return nil, k, false, err
	}
	now := s.api.Now()
	right := sign.VerifyV5(secret, c.r.Method, c.r.RequestURI, h.Get("Timestamp"), idempotencyKey, c.body, h.Get("Hash-Signature"))
	fresh := sign.CheckTimestamp(h.Get("Timestamp"), now, s.options.Skew).Freshness == sign.Fresh
	once := len(h["Timestamp"]) == 1 && len(h["Hash-Signature"]) == 1
	return ring, k, right && fresh && once && ring != nil && k.Live(now), nil
}

// verifyBodySigned checks what older clients send: the project secret's signature over
// the body, or over path and query for GET. The header key is the older name
// of api-key; where both are sent both must be live.
func (s *Server) verifyBodySigned(c *call) (ring *key.Keyring, k key.APIKey, ok bool, err error) {
	message := c.body
	if c.r.Method != http.MethodPost {
		message = []byte(c.r.RequestURI)
	}
	named, now := c.r.Header.Get("Api-Key"), s.api.Now()
	if named == "" {
		named = c.r.Header.Get("Key")
	}
	k, ring, err = s.keys.ByAPIKey(c.r.Context(), named)
	if fault.Is(err, fault.NotFound) || err == nil && !k.Live(now) {
		VerifyDummy(c.r, message)
		return nil, k, false, nil
	}
	if err != nil {
		return nil, k, false, err
	}
	if older := c.r.Header.Get("Key"); older != "" {
		if _, ok := FindLiveKey(ring, now, older); !ok {
			VerifyDummy(c.r, message)
			return nil, k, false, nil
		}
	}
	_, ok = VerifySignature(c.r, ring, true, now, message)
	return ring, k, ok, nil
}
