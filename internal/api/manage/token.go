package manage

import (
	"net/http"

	"parley/internal/operator"
)

// ListTokens implements ServerInterface.
func (s *operations) ListTokens(w http.ResponseWriter, r *http.Request) {
	all, err := s.tokens.List(r.Context())
	out := TokenList{Tokens: []Token{}}
	for _, t := range all {
		out.Tokens = append(out.Tokens, token(r, t))
	}
	answer(w, r, out, err)
}

// CreateToken implements ServerInterface.
func (s *operations) CreateToken(w http.ResponseWriter, r *http.Request) {
	q, err := read[NewToken](w, r)
	if err != nil {
		refuse(w, r, err)
		return
	}
	t, clear, err := s.tokens.Create(r.Context(), q.Name)
	answer(w, r, NewTokenWithSecret{TokenId: t.ID, Name: t.Name, Token: clear.Reveal(), CreatedAt: t.CreatedAt.UTC()}, err)
}

// RevokeToken implements ServerInterface.
func (s *operations) RevokeToken(w http.ResponseWriter, r *http.Request, id TokenID) {
	t, err := s.tokens.Revoke(r.Context(), id)
	answer(w, r, token(r, t), err)
}

func token(r *http.Request, t operator.Token) Token {
	return Token{TokenId: t.ID, Name: t.Name, CreatedAt: t.CreatedAt.UTC(), RevokedAt: moment(t.RevokedAt), InUse: t.ID == caller(r).ID}
}
