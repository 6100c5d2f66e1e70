package storetest

import (
	"context"
	"testing"

	"parley/internal/fault"
	"parley/internal/operator"
)

func (s *suite) TestToken(t *testing.T) {
	ctx := context.Background()
	for i, name := range texts {
		token := operator.Token{ID: NewID(), Name: name, Hash: NewID(), CreatedAt: moment(i)}
		if i%2 == 1 {
			token.RevokedAt = moment(i + 1)
		}
		s.write(t, func(ctx context.Context) error { return s.db.InsertToken(ctx, token) })
		got, err := s.db.TokenByHash(ctx, token.Hash)
		same(t, got, err, token)
		token.ID = NewID()
		broken(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertToken(ctx, token) }))
	}
	_, err := s.db.TokenByHash(ctx, "unknown")
	refused(t, err, fault.NotFound, "token_not_found")
}
