package key

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"sync"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/seal"
)

var errKeyNotFound = fault.New(fault.NotFound, "api_key_not_found", "there is no such API key")

// ByAPIKey returns the key with this text, in any slot, and the keyring of its
// project; NotFound when there is no such key. A retired key is found for
// retiredRetention, so that its owner can see why calls with it are refused.
//
// The existence of the key is checked in memory, so that a call with an unknown
// key takes as long as one with a known key, and needs no database.
func (s *Service) ByAPIKey(ctx context.Context, text string) (APIKey, *Keyring, error) {
	if s.cacheBypassed.Load() {
		return s.readByAPIKey(ctx, text)
	}
	hash := sha256.Sum256(append(make([]byte, 0, 128), text...)) // on the stack
	projectID, err := s.index.project(ctx, s.store, hash)
	if err != nil {
		return APIKey{}, nil, err
	}
	r, err := s.Keyring(ctx, projectID)
	if err != nil {
		return APIKey{}, nil, err
	}
	for i := range r.keys {
		if r.keys[i].hash == hash {
			return r.keys[i], r, nil
		}
	}
	if k, ok := s.retired.Load(hash); ok {
		return k.(APIKey), r, nil
	}
	k, err := s.store.APIKeyByHash(ctx, seal.Hash(text))
	if err != nil {
		return APIKey{}, nil, err
	}
	if k.Slot == Retired { // it never becomes live again, so it may be cached
		s.retired.Store(hash, k)
	}
	return k, r, nil
}

// readByAPIKey bypasses the cache. For an unknown key it runs the queries of a
// keyring that does not exist, so that the response time does not reveal whether a
// key exists.
func (s *Service) readByAPIKey(ctx context.Context, text string) (APIKey, *Keyring, error) {
	k, err := s.store.APIKeyByHash(ctx, seal.Hash(text))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return APIKey{}, nil, err
	}
	r, keyringErr := s.readKeyring(ctx, k.ProjectID)
	if err != nil && fault.Is(keyringErr, fault.NotFound) {
		return APIKey{}, nil, err
	}
	if keyringErr != nil {
		return APIKey{}, nil, keyringErr
	}
	for _, live := range r.keys {
		if live.ID == k.ID {
			return live, r, nil
		}
	}
	k.Slot = Retired // it was retired between the two reads, if not before
	return k, r, nil
}

// keyIndex maps the hash of every API key to its project, with about 100 bytes a
// key. It is loaded completely once, and again for each project that was
// invalidated.
type keyIndex struct {
	loadSem chan struct{} // holds one token while no load is running

	mu           sync.RWMutex
	hashes       map[[sha256.Size]byte]string
	projectIDs   map[string]struct{} // all projects, because each has a key
	changed      map[string]uint64   // projects to load again, with the clock of their invalidation
	allChangedAt uint64              // clock of the invalidation of all projects; 0 for none
	clock        uint64              // counts invalidations
}

func newKeyIndex() *keyIndex {
	x := &keyIndex{loadSem: make(chan struct{}, 1), changed: map[string]uint64{}, allChangedAt: 1, clock: 1}
	x.loadSem <- struct{}{}
	return x
}

// project returns the project of a key; NotFound when there is no such key, and
// Unavailable when the index cannot be loaded.
func (x *keyIndex) project(ctx context.Context, store Store, hash [sha256.Size]byte) (projectID string, err error) {
	err = x.lookupOrLoad(ctx, store, func() (err error) { projectID, err = x.lookup(hash); return err })
	if err == errIncomplete { // invalidated again after the load, so later than this call began
		err = errKeyNotFound
	}
	return projectID, err
}

// checkProjectExists returns nil if the project exists, NotFound if it does not,
// and Unavailable when the index cannot be loaded.
func (x *keyIndex) checkProjectExists(ctx context.Context, store Store, projectID string) error {
	err := x.lookupOrLoad(ctx, store, func() error {
		x.mu.RLock()
		defer x.mu.RUnlock()
		_, known := x.projectIDs[projectID]
		switch {
		case known:
			return nil
		case x.allChangedAt != 0 || len(x.changed) > 0:
			return errIncomplete
		}
		return project.ErrNotFound
	})
	if err == errIncomplete { // invalidated again after the load, so later than this call began
		err = project.ErrNotFound
	}
	return err
}

// lookupOrLoad calls lookup. If that returns errIncomplete, it loads the index and
// calls lookup again, which returns errIncomplete if the index was invalidated
// again in between.
func (x *keyIndex) lookupOrLoad(ctx context.Context, store Store, lookup func() error) error {
	if err := lookup(); err != errIncomplete {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fault.UnavailableAfter)
	defer cancel()
	select {
	case <-x.loadSem:
		defer func() { x.loadSem <- struct{}{} }()
	case <-ctx.Done():
		return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
			Message: "the database does not answer, try again in a moment", Err: ctx.Err()}
	}
	if err := lookup(); err != errIncomplete {
		return err // another caller has loaded the index in the meantime
	}
	if err := x.load(ctx, store); err != nil {
		return err
	}
	return lookup()
}

var errIncomplete = errors.New("the index of API keys is not complete")

func (x *keyIndex) lookup(hash [sha256.Size]byte) (string, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	projectID, known := x.hashes[hash]
	switch {
	case known:
		return projectID, nil
	case x.allChangedAt != 0 || len(x.changed) > 0:
		return "", errIncomplete
	}
	return "", errKeyNotFound
}

// load makes the index complete. A purged hash may stay in it, because the key is
// then looked up in the database and not found.
func (x *keyIndex) load(ctx context.Context, store Store) error {
	x.mu.RLock()
	changed, allChangedAt := maps.Clone(x.changed), x.allChangedAt
	x.mu.RUnlock()
	hashes, projectIDs := map[[sha256.Size]byte]string{}, map[string]struct{}{}
	add := func(hash, projectID string) {
		var raw [sha256.Size]byte
		if _, err := hex.Decode(raw[:], []byte(hash)); err == nil {
			hashes[raw] = projectID
			projectIDs[projectID] = struct{}{}
		}
	}
	if allChangedAt != 0 {
		if err := store.APIKeyHashes(ctx, "", add); err != nil {
			return err
		}
	} else {
		for projectID := range changed {
			if err := store.APIKeyHashes(ctx, projectID, add); err != nil {
				return err
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if allChangedAt != 0 {
		x.hashes, x.projectIDs = hashes, projectIDs
		if x.allChangedAt == allChangedAt {
			x.allChangedAt = 0
		}
	} else {
		maps.Copy(x.hashes, hashes)
		maps.Copy(x.projectIDs, projectIDs)
	}
	for projectID, at := range changed {
		if x.changed[projectID] == at {
			delete(x.changed, projectID)
		}
	}
	return nil
}

// invalidate makes the next lookup of an unknown key load this project's keys
// again.
func (x *keyIndex) invalidate(projectID string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clock++
	x.changed[projectID] = x.clock
}

// invalidateAll makes the next lookup of an unknown key load all keys again.
func (x *keyIndex) invalidateAll() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clock++
	x.allChangedAt = x.clock
}
