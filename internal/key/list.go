package key

import (
	"context"
	"time"
)

// Masked returns what lists show of an API key: its first eight characters, an
// ellipsis and its last four.
func (k APIKey) Masked() string {
	text := k.Key.Reveal()
	if len(text) < 16 {
		return "…" // too short to show a part of it
	}
	return text[:8] + "…" + text[len(text)-4:]
}

// Credentials is what an operator reads of a project's credentials: when, and
// never the secrets themselves.
type Credentials struct {
	Keys                []APIKey  // the live ones, the current one first
	SecretCreatedAt     time.Time // of the current project secret
	SecretOverlapEndsAt time.Time // zero unless an earlier project secret still works
}

// Credentials returns the live credentials of a project; NotFound when there
// is no such project.
func (s *Service) Credentials(ctx context.Context, projectID string) (Credentials, error) {
	if _, err := s.store.Project(ctx, projectID); err != nil {
		return Credentials{}, err
	}
	var out Credentials
	now := s.now()
	keys, err := s.store.APIKeys(ctx, projectID)
	if err != nil {
		return Credentials{}, err
	}
	for _, k := range keys {
		if k.Live(now) {
			out.Keys = append(out.Keys, k)
		}
	}
	secrets, err := s.store.ProjectSecrets(ctx, projectID)
	if err != nil {
		return Credentials{}, err
	}
	for _, p := range secrets {
		switch {
		case p.Slot == Current:
			out.SecretCreatedAt = p.CreatedAt
		case now.Before(p.OverlapEndsAt):
			out.SecretOverlapEndsAt = p.OverlapEndsAt
		}
	}
	return out, nil
}
