package manage

import (
	"context"
	"math"
	"net/http"
	"slices"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/key"
	"parley/internal/requestlog"
)

func (s *server) ListKeys(w http.ResponseWriter, r *http.Request, id string) {
	query, err := httpx.Query(r.URL.RawQuery, "limit", "cursor")
	if err != nil {
		writeError(w, r, err)
		return
	}
	out, err := s.listKeys(r.Context(), id)
	if err == nil {
		out.Keys, out.NextCursor, err = pageOfKeys(query, out.Keys)
	}
	writeResult(w, r, out, err)
}

// pageOfKeys returns the page that a query chooses. The cursor is the ID of a key.
func pageOfKeys(query map[string]string, all []Key) (page []Key, next *string, err error) {
	if after, sent := query["cursor"]; sent {
		i := slices.IndexFunc(all, func(k Key) bool { return k.Id == after })
		if i < 0 {
			return nil, nil, httpx.ErrCursor
		}
		all = all[i+1:]
	}
	return limitPage(query, all, func(k Key) string { return k.Id })
}

func (s *server) listKeys(ctx context.Context, projectID string) (KeyList, error) {
	c, err := s.Keys.Credentials(ctx, projectID)
	if err != nil {
		return KeyList{}, err
	}
	var callers keyCallers
	if s.Calls != nil {
		if callers, err = s.Calls.KeyCallers(ctx, projectID); err != nil {
			return KeyList{}, err
		}
	}
	out := KeyList{Keys: []Key{}}
	if s.Calls != nil {
		current, old := requestlog.SlotSecret, requestlog.SlotOverlapSecret
		out.SecretCallers = new(newKeyCallers(callers.between(current, c.SecretCreatedAt, time.Time{})))
		if !c.SecretOverlapEndsAt.IsZero() {
			out.OldSecretCallers = new(callers.withOld(current, old, c.OldSecretCreatedAt, c.SecretCreatedAt))
		}
	}
	for _, k := range c.Keys {
		calls, last, err := s.KeyUses.Count(ctx, k.ID, string(k.Slot))
		if err != nil {
			return KeyList{}, err
		}
		shown := Key{
			Id:            k.ID,
			ApiKey:        k.Masked(),
			Status:        KeyStatusActive,
			CreatedAt:     NewTime(k.CreatedAt),
			RetiringSince: httpx.TimeOrNil(k.RetiringSince),
			OverlapEndsAt: httpx.TimeOrNil(k.OverlapEndsAt),
			LastUsedAt:    httpx.TimeOrNil(last),
		}
		if k.Slot == key.Overlap {
			shown.Status, shown.RequestsSinceRotation = KeyStatusRetiring, &calls
		}
		if s.Calls != nil {
			callers.addTo(&shown, k)
		}
		out.Keys = append(out.Keys, shown)
	}
	return out, nil
}

func (s *server) RotateKey(w http.ResponseWriter, r *http.Request, id string) {
	q, err := readOptional[Rotation](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	rotated, err := s.Keys.RotateKey(r.Context(), id, rotation(q))
	writeResult(w, r, RotatedKey{ProjectId: id, ApiKey: rotated.APIKey.Reveal(),
		GatewaySecret: rotated.GatewaySecret.Reveal(),
		OverlapEndsAt: NewTime(rotated.OverlapEndsAt)}, err)
}

func (s *server) RevokeKeyOverlap(w http.ResponseWriter, r *http.Request, id string) {
	if err := s.Keys.RevokeOverlap(r.Context(), id); err != nil {
		writeError(w, r, err)
		return
	}
	out, err := s.listKeys(r.Context(), id)
	writeResult(w, r, out, err)
}

func (s *server) RotateProjectSecret(w http.ResponseWriter, r *http.Request, id string) {
	q, err := readOptional[Rotation](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	rotated, err := s.Keys.RotateSecret(r.Context(), id, rotation(q))
	writeResult(w, r, RotatedSecret{ProjectId: id, ProjectSecret: rotated.ProjectSecret.Reveal(),
		OverlapEndsAt: NewTime(rotated.OverlapEndsAt)}, err)
}

func (s *server) RevokeProjectSecretOverlap(w http.ResponseWriter, r *http.Request, id string) {
	if err := s.Keys.RevokeSecretOverlap(r.Context(), id); err != nil {
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
