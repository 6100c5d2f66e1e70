package key

import (
	"context"
	"crypto/sha256"

	"parley/internal/fault"
)

// Keyring returns the ring of a project, from memory where it can; NotFound when
// there is no such project. Whether a project exists is answered from memory, so
// that a call for an unknown one costs what a call for a known one does.
func (s *Service) Keyring(ctx context.Context, projectID string) (*Keyring, error) {
	if s.cacheBypassed.Load() {
		return s.readKeyring(ctx, projectID)
	}
	if r, ok := s.keyrings.Load(projectID); ok {
		return r.(*Keyring), nil
	}
	if err := s.index.checkProjectExists(ctx, s.store, projectID); err != nil {
		return nil, err
	}
	generation := s.generation.Load()
	r, err := s.readKeyring(ctx, projectID)
	if err != nil {
		return nil, err
	}
	s.invalidateMu.Lock()
	defer s.invalidateMu.Unlock()
	if s.generation.Load() == generation {
		s.keyrings.Store(projectID, r)
	} // else something was forgotten while this was read: it may be this
	return r, nil
}

// readKeyring asks the database. For a project that does not exist it asks all
// that it asks for one that does: who calls with a key that does not exist must
// not see it by the time that takes.
func (s *Service) readKeyring(ctx context.Context, projectID string) (*Keyring, error) {
	p, err := s.store.Project(ctx, projectID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	missing := err
	r := &Keyring{Project: p}
	r.Organization, err = s.store.Organization(ctx, p.OrganizationID)
	if err != nil && (missing == nil || !fault.Is(err, fault.NotFound)) {
		return nil, err
	}
	if r.keys, err = s.store.APIKeys(ctx, projectID); err != nil {
		return nil, err
	}
	for i := range r.keys {
		r.keys[i].hash = sha256.Sum256([]byte(r.keys[i].Key.Reveal()))
	}
	if r.secrets, err = s.store.ProjectSecrets(ctx, projectID); err != nil {
		return nil, err
	}
	if missing != nil {
		return nil, missing
	}
	return r, nil
}

// InvalidateAndPublish drops what any node holds of a project. Whoever changes a project or
// its credentials calls it after the commit.
func (s *Service) InvalidateAndPublish(projectID string) {
	s.Invalidate(projectID)
	s.publishInvalidation(projectID)
}

// Invalidate drops what memory holds of a project.
func (s *Service) Invalidate(projectID string) {
	s.invalidateMu.Lock()
	defer s.invalidateMu.Unlock()
	s.generation.Add(1)
	s.keyrings.Delete(projectID)
	s.index.invalidate(projectID)
}

// BypassCache has everything read from the database until Trust: other nodes may
// change what memory holds, and this one would not hear of it.
func (s *Service) BypassCache() { s.cacheBypassed.Store(true) }

// EnableCache forgets all that memory holds and begins to use it anew.
func (s *Service) EnableCache() {
	s.invalidateMu.Lock()
	defer s.invalidateMu.Unlock()
	s.generation.Add(1)
	s.keyrings.Clear()
	s.index.invalidateAll()
	s.cacheBypassed.Store(false)
}
