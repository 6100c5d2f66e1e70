package manage

import (
	"net/http"

	"parley/internal/operator"
)

func (s *server) ListTokens(w http.ResponseWriter, r *http.Request) {
	all, err := s.tokens.List(r.Context())
	out := TokenList{Tokens: []Token{}}
	for _, t := range all {
		out.Tokens = append(out.Tokens, token(r, t))
	}
	writeResult(w, r, out, err)
}

func (s *server) CreateToken(w http.ResponseWriter, r *http.Request) {
	q, err := read[NewToken](w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	t, secret, err := s.tokens.Create(r.Context(), q.Name)
	writeResult(w, r, NewTokenWithSecret{TokenId: t.ID, Name: t.Name, Token: secret.Reveal(),
		CreatedAt: t.CreatedAt.UTC()}, err)
}

func (s *server) RevokeToken(w http.ResponseWriter, r *http.Request, id string) {
	t, err := s.tokens.Revoke(r.Context(), id)
	writeResult(w, r, token(r, t), err)
}

func token(r *http.Request, t operator.Token) Token {
	return Token{TokenId: t.ID, Name: t.Name, CreatedAt: t.CreatedAt.UTC(), RevokedAt: timeOrNil(t.RevokedAt),
		InUse: t.ID == callerToken(r).ID}
}
