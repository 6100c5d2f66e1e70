package manage

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/operator"
)

func (s *server) ListTokens(w http.ResponseWriter, r *http.Request) {
	out, err := s.listTokens(r)
	writeResult(w, r, out, err)
}

func (s *server) listTokens(r *http.Request) (TokenList, error) {
	query, err := httpx.Query(r.URL.RawQuery, "limit", "cursor")
	if err != nil {
		return TokenList{}, err
	}
	all, err := s.Tokens.List(r.Context())
	if err != nil {
		return TokenList{}, err
	}
	out := TokenList{Tokens: []Token{}}
	page, next, err := pageOf(query, all, func(t operator.Token) string { return t.ID })
	for _, t := range page {
		out.Tokens = append(out.Tokens, newToken(r, t))
	}
	out.NextCursor = next
	return out, err
}

func (s *server) CreateToken(w http.ResponseWriter, r *http.Request) {
	out, err := s.createToken(w, r)
	writeResult(w, r, out, err)
}

func (s *server) createToken(w http.ResponseWriter, r *http.Request) (NewTokenWithSecret, error) {
	q, err := read[NewToken](w, r)
	if err != nil {
		return NewTokenWithSecret{}, err
	}
	created := operator.NewToken{Name: q.Name}
	if q.Role != nil {
		created.Role = operator.Role(*q.Role)
	}
	if created.ExpiresAt, err = parseTime("expires_at", q.ExpiresAt); err != nil {
		return NewTokenWithSecret{}, err
	}
	if created.ProjectIDs, err = s.projectsOf(r, q.ProjectIds); err != nil {
		return NewTokenWithSecret{}, err
	}
	t, secret, err := s.Tokens.Create(r.Context(), created)
	if err != nil {
		return NewTokenWithSecret{}, err
	}
	return NewTokenWithSecret{
		TokenId:    t.ID,
		Name:       t.Name,
		Role:       TokenRole(t.Role),
		ProjectIds: projectIDs(t.ProjectIDs),
		Token:      secret.Reveal(),
		CreatedAt:  NewTime(t.CreatedAt),
		ExpiresAt:  httpx.TimeOrNil(t.ExpiresAt),
	}, nil
}

func (s *server) RevokeToken(w http.ResponseWriter, r *http.Request, id string) {
	t, err := s.Tokens.Revoke(r.Context(), id)
	writeResult(w, r, newToken(r, t), err)
}

func newToken(r *http.Request, t operator.Token) Token {
	return Token{
		TokenId:    t.ID,
		Name:       t.Name,
		Role:       TokenRole(t.Role),
		ProjectIds: projectIDs(t.ProjectIDs),
		CreatedAt:  NewTime(t.CreatedAt),
		ExpiresAt:  httpx.TimeOrNil(t.ExpiresAt),
		LastUsedAt: httpx.TimeOrNil(t.LastUsedAt),
		RevokedAt:  httpx.TimeOrNil(t.RevokedAt),
		InUse:      t.ID == caller(r).ID,
	}
}

// projectsOf returns the projects that a body names for a role, or NotFound if one does not
// exist.
func (s *server) projectsOf(r *http.Request, ids *[]string) (operator.ProjectIDs, error) {
	if ids == nil || len(*ids) > operator.MaxProjects { // the service names the bound
		return operator.ProjectIDs(httpx.OrZero(ids)), nil
	}
	for _, id := range *ids {
		if _, err := s.Projects.Get(r.Context(), id); err != nil {
			return nil, err
		}
	}
	return *ids, nil
}

func projectIDs(ids operator.ProjectIDs) []string { return append([]string{}, ids...) }
