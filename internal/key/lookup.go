package key

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"sync"
	"time"

	"parley/internal/fault"
	"parley/internal/seal"
)

// indexLoadTimeout is how long a caller waits for the index to be read.
const indexLoadTimeout = 900 * time.Millisecond

var errProjectNotFound = fault.New(fault.NotFound, "project_not_found", "there is no such project")

var errKeyNotFound = fault.New(fault.NotFound, "api_key_not_found", "there is no such API key")

// ByAPIKey returns the key whose text is given, in any slot, with the ring of
// its project; NotFound when there is no such key. A key that was retired is
// found for keepRetired, so that its owner can be told.
//
// Whether there is such a key is answered from memory, so that a call with an
// unknown key costs what one with a known key does, and needs no database.
func (s *Service) ByAPIKey(ctx context.Context, text string) (APIKey, *Keyring, error) {
	if s.cacheBypassed.Load() {
		return s.readByAPIKey(ctx, text)
	}
	hash := sha256.Sum256([]byte(text))
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
	if k.Slot == Retired { // for ever, so it may be kept
		s.retired.Store(hash, k)
	}
	return k, r, nil
}

// readByAPIKey is ByAPIKey without memory. A key that does not exist costs the
// readings of one that does: those of a ring, of nobody's.
func (s *Service) readByAPIKey(ctx context.Context, text string) (APIKey, *Keyring, error) {
	k, err := s.store.APIKeyByHash(ctx, seal.Hash(text))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return APIKey{}, nil, err
	}
	r, rerr := s.readKeyring(ctx, k.ProjectID)
	if err != nil && fault.Is(rerr, fault.NotFound) {
		return APIKey{}, nil, err
	}
	if rerr != nil {
		return APIKey{}, nil, rerr
	}
	for _, live := range r.keys {
		if live.ID == k.ID {
			return live, r, nil
		}
	}
	k.Slot = Retired // by now, if it was not before
	return k, r, nil
}

// keyIndex knows the hash of every API key and the project it belongs to: some
// 100 bytes a key. It is read whole once, and anew for each project that was
// forgotten.
type keyIndex struct {
	loadSem chan struct{} // holds one token while nobody reads

	mu           sync.RWMutex
	hashes       map[[sha256.Size]byte]string
	projectIDs   map[string]struct{} // the projects: each has a key
	changed      map[string]uint64   // projects to be read anew, with the time of their change
	allChangedAt uint64              // when all had to be read anew; 0 when they need not
	clock        uint64              // counts changes
}

func newKeyIndex() *keyIndex {
	x := &keyIndex{loadSem: make(chan struct{}, 1), changed: map[string]uint64{}, allChangedAt: 1, clock: 1}
	x.loadSem <- struct{}{}
	return x
}

// project returns whose key it is; NotFound when it is nobody's, and
// Unavailable when that cannot be said.
func (x *keyIndex) project(ctx context.Context, store Store, hash [sha256.Size]byte) (projectID string, err error) {
	err = x.lookupOrLoad(ctx, store, func() (err error) { projectID, err = x.lookup(hash); return err })
	if err == errIncomplete { // changed again, but not by what the caller waited for
		err = errKeyNotFound
	}
	return projectID, err
}

// checkProjectExists returns nil for a project that exists, NotFound for one that does not,
// and Unavailable when that cannot be said.
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
		return errProjectNotFound
	})
	if err == errIncomplete { // changed again, but not by what the caller waited for
		err = errProjectNotFound
	}
	return err
}

// lookupOrLoad looks something up, and reads the index first where it has to. The
// error of look is errIncomplete when the index changed again meanwhile.
func (x *keyIndex) lookupOrLoad(ctx context.Context, store Store, look func() error) error {
	if err := look(); err != errIncomplete {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, indexLoadTimeout)
	defer cancel()
	select {
	case <-x.loadSem:
		defer func() { x.loadSem <- struct{}{} }()
	case <-ctx.Done():
		return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
			Message: "the database does not answer, try again in a moment", Err: ctx.Err()}
	}
	if err := look(); err != errIncomplete {
		return err // somebody else has read it meanwhile
	}
	if err := x.load(ctx, store); err != nil {
		return err
	}
	return look()
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

// load makes the index complete. A hash that was purged may stay: what it
// leads to is asked for and not found.
func (x *keyIndex) load(ctx context.Context, store Store) error {
	x.mu.RLock()
	wanted, all := maps.Clone(x.changed), x.allChangedAt
	x.mu.RUnlock()
	found, owners := map[[sha256.Size]byte]string{}, map[string]struct{}{}
	add := func(hash, projectID string) {
		var raw [sha256.Size]byte
		if _, err := hex.Decode(raw[:], []byte(hash)); err == nil {
			found[raw] = projectID
			owners[projectID] = struct{}{}
		}
	}
	if all != 0 {
		if err := store.APIKeyHashes(ctx, "", add); err != nil {
			return err
		}
	} else {
		for projectID := range wanted {
			if err := store.APIKeyHashes(ctx, projectID, add); err != nil {
				return err
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if all != 0 {
		x.hashes, x.projectIDs = found, owners
		if x.allChangedAt == all {
			x.allChangedAt = 0
		}
	} else {
		maps.Copy(x.hashes, found)
		maps.Copy(x.projectIDs, owners)
	}
	for projectID, at := range wanted {
		if x.changed[projectID] == at {
			delete(x.changed, projectID)
		}
	}
	return nil
}

// invalidate has a project's keys read anew before a key is called unknown.
func (x *keyIndex) invalidate(projectID string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clock++
	x.changed[projectID] = x.clock
}

// invalidateAll has the keys of all projects read anew before one is called
// unknown.
func (x *keyIndex) invalidateAll() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clock++
	x.allChangedAt = x.clock
}
