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

// patience is how long a caller waits for the index to be read.
const patience = 900 * time.Millisecond

var errNoProject = fault.New(fault.NotFound, "project_not_found", "there is no such project")

var errNoKey = fault.New(fault.NotFound, "api_key_not_found", "there is no such API key")

// ByAPIKey returns the key whose text is given, in any slot, with the ring of
// its project; NotFound when there is no such key. A key that was retired is
// found for keepRetired, so that its owner can be told.
//
// Whether there is such a key is answered from memory, so that a call with an
// unknown key costs what one with a known key does, and needs no database.
func (s *Service) ByAPIKey(ctx context.Context, text string) (APIKey, *Ring, error) {
	if s.distrusted.Load() {
		return s.readByAPIKey(ctx, text)
	}
	hash := sha256.Sum256([]byte(text))
	projectID, err := s.index.project(ctx, s.store, hash)
	if err != nil {
		return APIKey{}, nil, err
	}
	r, err := s.Ring(ctx, projectID)
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
func (s *Service) readByAPIKey(ctx context.Context, text string) (APIKey, *Ring, error) {
	k, err := s.store.APIKeyByHash(ctx, seal.Hash(text))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return APIKey{}, nil, err
	}
	r, rerr := s.readRing(ctx, k.ProjectID)
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

// index knows the hash of every API key and the project it belongs to: some
// 100 bytes a key. It is read whole once, and anew for each project that was
// forgotten.
type index struct {
	reading chan struct{} // holds one token while nobody reads

	mu      sync.RWMutex
	hashes  map[[sha256.Size]byte]string
	owners  map[string]struct{} // the projects: each has a key
	changed map[string]uint64   // projects to be read anew, with the time of their change
	all     uint64              // when all had to be read anew; 0 when they need not
	clock   uint64              // counts changes
}

func newIndex() *index {
	x := &index{reading: make(chan struct{}, 1), changed: map[string]uint64{}, all: 1, clock: 1}
	x.reading <- struct{}{}
	return x
}

// project returns whose key it is; NotFound when it is nobody's, and
// Unavailable when that cannot be said.
func (x *index) project(ctx context.Context, store Store, hash [sha256.Size]byte) (projectID string, err error) {
	err = x.complete(ctx, store, func() (err error) { projectID, err = x.look(hash); return err })
	if err == errIncomplete { // changed again, but not by what the caller waited for
		err = errNoKey
	}
	return projectID, err
}

// has returns nil for a project that exists, NotFound for one that does not,
// and Unavailable when that cannot be said.
func (x *index) has(ctx context.Context, store Store, projectID string) error {
	err := x.complete(ctx, store, func() error {
		x.mu.RLock()
		defer x.mu.RUnlock()
		_, known := x.owners[projectID]
		switch {
		case known:
			return nil
		case x.all != 0 || len(x.changed) > 0:
			return errIncomplete
		}
		return errNoProject
	})
	if err == errIncomplete { // changed again, but not by what the caller waited for
		err = errNoProject
	}
	return err
}

// complete looks something up, and reads the index first where it has to. The
// error of look is errIncomplete when the index changed again meanwhile.
func (x *index) complete(ctx context.Context, store Store, look func() error) error {
	if err := look(); err != errIncomplete {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-x.reading:
		defer func() { x.reading <- struct{}{} }()
	case <-ctx.Done():
		return &fault.Error{Kind: fault.Unavailable, Code: "unavailable",
			Message: "the database does not answer, try again in a moment", Err: ctx.Err()}
	}
	if err := look(); err != errIncomplete {
		return err // somebody else has read it meanwhile
	}
	if err := x.read(ctx, store); err != nil {
		return err
	}
	return look()
}

var errIncomplete = errors.New("the index of API keys is not complete")

func (x *index) look(hash [sha256.Size]byte) (string, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	projectID, known := x.hashes[hash]
	switch {
	case known:
		return projectID, nil
	case x.all != 0 || len(x.changed) > 0:
		return "", errIncomplete
	}
	return "", errNoKey
}

// read makes the index complete. A hash that was purged may stay: what it
// leads to is asked for and not found.
func (x *index) read(ctx context.Context, store Store) error {
	x.mu.RLock()
	wanted, all := maps.Clone(x.changed), x.all
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
		x.hashes, x.owners = found, owners
		if x.all == all {
			x.all = 0
		}
	} else {
		maps.Copy(x.hashes, found)
		maps.Copy(x.owners, owners)
	}
	for projectID, at := range wanted {
		if x.changed[projectID] == at {
			delete(x.changed, projectID)
		}
	}
	return nil
}

// forget has a project's keys read anew before a key is called unknown.
func (x *index) forget(projectID string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clock++
	x.changed[projectID] = x.clock
}

// forgetAll has the keys of all projects read anew before one is called
// unknown.
func (x *index) forgetAll() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clock++
	x.all = x.clock
}
