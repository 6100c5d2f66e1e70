package key

import (
	"context"
	"crypto/sha256"

	"parley/internal/fault"
)

// Keyring returns the keyring of a project, from the cache if possible; NotFound
// when there is no such project. The existence of a project is checked in memory,
// so that a call for an unknown project takes as long as one for a known project.
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
	} // else an invalidation during the read may have been for this keyring
	return r, nil
}

// readKeyring reads a keyring from the database. For an unknown project it runs
// the same queries as for a known one, so that the response time does not reveal
// whether a key exists.
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

// InvalidateAndPublish removes a project from the caches of all nodes. It must be
// called after the commit of every change of a project or its credentials.
func (s *Service) InvalidateAndPublish(projectID string) {
	s.Invalidate(projectID)
	s.publishInvalidation(projectID)
}

// Invalidate removes a project from the cache of this node.
func (s *Service) Invalidate(projectID string) {
	s.invalidateMu.Lock()
	defer s.invalidateMu.Unlock()
	s.generation.Add(1)
	s.keyrings.Delete(projectID)
	s.index.invalidate(projectID)
}

// BypassCache makes all reads go to the database until EnableCache. It is for
// times in which this node does not receive the invalidations of other nodes.
func (s *Service) BypassCache() { s.cacheBypassed.Store(true) }

// EnableCache clears the cache and uses it again.
func (s *Service) EnableCache() {
	s.invalidateMu.Lock()
	defer s.invalidateMu.Unlock()
	s.generation.Add(1)
	s.keyrings.Clear()
	s.index.invalidateAll()
	s.cacheBypassed.Store(false)
}
