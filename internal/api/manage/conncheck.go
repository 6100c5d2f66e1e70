package manage

import (
	"context"
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/conncheck"
	"parley/internal/seal"
)

// ConnectionChecks is the part of the service of connection checks that this API calls.
type ConnectionChecks interface {
	Create(ctx context.Context) (conncheck.Check, seal.Secret, error)
	Get(ctx context.Context, id string) (conncheck.Check, conncheck.State, error)
}

func (s *server) CreateConnectionCheck(w http.ResponseWriter, r *http.Request) {
	c, code, err := s.ConnectionChecks.Create(r.Context())
	// In the fragment, which browsers do not send, so that no server logs the code.
	writeResult(w, r, NewConnectionCheck{CheckId: c.ID, Url: s.BaseURL() + "/check#" + code.Reveal(),
		ExpiresAt: NewTime(c.ExpiresAt)}, err)
}

func (s *server) GetConnectionCheck(w http.ResponseWriter, r *http.Request, id string) {
	c, state, err := s.ConnectionChecks.Get(r.Context(), id)
	if err != nil {
		writeError(w, r, err)
		return
	}
	out := ConnectionCheck{
		CheckId:    c.ID,
		State:      ConnectionCheckState(state),
		CreatedAt:  NewTime(c.CreatedAt),
		ExpiresAt:  NewTime(c.ExpiresAt),
		StartedAt:  httpx.TimeOrNil(c.StartedAt),
		FinishedAt: httpx.TimeOrNil(c.FinishedAt),
		Paths:      []CheckedPath{},
	}
	for _, p := range c.Paths {
		out.Paths = append(out.Paths, CheckedPath{Path: CheckedPathPath(p.Name), Offered: p.Offered, Works: p.Works,
			Address: httpx.OrNil(p.Address)})
	}
	httpx.WriteJSON(w, http.StatusOK, out)
}
