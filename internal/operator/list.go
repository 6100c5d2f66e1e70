package operator

import "context"

// List returns every token, revoked ones too, the oldest first.
func (s *Service) List(ctx context.Context) ([]Token, error) { return s.store.Tokens(ctx) }

// Revoke revokes a token at once and returns it; NotFound when there is no such
// token. A token that is already revoked stays as it is.
func (s *Service) Revoke(ctx context.Context, id string) (Token, error) {
	var t Token
	err := s.store.Write(ctx, func(ctx context.Context) (err error) {
		if t, err = s.store.Token(ctx, id); err != nil || !t.RevokedAt.IsZero() {
			return err
		}
		t.RevokedAt = s.now()
		return s.store.RevokeToken(ctx, id, t.RevokedAt)
	})
	return t, err
}

// LockedOut reports whether no token is live, so that the management API cannot be
// used.
func (s *Service) LockedOut(ctx context.Context) (bool, error) {
	tokens, err := s.store.Tokens(ctx)
	for _, t := range tokens {
		if t.RevokedAt.IsZero() {
			return false, err
		}
	}
	return true, err
}
