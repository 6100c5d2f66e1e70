package manage

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"parley/internal/api/web"
	"parley/internal/operator"
)

type tokenKey struct{}

// authenticate holds a call to its bearer token and remembers whose it is, for
// the answer and for the log. It fails closed: no token, and none that can be
// read, is looked up as the empty one, which nobody has.
func (s *operations) authenticate(r *http.Request) (*http.Request, error) {
	clear := ""
	if values := r.Header.Values("Authorization"); len(values) == 1 {
		if scheme, text, ok := strings.Cut(values[0], " "); ok && strings.EqualFold(scheme, "Bearer") {
			clear = text
		}
	}
	t, err := s.tokens.Authenticate(r.Context(), clear)
	if err != nil {
		return r, err
	}
	info := web.From(r.Context())
	info.Note = append(info.Note, slog.String("token_id", t.ID), slog.String("token_name", t.Name))
	return r.WithContext(context.WithValue(r.Context(), tokenKey{}, t)), nil
}

// caller is the token of this call.
func caller(r *http.Request) operator.Token {
	t, _ := r.Context().Value(tokenKey{}).(operator.Token)
	return t
}
