package key

import (
	"context"
	"strings"
	"time"
)

// Masked returns the API key for display: its prefix and five more characters, an ellipsis and
// its last four.
func (k APIKey) Masked() string {
	text := k.Key.Reveal()
	shown := strings.LastIndexByte(text, '_') + 6
	if len(text) < shown+8 {
		return "…" // too short to show parts of it
	}
	return text[:shown] + "…" + text[len(text)-4:]
}

// Credentials are the live credentials of a project for display: only the times of
// the project secrets, and keys to be shown masked.
type Credentials struct {
	Keys                []APIKey  // the live ones, the current one first
	SecretCreatedAt     time.Time // of the current project secret
	OldSecretCreatedAt  time.Time // of the previous one; zero unless it is still live
	SecretOverlapEndsAt time.Time // of the previous one; zero unless it is still live
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
			out.OldSecretCreatedAt, out.SecretOverlapEndsAt = p.CreatedAt, p.OverlapEndsAt
		}
	}
	return out, nil
}

// EndingOverlap is a credential that stops working.
type EndingOverlap struct {
	ProjectID  string
	Credential string // event.CredentialKey or event.CredentialSecret
	EndsAt     time.Time
}

// maxOverlaps is the maximum number of overlaps that EndingOverlaps returns.
const maxOverlaps = 10

// EndingOverlaps returns the first overlaps of a project, or of all projects for an empty
// ID, that end within a time.
func (s *Service) EndingOverlaps(ctx context.Context, projectID string, within time.Duration) ([]EndingOverlap, error) {
	now := s.now()
	return s.store.EndingOverlaps(ctx, projectID, now, now.Add(within), maxOverlaps)
}
