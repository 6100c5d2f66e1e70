package storetest

import (
	"context"
	"testing"

	"parley/internal/fault"
	"parley/internal/operator"
)

func (s *suite) TestToken(t *testing.T) {
	ctx := context.Background()
	for i, name := range trickyTexts {
		token := operator.Token{ID: NewID(), Name: name, Hash: NewID(), CreatedAt: testTime(i)}
		if i%2 == 1 {
			token.RevokedAt = testTime(i + 1)
		}
		s.write(t, func(ctx context.Context) error { return s.db.InsertToken(ctx, token) })
		got, err := s.db.TokenByHash(ctx, token.Hash)
		requireEqual(t, got, err, token)
		token.ID = NewID()
		requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertToken(ctx, token) }))
	}
	_, err := s.db.TokenByHash(ctx, "unknown")
	requireFault(t, err, fault.NotFound, "token_not_found")
}
