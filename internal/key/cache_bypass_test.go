package key_test

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// countingStore counts the queries of a store.
type countingStore struct {
	*store.DB
	mu     sync.Mutex
	counts map[string]int
}

func (c *countingStore) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

func (c *countingStore) drainCounts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	asks := maps.Clone(c.counts)
	clear(c.counts)
	return asks
}

func (c *countingStore) Project(ctx context.Context, id string) (project.Project, error) {
	c.count("project")
	return c.DB.Project(ctx, id)
}

func (c *countingStore) Organization(ctx context.Context, id string) (project.Organization, error) {
	c.count("organization")
	return c.DB.Organization(ctx, id)
}

func (c *countingStore) APIKeys(ctx context.Context, id string) ([]key.APIKey, error) {
	c.count("keys")
	return c.DB.APIKeys(ctx, id)
}

func (c *countingStore) ProjectSecrets(ctx context.Context, id string) ([]key.ProjectSecret, error) {
	c.count("secrets")
	return c.DB.ProjectSecrets(ctx, id)
}

func (c *countingStore) APIKeyByHash(ctx context.Context, hash string) (key.APIKey, error) {
	c.count("hash")
	return c.DB.APIKeyByHash(ctx, hash)
}

func (c *countingStore) APIKeyHashes(ctx context.Context, id string, each func(hash, projectID string)) error {
	c.count("index")
	return c.DB.APIKeyHashes(ctx, id, each)
}

// newOtherNode returns a node on the same database that does not receive the
// invalidations of b.
func newOtherNode(b *fixture) (*key.Service, *countingStore) {
	db := &countingStore{DB: b.db, counts: map[string]int{}}
	return key.NewService(db, nil, b.clock, newID), db
}

// TestBypassCache_ReadsDatabase checks that a node without invalidations sees
// changes while it bypasses the cache, and that the cache is empty afterwards.
func TestBypassCache_ReadsDatabase(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newFixture(storetest.SQLite(t))
	first := b.createProject(t).APIKey.Reveal()
	there, db := newOtherNode(b)
	slot := func(text string, want key.Slot) {
		t.Helper()
		k, r, err := there.ByAPIKey(ctx, text)
		if want == "" {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("key on the other node: got error %v, want NotFound", err)
			}
			return
		}
		if err != nil || k.Slot != want || r.Project.ID != b.project {
			t.Errorf("key on the other node: got %+v, %v, want slot %s", k, err, want)
		}
	}
	rotate := func() string {
		t.Helper()
		made, err := b.keys.RotateKey(ctx, b.project, key.Rotation{})
		if err != nil {
			t.Fatal(err)
		}
		return made.APIKey.Reveal()
	}
	slot(first, key.Current)
	second := rotate()
	slot(first, key.Current) // it knows no better
	slot(second, "")

	there.BypassCache()
	slot(first, key.Retired)
	slot(second, key.Current)
	third := rotate()
	slot(second, key.Retired)
	slot(third, key.Current)

	there.EnableCache()
	slot(third, key.Current)
	slot(first, key.Retired)
	slot("pk_unknown", "")
	db.drainCounts()
	for range 3 {
		slot(third, key.Current)
		slot("pk_unknown", "")
	}
	if asks := db.drainCounts(); len(asks) != 0 {
		t.Errorf("after EnableCache: got queries %v, want none", asks)
	}
}

// TestBypassCache_UnknownKeySameCost checks that the number of queries does not
// reveal whether a key exists.
func TestBypassCache_UnknownKeySameCost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newFixture(storetest.SQLite(t))
	text := b.createProject(t).APIKey.Reveal()
	there, db := newOtherNode(b)
	there.BypassCache()
	if _, _, err := there.ByAPIKey(ctx, text); err != nil {
		t.Fatal(err)
	}
	known := db.drainCounts()
	if _, _, err := there.ByAPIKey(ctx, "pk_unknown"); !fault.Is(err, fault.NotFound) {
		t.Fatalf("API key pk_unknown: got error %v, want NotFound", err)
	}
	if unknown := db.drainCounts(); !maps.Equal(known, unknown) || len(known) != 5 {
		t.Errorf("queries of an unknown key: got %v, want the 5 of a known key, %v", unknown, known)
	}
	_ = db.Close()
	for _, text := range []string{text, "pk_unknown"} {
		if _, _, err := there.ByAPIKey(ctx, text); err == nil || fault.Is(err, fault.NotFound) {
			t.Errorf("%s without a database: got %v, want an error other than NotFound", text, err)
		}
	}
}

