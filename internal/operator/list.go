package operator

import (
	"context"

	"parley/internal/audit"
)

// List returns every token, revoked ones too, the oldest first.
func (s *Service) List(ctx context.Context) ([]Token, error) { return s.store.Tokens(ctx) }

// Revoke revokes a token and ends its sessions at once, and returns the token; NotFound when there is no such
// token. A token that is already revoked stays as it is.
func (s *Service) Revoke(ctx context.Context, id string) (Token, error) {
	var t Token
	err := s.store.Write(ctx, func(ctx context.Context) (err error) {
		if t, err = s.store.Token(ctx, id); err != nil || !t.RevokedAt.IsZero() {
			return err
		}
		t.RevokedAt = s.now()
		if err := s.store.RevokeToken(ctx, id, t.RevokedAt); err != nil {
			return err
		}
		return s.endAll(ctx, id, "", audit.Change{Action: audit.TokenRevoked, Subject: id,
			After: audit.Fields{"revoked_at": audit.Timestamp(t.RevokedAt)}})
	})
	return t, err
}

// LockedOut reports whether no owner's token is live, so that nobody can create another
// token.
func (s *Service) LockedOut(ctx context.Context) (bool, error) {
	now := s.now()
	tokens, err := s.store.Tokens(ctx)
	for _, t := range tokens {
		if t.Role == Owner && t.Live(now) {
			return false, err
		}
	}
	return true, err
}
