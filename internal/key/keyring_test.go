package key_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// hookedStore is a store with a hook that runs while a keyring is read, before
// its last query.
type hookedStore struct {
	*store.DB
	reads   atomic.Int32
	reading func()
}

func (w *hookedStore) ProjectSecrets(ctx context.Context, projectID string) ([]key.ProjectSecret, error) {
	w.reads.Add(1)
	if w.reading != nil {
		w.reading()
	}
	return w.DB.ProjectSecrets(ctx, projectID)
}

func newHookedService(t *testing.T) (*hookedStore, *key.Service, *project.Service, string) {
	t.Helper()
	db := &hookedStore{DB: storetest.SQLite(t)}
	p := storetest.Project(t, db.DB)
	var keys *key.Service
	projects := project.NewService(db, time.Now, newID, func(id string) { keys.Invalidate(id) })
	keys = key.NewService(db, projects, time.Now, newID)
	return db, keys, projects, p.ID
}

// TestKeyring_Cached checks that a keyring is read once until it is invalidated.
func TestKeyring_Cached(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, keys, projects, id := newHookedService(t)
	status := func(want project.Status, reads int32) {
		t.Helper()
		for range 3 {
			r, err := keys.Keyring(ctx, id)
			if err != nil || r.Project.Status != want {
				t.Fatalf("got %+v, %v, want status %s", r, err, want)
			}
		}
		if n := db.reads.Load(); n != reads {
			t.Errorf("reads: got %d, want %d", n, reads)
		}
	}
	status(project.Active, 1)
	if err := projects.SetStatus(ctx, id, project.Inactive); err != nil {
		t.Fatal(err)
	}
	status(project.Inactive, 2)
	if err := projects.SetStatus(ctx, id, "asleep"); !fault.Is(err, fault.Invalid) {
		t.Fatalf("set the status asleep: got error %v, want Invalid", err)
	}
	status(project.Inactive, 2) // a refusal changes nothing
	keys.Invalidate(newID())    // nor does another project
	status(project.Inactive, 2)
}

// TestKeyring_InvalidatedDuringRead checks that a change during the read of a
// keyring is not hidden by the result.
func TestKeyring_InvalidatedDuringRead(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, keys, projects, id := newHookedService(t)
	db.reading = func() {
		db.reading = nil
		if err := projects.Suspend(ctx, id); err != nil {
			t.Error(err)
		}
	}
	before, err := keys.Keyring(ctx, id)
	if err != nil || before.Project.Suspended() {
		t.Fatalf("got %+v, %v, want a project that is not suspended", before, err) // began before the change
	}
	after, err := keys.Keyring(ctx, id)
	if err != nil || !after.Project.Suspended() {
		t.Fatalf("got %+v, %v, want a suspended project", after, err)
	}
}

// TestKeyring_FailedReadNotCached checks that failed reads are not cached.
func TestKeyring_FailedReadNotCached(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, keys, _, id := newHookedService(t)
	for range 2 {
		if _, err := keys.Keyring(ctx, newID()); !fault.Is(err, fault.NotFound) {
			t.Errorf("an unknown project: got %v, want NotFound", err)
		}
	}
	broken := errors.New("broken")
	keys.Invalidate(id)
	failing := key.NewService(failingStore{db, broken}, nil, time.Now, newID)
	for range 2 {
		if _, err := failing.Keyring(ctx, id); !errors.Is(err, broken) {
			t.Errorf("a broken store: got %v, want %v", err, broken)
		}
	}
	if r, err := keys.Keyring(ctx, id); err != nil || r.Project.ID != id {
		t.Errorf("got %+v, %v, want the keyring of %s", r, err, id)
	}
}

type failingStore struct {
	*hookedStore
	err error
}

func (f failingStore) APIKeys(context.Context, string) ([]key.APIKey, error) { return nil, f.err }

// TestOverlap_EndsOnTime checks that an overlap ends on time in a cached
// keyring, without an invalidation.
func TestOverlap_EndsOnTime(t *testing.T) {
	t.Parallel()
	b := newSQLiteFixture(t)
	issued := b.createProject(t)
	if _, err := b.keys.RotateKey(context.Background(), b.project, key.Rotation{Overlap: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.keys.RotateSecret(context.Background(), b.project, key.Rotation{Overlap: time.Hour}); err != nil {
		t.Fatal(err)
	}
	r := b.keyring(t)
	for _, c := range []struct {
		after time.Duration
		live  int
	}{{0, 2}, {time.Hour - time.Millisecond, 2}, {time.Hour, 1}, {48 * time.Hour, 1}} {
		at := b.clock().Add(c.after)
		keys, secrets := r.LiveAPIKeys(at), r.LiveProjectSecrets(at)
		if len(keys) != c.live || len(secrets) != c.live {
			t.Errorf("after %s: got %d keys and %d secrets, want %d of each", c.after, len(keys), len(secrets), c.live)
		}
		for _, old := range []struct {
			live []string
			text string
		}{{keys, issued.APIKey.Reveal()}, {secrets, issued.ProjectSecret.Reveal()}} {
			if old.live[0] == old.text || c.live == 2 && old.live[1] != old.text {
				t.Errorf("after %s: got %v, want %s as the second of two only", c.after, old.live, old.text)
			}
		}
	}
}

// TestByAPIKey checks that a key is found by its whole text, so that two keys
// with the same secret are never confused.
func TestByAPIKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSQLiteFixture(t)
	issued := b.createProject(t)
	text := issued.APIKey.Reveal()
	k, r, err := b.keys.ByAPIKey(ctx, text)
	if err != nil || k.Key.Reveal() != text || k.GatewaySecret != issued.GatewaySecret || r.Project.ID != b.project {
		t.Errorf("got %+v, %v, want the issued key", k, err)
	}
	for _, wrong := range []string{"", text[:len(text)-1], text + "x", issued.GatewaySecret.Reveal(),
		issued.ProjectSecret.Reveal()} {
		if _, _, err := b.keys.ByAPIKey(ctx, wrong); !fault.Is(err, fault.NotFound) {
			t.Errorf("ByAPIKey(%q): got %v, want NotFound", wrong, err)
		}
	}
}
