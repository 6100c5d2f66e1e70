package join

import (
	"context"
	"net/http"
	"net/netip"

	"parley/internal/api/httpx"
	"parley/internal/conncheck"
	"parley/internal/seal"
)

// ConnectionChecks is the part of the service of connection checks that this API calls.
type ConnectionChecks interface {
	Start(ctx context.Context, code string) (key seal.Secret, err error)
	MediaToken(ctx context.Context, key string, client netip.Addr) (token string, err error)
	Finish(ctx context.Context, key string, paths conncheck.Paths) error
}

// StartCheck responds with the key of the check that a code starts.
func (s *Server) StartCheck(w http.ResponseWriter, r *http.Request) {
	key, err := s.startCheck(w, r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, StartedCheck{Key: key.Reveal()})
}

func (s *Server) startCheck(w http.ResponseWriter, r *http.Request) (seal.Secret, error) {
	o, err := readObject(w, r)
	if err != nil {
		return "", err
	}
	code := o.RequiredText("code")
	if err := o.Err(); err != nil {
		return "", err
	}
	if err := s.countCheck(httpx.FromContext(r.Context()).Client); err != nil {
		return "", err
	}
	return s.checks.Start(r.Context(), code)
}

// CreateCheckToken responds with a media token for one path.
func (s *Server) CreateCheckToken(w http.ResponseWriter, r *http.Request) {
	token, err := s.createCheckToken(w, r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, Check{MediaToken: token})
}

func (s *Server) createCheckToken(w http.ResponseWriter, r *http.Request) (string, error) {
	o, err := readObject(w, r)
	if err != nil {
		return "", err
	}
	key := o.RequiredText("key")
	if err := o.Err(); err != nil {
		return "", err
	}
	client := httpx.FromContext(r.Context()).Client
	if err := s.countCheck(client); err != nil {
		return "", err
	}
	return s.checks.MediaToken(r.Context(), key, client)
}

// FinishCheck stores the report of a check.
func (s *Server) FinishCheck(w http.ResponseWriter, r *http.Request) {
	if err := s.finishCheck(w, r); err != nil {
		s.writeError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) finishCheck(w http.ResponseWriter, r *http.Request) error {
	o, err := readObject(w, r)
	if err != nil {
		return err
	}
	key, reported := o.RequiredText("key"), o.RequiredObject("paths")
	var paths conncheck.Paths
	for _, name := range conncheck.PathNames {
		if !reported.Has(name) {
			continue
		}
		p := reported.RequiredObject(name)
		paths = append(paths, conncheck.Path{Name: name, Offered: p.Flag("offered"), Works: p.Flag("works"),
			Address: httpx.OrZero(p.Text("address"))})
	}
	if err := o.Err(); err != nil {
		return err
	}
	return s.checks.Finish(r.Context(), key, paths)
}