// TestBypassCache_ReadsNotCached checks that nothing is cached that was read
// while the cache was bypassed or across the switch.
func TestBypassCache_ReadsNotCached(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, keys, _, id := newHookedService(t)
	_, err := keys.Keyring(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	keys.Invalidate(id)
	db.reading = func() { // the keyring is half read when trust is lost and found again
		db.reading = nil
		keys.BypassCache()
		unheard := project.NewService(db, time.Now, newID, func(string) {})
		if err := unheard.Suspend(ctx, id); err != nil {
			t.Error(err)
		}
		keys.EnableCache()
	}
	if r, err := keys.Keyring(ctx, id); err != nil || r.Project.Suspended() {
		t.Fatalf("got %+v, %v, want a project that is not suspended", r, err) // began before the change
	}
	if r, err := keys.Keyring(ctx, id); err != nil || !r.Project.Suspended() {
		t.Errorf("got %+v, %v, want a suspended project", r, err)
	}
}

// TestInvalidation_PublishedOnce checks that every change of credentials is
// published to the other nodes, and that received invalidations are not
// published again.
func TestInvalidation_PublishedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var published []string
	publish := func(id string) { published = append(published, id) }
	b := newFixture(storetest.SQLite(t), key.WithInvalidationPublisher(publish))
	b.createProject(t)
	published = nil
	for name, change := range map[string]func() error{
		"rotate a key": func() error {
			_, err := b.keys.RotateKey(ctx, b.project,
				key.Rotation{Overlap: time.Hour})
			return err
		},
		"rotate a secret": func() error {
			_, err := b.keys.RotateSecret(ctx, b.project, key.Rotation{Overlap: time.Hour})
			return err
		},
	} {
		if published = nil; change() != nil || len(published) != 1 || published[0] != b.project {
			t.Errorf("%s: got published %v, want %s once", name, published, b.project)
		}
	}
	for name, change := range map[string]func() error{
		"revoke a key":    func() error { return b.keys.RevokeOverlap(ctx, b.project) },
		"revoke a secret": func() error { return b.keys.RevokeSecretOverlap(ctx, b.project) },
	} {
		if published = nil; change() != nil || len(published) != 1 || published[0] != b.project {
			t.Errorf("%s: got published %v, want %s once", name, published, b.project)
		}
		// The first time may have been a change in doubt, of which this node knows nothing after a restart.
		if published = nil; change() == nil || len(published) != 1 || published[0] != b.project {
			t.Errorf("%s again: got published %v, want %s once and an error", name, published, b.project)
		}
	}
	published = nil
	b.keys.Invalidate(b.project)
	if len(published) != 0 {
		t.Errorf("after a received invalidation: got published %v, want none", published)
	}
	if _, err := b.keys.RotateKey(ctx, b.project, key.Rotation{Overlap: time.Minute}); err != nil {
		t.Fatal(err)
	}
	b.advance(time.Hour)
	published = nil
	if err := b.keys.Sweep(ctx); err != nil || len(published) != 1 {
		t.Errorf("sweep an overlap: got error %v, published %v, want no error, published once", err, published)
	}
}

// TestKeyring_UnknownProjectSameCost checks that a call for an unknown project
// runs the same queries as one for a known project: none, unless the cache is
// bypassed.
func TestKeyring_UnknownProjectSameCost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newFixture(storetest.SQLite(t))
	b.createProject(t)
	there, db := newOtherNode(b)
	cost := func(id string, exists bool) map[string]int {
		t.Helper()
		if _, err := there.Keyring(ctx, id); (err == nil) != exists || !exists && !fault.Is(err, fault.NotFound) {
			t.Errorf("keyring of %q: got error %v, want found %v", id, err, exists)
		}
		return db.drainCounts()
	}
	cost(b.project, true) // reads the index and the keyring, once
	for range 3 {
		known, unknown, none := cost(b.project, true), cost(newID(), false), cost("no UUID", false)
		if len(known)+len(unknown)+len(none) > 0 {
			t.Errorf("got queries %v for a known project, %v for an unknown one, %v for no UUID, want none",
				known, unknown, none)
		}
	}
	there.BypassCache()
	if known, unknown := cost(b.project, true), cost(newID(), false); len(known) != 4 || !maps.Equal(known, unknown) {
		t.Errorf("without the cache: got queries %v for a known project, %v for an unknown one, want the same 4",
			known, unknown)
	}
	there.EnableCache()
	cost(b.project, true)
	keyring, err := there.Keyring(ctx, b.project)
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := b.keys.CreateProject(ctx, project.Draft{OrganizationID: keyring.Organization.ID, Name: "Another"})
	if err != nil {
		t.Fatal(err)
	}
	there.Invalidate(made.ID)
	cost(made.ID, true)
}
