package key

import (
	"context"
	"crypto/sha256"

	"parley/internal/fault"
)

// Ring returns the ring of a project, from memory where it can; NotFound when
// there is no such project. Whether a project exists is answered from memory, so
// that a call for an unknown one costs what a call for a known one does.
func (s *Service) Ring(ctx context.Context, projectID string) (*Ring, error) {
	if s.distrusted.Load() {
		return s.readRing(ctx, projectID)
	}
	if r, ok := s.rings.Load(projectID); ok {
		return r.(*Ring), nil
	}
	if err := s.index.has(ctx, s.store, projectID); err != nil {
		return nil, err
	}
	generation := s.generation.Load()
	r, err := s.readRing(ctx, projectID)
	if err != nil {
		return nil, err
	}
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	if s.generation.Load() == generation {
		s.rings.Store(projectID, r)
	} // else something was forgotten while this was read: it may be this
	return r, nil
}

// readRing asks the database. For a project that does not exist it asks all
// that it asks for one that does: who calls with a key that does not exist must
// not see it by the time that takes.
func (s *Service) readRing(ctx context.Context, projectID string) (*Ring, error) {
	p, err := s.store.Project(ctx, projectID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	missing := err
	r := &Ring{Project: p}
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

// Changed drops what any node holds of a project. Whoever changes a project or
// its credentials calls it after the commit.
func (s *Service) Changed(projectID string) {
	s.Forget(projectID)
	s.tell(projectID)
}

// Forget drops what memory holds of a project.
func (s *Service) Forget(projectID string) {
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	s.generation.Add(1)
	s.rings.Delete(projectID)
	s.index.forget(projectID)
}

// Distrust has everything read from the database until Trust: other nodes may
// change what memory holds, and this one would not hear of it.
func (s *Service) Distrust() { s.distrusted.Store(true) }

// Trust forgets all that memory holds and begins to use it anew.
func (s *Service) Trust() {
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	s.generation.Add(1)
	s.rings.Clear()
	s.index.forgetAll()
	s.distrusted.Store(false)
}
