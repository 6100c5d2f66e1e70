package manage

import (
	"math"
	"net/http"
	"time"

	"parley/internal/key"
)

func (s *server) ListKeys(w http.ResponseWriter, r *http.Request, id string) {
	c, err := s.keys.Credentials(r.Context(), id)
	out := KeyList{Keys: []Key{}}
	for _, k := range c.Keys {
		status := KeyStatusActive
		if k.Slot == key.Overlap {
			status = KeyStatusRetiring
		}
		out.Keys = append(out.Keys, Key{Id: k.ID, ApiKey: k.Masked(), Status: status, CreatedAt: k.CreatedAt,
			RetiringSince: timeOrNil(k.RetiringSince), OverlapEndsAt: timeOrNil(k.OverlapEndsAt)})
	}
	writeResult(w, r, out, err)
}

func (s *server) RotateKey(w http.ResponseWriter, r *http.Request, id string) {
	q, err := readOptional[Rotation](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	rotated, err := s.keys.RotateKey(r.Context(), id, rotation(q))
	writeResult(w, r, RotatedKey{ProjectId: id, ApiKey: rotated.APIKey.Reveal(),
		GatewaySecret: rotated.GatewaySecret.Reveal(),
		OverlapEndsAt: rotated.OverlapEndsAt.UTC()}, err)
}

func (s *server) RevokeKeyOverlap(w http.ResponseWriter, r *http.Request, id string) {
	if err := s.keys.RevokeOverlap(r.Context(), id); err != nil {
		writeError(w, r, err)
		return
	}
	s.ListKeys(w, r, id)
}

func (s *server) RotateProjectSecret(w http.ResponseWriter, r *http.Request, id string) {
	q, err := readOptional[Rotation](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	rotated, err := s.keys.RotateSecret(r.Context(), id, rotation(q))
	writeResult(w, r, RotatedSecret{ProjectId: id, ProjectSecret: rotated.ProjectSecret.Reveal(),
		OverlapEndsAt: rotated.OverlapEndsAt.UTC()}, err)
}

func (s *server) RevokeProjectSecretOverlap(w http.ResponseWriter, r *http.Request, id string) {
	if err := s.keys.RevokeSecretOverlap(r.Context(), id); err != nil {
		writeError(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

func rotation(q Rotation) key.Rotation {
	spec := key.Rotation{Overlap: key.DefaultOverlap}
	if q.Overlap != nil {
		spec.Overlap = clampSeconds(*q.Overlap)
	}
	setIfPresent(&spec.Force, q.Force)
	return spec
}

// clampSeconds converts n seconds to a duration. A value that overflows becomes
// the longest duration instead of wrapping around into the valid range, so that
// the domain rejects it.
func clampSeconds(n int) time.Duration {
	const maxSeconds = int(math.MaxInt64 / time.Second)
	return time.Duration(min(max(n, -maxSeconds), maxSeconds)) * time.Second
}
