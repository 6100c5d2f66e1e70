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

// hashes is the part of a database that the index reads.
type hashes struct {
	Store
	mu    sync.Mutex
	of    map[string][]string // project → API keys
	reads atomic.Int64
	gone  atomic.Bool
	slow  chan struct{} // nil, or what a reading waits for
}

func (h *hashes) APIKeyHashes(ctx context.Context, projectID string, each func(hash, projectID string)) error {
	h.reads.Add(1)
	if h.slow != nil {
		select {
		case <-h.slow:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if h.gone.Load() {
		return &fault.Error{Kind: fault.Unavailable, Message: "gone"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for project, keys := range h.of {
		for _, k := range keys {
			if projectID == "" || projectID == project {
				each(seal.Hash(k), project)
			}
		}
	}
	return nil
}

func (h *hashes) put(project, k string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of[project] = append(h.of[project], k)
}

func TestTheIndexOfKeys(t *testing.T) {
	t.Parallel()
	db := &hashes{of: map[string][]string{"a": {"pk_1"}, "b": {"pk_2"}}}
	x := newIndex()
	ask := func(k, want string) {
		t.Helper()
		project, err := x.project(t.Context(), db, sha256.Sum256([]byte(k)))
		if project != want || (want == "") != errors.Is(err, errNoKey) {
			t.Errorf("%s: %q %v, want %q", k, project, err, want)
		}
	}
	for range 3 {
		ask("pk_1", "a")
		ask("pk_2", "b")
		ask("pk_3", "")
	}
	if n := db.reads.Load(); n != 1 {
		t.Errorf("%d readings", n)
	}
	db.put("a", "pk_3")
	x.forget("a")
	ask("pk_1", "a") // what is known needs no reading
	if n := db.reads.Load(); n != 1 {
		t.Errorf("%d readings", n)
	}
	ask("pk_3", "a")
	ask("pk_4", "")
	if n := db.reads.Load(); n != 2 {
		t.Errorf("%d readings", n)
	}
	// What can neither be found nor ruled out.
	x.forget("b")
	db.gone.Store(true)
	if _, err := x.project(t.Context(), db, sha256.Sum256([]byte("pk_5"))); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	ask("pk_2", "b")
	db.put("b", "pk_5")
	db.gone.Store(false)
	ask("pk_5", "b")
}

func TestNobodyWaitsLongForTheIndex(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &hashes{of: map[string][]string{}, slow: make(chan struct{})}
		x := newIndex()
		var work sync.WaitGroup
		for range 5 {
			work.Go(func() {
				if _, err := x.project(t.Context(), db, sha256.Sum256(nil)); err == nil || errors.Is(err, errNoKey) {
					t.Errorf("%v: a key was ruled out without being looked for", err)
				}
			})
		}
		work.Wait() // the clock of this test stands still but for waiting: all give up at the same time
		close(db.slow)
		if _, err := x.project(t.Context(), db, sha256.Sum256(nil)); !errors.Is(err, errNoKey) {
			t.Error(err)
		}
	})
}

// TestAChangeDuringAReading: what is forgotten while the index is read is read
// again.
func TestAChangeDuringAReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &hashes{of: map[string][]string{"a": {"pk_1"}}}
		x := newIndex()
		_, _ = x.project(t.Context(), db, sha256.Sum256(nil))
		x.forget("a")
		db.slow = make(chan struct{}, 2)
		var work sync.WaitGroup
		work.Go(func() { _, _ = x.project(t.Context(), db, sha256.Sum256(nil)) })
		synctest.Wait()
		x.forget("a")
		db.slow <- struct{}{}
		work.Wait()
		db.put("a", "pk_2")
		db.slow <- struct{}{}
		if project, err := x.project(t.Context(), db, sha256.Sum256([]byte("pk_2"))); project != "a" || err != nil {
			t.Errorf("%q %v", project, err)
		}
	})
}
