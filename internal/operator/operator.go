// Package operator holds the management tokens, with which operators use the
// management API. It imports the standard library, fault, validate and seal only.
package operator

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/seal"
	"parley/internal/validate"
)

// Token lets its bearer use the management API. Only its hash is stored.
type Token struct {
	ID        string
	Name      string
	Hash      string
	CreatedAt time.Time
	RevokedAt time.Time // zero while it is live
}

// Store stores tokens.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	InsertToken(ctx context.Context, t Token) error
	// TokenByHash fails with NotFound.
	TokenByHash(ctx context.Context, hash string) (Token, error)
	// Token fails with NotFound.
	Token(ctx context.Context, id string) (Token, error)
	// Tokens returns all, the oldest first.
	Tokens(ctx context.Context) ([]Token, error)
	RevokeToken(ctx context.Context, id string, at time.Time) error
}

// Service creates, authenticates, lists and revokes tokens.
type Service struct {
	store Store
	now   func() time.Time
	newID func() string
}

// NewService returns a Service.
func NewService(store Store, now func() time.Time, newID func() string) *Service {
	return &Service{store: store, now: now, newID: newID}
}

// Create creates a token and returns it in clear text, which cannot be read later.
// The name has 1 to 255 characters.
func (s *Service) Create(ctx context.Context, name string) (Token, seal.Secret, error) {
	if err := validate.Text("name", name, 1, 255, false); err != nil {
		return Token{}, "", err
	}
	clear := seal.NewManagementToken()
	t := Token{ID: s.newID(), Name: name, Hash: seal.Hash(clear.Reveal()), CreatedAt: s.now()}
	err := s.store.Write(ctx, func(ctx context.Context) error { return s.store.InsertToken(ctx, t) })
	return t, clear, err
}

// Authenticate returns the live token with this clear text, or Unauthorized.
func (s *Service) Authenticate(ctx context.Context, clear string) (Token, error) {
	t, err := s.store.TokenByHash(ctx, seal.Hash(clear))
	if fault.Is(err, fault.NotFound) || err == nil && !t.RevokedAt.IsZero() {
		return Token{}, fault.New(fault.Unauthorized, "unauthorized", "a live management token is required")
	}
	return t, err
}
