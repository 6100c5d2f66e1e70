package key

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"parley/internal/fault"
	"parley/internal/seal"
)

// fakeHashStore is the part of a Store that the index reads.
type fakeHashStore struct {
	Store
	mu            sync.Mutex
	keysByProject map[string][]string // project → API keys
	reads         atomic.Int64
	unavailable   atomic.Bool
	block         chan struct{} // nil, or what a reading waits for
}

func (h *fakeHashStore) APIKeyHashes(ctx context.Context, projectID string, each func(hash, projectID string)) error {
	h.reads.Add(1)
	if h.block != nil {
		select {
		case <-h.block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if h.unavailable.Load() {
		return &fault.Error{Kind: fault.Unavailable, Message: "gone"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for project, keys := range h.keysByProject {
		for _, k := range keys {
			if projectID == "" || projectID == project {
				each(seal.Hash(k), project)
			}
		}
	}
	return nil
}

func (h *fakeHashStore) add(project, k string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keysByProject[project] = append(h.keysByProject[project], k)
}

func TestKeyIndex_Project(t *testing.T) {
	t.Parallel()
	db := &fakeHashStore{keysByProject: map[string][]string{"a": {"pk_1"}, "b": {"pk_2"}}}
	x := newKeyIndex()
	ask := func(k, want string) {
		t.Helper()
		project, err := x.project(t.Context(), db, sha256.Sum256([]byte(k)))
		if project != want || (want == "") != errors.Is(err, errKeyNotFound) {
			t.Errorf("%s: got %q %v, want %q", k, project, err, want)
		}
	}
	for range 3 {
		ask("pk_1", "a")
		ask("pk_2", "b")
		ask("pk_3", "")
	}
	if n := db.reads.Load(); n != 1 {
		t.Errorf("got %d reads of the store, want 1", n)
	}
	db.add("a", "pk_3")
	x.invalidate("a")
	ask("pk_1", "a") // what is known needs no reading
	if n := db.reads.Load(); n != 1 {
		t.Errorf("got %d reads of the store, want 1", n)
	}
	ask("pk_3", "a")
	ask("pk_4", "")
	if n := db.reads.Load(); n != 2 {
		t.Errorf("got %d reads of the store, want 2", n)
	}
	// What can neither be found nor ruled out.
	x.invalidate("b")
	db.unavailable.Store(true)
	if _, err := x.project(t.Context(), db, sha256.Sum256([]byte("pk_5"))); !fault.Is(err, fault.Unavailable) {
		t.Errorf("key pk_5 while the store is unavailable: got error %v, want Unavailable", err)
	}
	ask("pk_2", "b")
	db.add("b", "pk_5")
	db.unavailable.Store(false)
	ask("pk_5", "b")
}

func TestKeyIndex_LoadTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &fakeHashStore{keysByProject: map[string][]string{}, block: make(chan struct{})}
		x := newKeyIndex()
		var work sync.WaitGroup
		for range 5 {
			work.Go(func() {
				if _, err := x.project(t.Context(), db, sha256.Sum256(nil)); err == nil ||
					errors.Is(err, errKeyNotFound) {
					t.Errorf("a read without a result: got %v, want an error other than %v", err, errKeyNotFound)
				}
			})
		}
		work.Wait() // the clock of this test stands still but for waiting: all give up at the same time
		close(db.block)
		if _, err := x.project(t.Context(), db, sha256.Sum256(nil)); !errors.Is(err, errKeyNotFound) {
			t.Errorf("unknown key: got error %v, want %v", err, errKeyNotFound)
		}
	})
}

// TestKeyIndex_InvalidatedDuringLoad checks that a project that is invalidated
// during a load is loaded again.
func TestKeyIndex_InvalidatedDuringLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &fakeHashStore{keysByProject: map[string][]string{"a": {"pk_1"}}}
		x := newKeyIndex()
		_, _ = x.project(t.Context(), db, sha256.Sum256(nil))
		x.invalidate("a")
		db.block = make(chan struct{}, 2)
		var work sync.WaitGroup
		work.Go(func() { _, _ = x.project(t.Context(), db, sha256.Sum256(nil)) })
		synctest.Wait()
		x.invalidate("a")
		db.block <- struct{}{}
		work.Wait()
		db.add("a", "pk_2")
		db.block <- struct{}{}
		if project, err := x.project(t.Context(), db, sha256.Sum256([]byte("pk_2"))); project != "a" || err != nil {
			t.Errorf("got %q, %v, want a", project, err)
		}
	})
}
