package v3

import (
	"crypto/subtle"
	"net/http"

	"parley/client/sign"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
)

// A key nobody has. Checks for unknown projects run against it, so that they
// cost what checks for known ones cost.
const nobodysKey = "pk_00000000000000000000000000000000"

var errUnauthorized = fault.New(fault.Unauthorized, "unauthorized", "invalid signature")

// authenticate finds the project a call belongs to, and holds the call to its
// signature: Base64(HMAC-SHA256(k, raw body)), k being a live API key or
// project secret. Unknown project, unknown key and wrong signature are one
// answer. It fails closed.
func (s *Server) authenticate(r *http.Request, projectID string, body []byte) (project.Project, error) {
	ring, err := s.rings.Ring(r.Context(), projectID)
	if err != nil {
		if !fault.Is(err, fault.NotFound) {
			return project.Project{}, err
		}
		sign.VerifyLegacy(nobodysKey, body, r.Header.Get("hash-signature"))
		return project.Project{}, errUnauthorized
	}
	keys := ring.APIKeys(s.now())
	presented := append(r.Header.Values("api-key"), r.Header.Values("key")...)
	for _, k := range presented {
		if !among(keys, k) {
			sign.VerifyLegacy(nobodysKey, body, r.Header.Get("hash-signature"))
			return project.Project{}, errUnauthorized
		}
	}
	signatures := r.Header.Values("hash-signature")
	if len(signatures) == 0 && len(presented) > 0 && s.options.LegacyKeyHeader {
		return ring.Project, nil
	}
	if len(signatures) != 1 || !s.signed(ring, keys, body, signatures[0]) {
		return project.Project{}, errUnauthorized
	}
	return ring.Project, nil
}

func (s *Server) signed(ring *key.Ring, keys []string, body []byte, signature string) bool {
	if ring.Project.Settings.RequireSecretSignatures {
		keys = nil
	}
	for _, k := range append(keys, ring.ProjectSecrets(s.now())...) {
		if sign.VerifyLegacy(k, body, signature) {
			return true
		}
	}
	return false
}

func among(keys []string, k string) bool {
	found := 0
	for _, live := range keys {
		found |= subtle.ConstantTimeCompare([]byte(live), []byte(k))
	}
	return found == 1
}
