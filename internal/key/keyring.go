package key

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"sync/atomic"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

// Keyring is a project with its live credentials, unsealed, so that signatures can
// be checked without the database.
type Keyring struct {
	Project      project.Project
	Organization project.Organization
	keys         []APIKey
	secrets      []ProjectSecret

	verified atomic.Int32 // index of the credential that verified last
}

// Live reports whether the key may be used at now.
func (k APIKey) Live(now time.Time) bool {
	return k.Slot == Current || k.Slot == Overlap && now.Before(k.OverlapEndsAt)
}

// Keys returns the API keys that were live when the keyring was read, the current
// one first. Call Live before using one, because its overlap may have ended.
func (r *Keyring) Keys() []APIKey { return r.keys }

// Signer is a credential that signed a call.
type Signer struct {
	ID       string
	Slot     Slot
	IsSecret bool // a project secret, not an API key
}

// Verify returns the live credential for which check returns true. It tries the credential
// that matched last first, because clients always sign with the same one. With secretsOnly
// it skips API keys.
func (r *Keyring) Verify(
	now time.Time, secretsOnly bool, check func(credential string) bool,
) (signer Signer, found bool) {
	n := len(r.keys) + len(r.secrets)
	first := int(r.verified.Load())
	for i := range n {
		index := (first + i) % n
		signer, credential, live := r.credentialAt(index, now, secretsOnly)
		if live && check(credential) {
			if index != first {
				r.verified.Store(int32(index))
			}
			return signer, true
		}
	}
	return Signer{}, false
}

// credentialAt returns the credential at an index that counts API keys first and
// then project secrets.
func (r *Keyring) credentialAt(
	i int, now time.Time, secretsOnly bool,
) (signer Signer, credential string, live bool) {
	if i < len(r.keys) {
		k := &r.keys[i]
		return Signer{ID: k.ID, Slot: k.Slot}, k.Key.Reveal(), !secretsOnly && k.Live(now)
	}
	s := &r.secrets[i-len(r.keys)]
	return Signer{ID: s.ID, Slot: s.Slot, IsSecret: true}, s.Secret.Reveal(),
		s.Slot == Current || now.Before(s.OverlapEndsAt)
}

// LiveAPIKeys returns the API keys that are live at now, the current one first.
func (r *Keyring) LiveAPIKeys(now time.Time) []string {
	live := make([]string, 0, len(r.keys))
	for _, k := range r.keys {
		if k.Live(now) {
			live = append(live, k.Key.Reveal())
		}
	}
	return live
}

// LiveGatewaySecrets returns the Gateway secrets of the API keys that are live at now, that
// of the current one first.
func (r *Keyring) LiveGatewaySecrets(now time.Time) []string {
	live := make([]string, 0, len(r.keys))
	for _, k := range r.keys {
		if k.Live(now) {
			live = append(live, k.GatewaySecret.Reveal())
		}
	}
	return live
}

// LiveProjectSecrets returns the project secrets that are live at now, the current
// one first.
func (r *Keyring) LiveProjectSecrets(now time.Time) []string {
	live := make([]string, 0, len(r.secrets))
	for _, k := range r.secrets {
		if k.Slot == Current || now.Before(k.OverlapEndsAt) {
			live = append(live, k.Secret.Reveal())
		}
	}
	return live
}

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
	if _, inDoubt := s.inDoubt[projectID]; !inDoubt && s.generation.Load() == generation {
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

// InvalidateInDoubt is InvalidateAndPublish for a change whose outcome is unknown, because
// PostgreSQL may still commit it. A keyring that is read before would stay in the cache without
// the change. So the keyring of the project is not cached until Sweep has resolved the change.
func (s *Service) InvalidateInDoubt(projectID string) {
	s.invalidateMu.Lock()
	s.inDoubt[projectID] = s.generation.Add(1)
	s.invalidateMu.Unlock()
	s.InvalidateAndPublish(projectID)
}

// invalidateAfter invalidates a project after a write that returned err.
func (s *Service) invalidateAfter(projectID string, err error) {
	switch {
	case err == nil:
		s.InvalidateAndPublish(projectID)
	case fault.IsInDoubt(err):
		s.InvalidateInDoubt(projectID)
	}
}

// resolveInDoubt waits for the changes whose outcome is unknown. Every change of a keyring holds the lock
// of its project or of its organization until its transaction ends, so a transaction that gets
// these locks comes after it.
func (s *Service) resolveInDoubt(ctx context.Context) error {
	s.invalidateMu.Lock()
	inDoubt := maps.Clone(s.inDoubt)
	s.invalidateMu.Unlock()
	var failed error
	for projectID, generation := range inDoubt {
		err := s.store.Write(ctx, func(ctx context.Context) error {
			if err := s.store.LockProject(ctx, projectID); err != nil {
				return err
			}
			p, err := s.store.Project(ctx, projectID)
			if err != nil {
				return err
			}
			return s.store.LockOrganization(ctx, p.OrganizationID)
		})
		if err != nil && !fault.Is(err, fault.NotFound) { // deleted meanwhile
			failed = errors.Join(failed, err)
			continue
		}
		s.invalidateMu.Lock()
		if s.inDoubt[projectID] == generation { // else another change followed
			delete(s.inDoubt, projectID)
		}
		s.invalidateMu.Unlock()
		s.InvalidateAndPublish(projectID) // other nodes may have read the keyring before the change
	}
	return failed
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
