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
	made, err := s.keys.RotateKey(r.Context(), id, rotation(q))
	writeResult(w, r, RotatedKey{ProjectId: id, ApiKey: made.APIKey.Reveal(), GatewaySecret: made.GatewaySecret.Reveal(),
		OverlapEndsAt: made.OverlapEndsAt.UTC()}, err)
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
	made, err := s.keys.RotateSecret(r.Context(), id, rotation(q))
	writeResult(w, r, RotatedSecret{ProjectId: id, ProjectSecret: made.ProjectSecret.Reveal(), OverlapEndsAt: made.OverlapEndsAt.UTC()}, err)
}

func (s *server) RevokeProjectSecretOverlap(w http.ResponseWriter, r *http.Request, id string) {
	if err := s.keys.RevokeSecretOverlap(r.Context(), id); err != nil {
		writeError(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

func rotation(q Rotation) key.Rotation {
	how := key.Rotation{Overlap: key.DefaultOverlap}
	if q.Overlap != nil {
		how.Overlap = clampSeconds(*q.Overlap)
	}
	setIfPresent(&how.Force, q.Force)
	return how
}

// clampSeconds keeps what no time.Duration can hold out of bounds, where it will be
// refused, and not wrapped around into them.
func clampSeconds(n int) time.Duration {
	const most = int(math.MaxInt64 / time.Second)
	return time.Duration(min(max(n, -most), most)) * time.Second
}
