package key_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// fixture is the service on a real database, with a clock that the test
// advances.
type fixture struct {
	db      *store.DB
	keys    *key.Service
	project string

	mu  sync.Mutex
	now time.Time
}

func (b *fixture) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *fixture) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// newSQLiteFixture returns the service on a new SQLite database.
func newSQLiteFixture(t testing.TB) *fixture { return newFixture(storetest.SQLite(t)) }

func newFixture(db *store.DB, options ...key.Option) *fixture {
	b := &fixture{db: db, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	projects := project.NewService(db, b.clock, newID, func(id string) { b.keys.Invalidate(id) })
	b.keys = key.NewService(db, projects, b.clock, newID, options...)
	return b
}

func (b *fixture) createProject(t fataler) key.IssuedCredentials {
	o, err := project.NewService(b.db, b.clock, newID, b.keys.Invalidate).CreateOrganization(context.Background(),
		"Org", project.Plan)
	if err != nil {
		t.Fatal(err)
	}
	p, issued, err := b.keys.CreateProject(context.Background(), project.Draft{OrganizationID: o.ID, Name: "Project"})
	if err != nil {
		t.Fatal(err)
	}
	b.project = p.ID
	return issued
}

type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func (b *fixture) keyring(t fataler) *key.Keyring {
	r, err := b.keys.Keyring(context.Background(), b.project)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// credentialType is a kind of credential that rotates; the rules are the same
// for both.
type credentialType struct {
	name   string
	rotate func(b *fixture, how key.Rotation) (string, time.Time, error)
	revoke func(b *fixture) error
	live   func(b *fixture, r *key.Keyring) []string
	first  func(key.IssuedCredentials) string
}

var credentialTypes = []credentialType{
	{"API key",
		func(b *fixture, how key.Rotation) (string, time.Time, error) {
			r, err := b.keys.RotateKey(context.Background(), b.project, how)
			return r.APIKey.Reveal() + " " + r.GatewaySecret.Reveal(), r.OverlapEndsAt, err
		},
		func(b *fixture) error { return b.keys.RevokeOverlap(context.Background(), b.project) },
		func(b *fixture, r *key.Keyring) (pairs []string) {
			for _, k := range r.Keys() {
				if k.Live(b.clock()) {
					pairs = append(pairs, k.Key.Reveal()+" "+k.GatewaySecret.Reveal())
				}
			}
			return pairs
		},
		func(i key.IssuedCredentials) string { return i.APIKey.Reveal() + " " + i.GatewaySecret.Reveal() }},
	{"project secret",
		func(b *fixture, how key.Rotation) (string, time.Time, error) {
			r, err := b.keys.RotateSecret(context.Background(), b.project, how)
			return r.ProjectSecret.Reveal(), r.OverlapEndsAt, err
		},
		func(b *fixture) error { return b.keys.RevokeSecretOverlap(context.Background(), b.project) },
		func(b *fixture, r *key.Keyring) []string { return r.LiveProjectSecrets(b.clock()) },
		func(i key.IssuedCredentials) string { return i.ProjectSecret.Reveal() }},
}

// TestRotation compares histories of rotations, revocations, waits and sweeps
// with a model of two slots: the current credential, and the previous one until
// its overlap ends.
func TestRotation(t *testing.T) {
	t.Parallel()
	b := newSQLiteFixture(t)
	for _, s := range credentialTypes {
		t.Run(s.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				current, overlap, ends := s.first(b.createProject(t)), "", time.Time{}
				overlapping := func() bool { return overlap != "" && b.clock().Before(ends) }
				t.Repeat(map[string]func(*rapid.T){
					"rotate": func(t *rapid.T) {
						how := key.Rotation{
							Overlap: time.Duration(rapid.Int64Range(0, int64(key.MaxOverlap/time.Second)).Draw(t,
								"seconds")) * time.Second,
							Force: rapid.Bool().Draw(t, "force"),
						}
						if rapid.Bool().Draw(t, "at once") {
							how.Overlap = 0
						}
						next, until, err := s.rotate(b, how)
						if overlapping() && !how.Force {
							if !fault.Is(err, fault.Conflict) {
								t.Fatalf("a second rotation during an overlap: got %v, want Conflict", err)
							}
							return
						}
						if err != nil {
							t.Fatalf("rotate %+v: got error %v, want none", how, err)
						}
						if want := b.clock().Add(how.Overlap); !until.Equal(want) {
							t.Fatalf("end of the overlap: got %v, want %v", until, want)
						}
						if overlap, ends = current, until; how.Overlap == 0 {
							overlap = ""
						}
						current = next
					},
					"revoke": func(t *rapid.T) {
						err := s.revoke(b)
						if overlapping() != (err == nil) || err != nil && !fault.Is(err, fault.NotFound) {
							t.Fatalf("revoke: got error %v, want success %v, or NotFound", err, overlapping())
						}
						overlap = ""
					},
					"wait": func(t *rapid.T) {
						b.advance(time.Duration(rapid.Int64Range(1, int64(8*24*time.Hour/time.Second)).Draw(t,
							"seconds")) * time.Second)
					},
					"sweep": func(t *rapid.T) {
						if err := b.keys.Sweep(context.Background()); err != nil {
							t.Fatal(err)
						}
					},
					"restart": func(*rapid.T) { b.keys.Invalidate(b.project) },
					"": func(t *rapid.T) {
						want := []string{current}
						if overlapping() {
							want = append(want, overlap)
						}
						if got := s.live(b, b.keyring(t)); strings.Join(got, ",") != strings.Join(want, ",") {
							t.Fatalf("live credentials: got %d, want %d, the same ones", len(got), len(want))
						}
					},
				})
			})
		})
	}
}

func TestRotation_OverlapBounds(t *testing.T) {
	t.Parallel()
	b := newSQLiteFixture(t)
	for _, s := range credentialTypes {
		for overlap, want := range map[time.Duration]string{
			-time.Second:                 "overlap must be between 0 and 7d, not -1s",
			key.MaxOverlap + time.Second: "overlap must be between 0 and 7d, not 168h0m1s",
			0:                            "", key.MaxOverlap: "", key.DefaultOverlap: "",
		} {
			b.createProject(t)
			_, _, err := s.rotate(b, key.Rotation{Overlap: overlap})
			if want == "" && err != nil || want != "" && (!fault.Is(err, fault.Invalid) || err.Error() != want) {
				t.Errorf("%s, overlap %v: got %v, want %q", s.name, overlap, err, want)
			}
		}
	}
}

func TestRotation_Errors(t *testing.T) {
	t.Parallel()
	b := newSQLiteFixture(t)
	for _, s := range credentialTypes {
		b.createProject(t)
		if _, _, err := s.rotate(b, key.Rotation{Overlap: time.Hour}); err != nil {
			t.Fatal(err)
		}
		_, _, err := s.rotate(b, key.Rotation{Overlap: time.Hour})
		const want = "the overlap of the last rotation has not ended"
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", s.name, err, want)
		}
		if err := s.revoke(b); err != nil {
			t.Errorf("revoke %s: got error %v, want none", s.name, err)
		}
		if err := s.revoke(b); err == nil || err.Error() != "there is no overlap of "+s.name+"s" {
			t.Errorf("revoke %s again: got %v, want: there is no overlap of %ss", s.name, err, s.name)
		}
		b.project = "nowhere"
		if _, _, err := s.rotate(b, key.Rotation{}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s of an unknown project: got %v, want NotFound", s.name, err)
		}
		if err := s.revoke(b); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s of an unknown project: got %v, want NotFound", s.name, err)
		}
	}
}

// TestRotation_Concurrent rotates concurrently on both databases: one rotation
// succeeds, the others fail because of the overlap.
func TestRotation_Concurrent(t *testing.T) {
	t.Parallel()
	for engine, open := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			testConcurrentRotations(t, newFixture(open(t)))
		})
	}
}

func testConcurrentRotations(t *testing.T, b *fixture) {
	for _, s := range credentialTypes {
		for range 5 {
			b.createProject(t)
			outcomes := make(chan error, 8)
			for range cap(outcomes) {
				go func() {
					_, _, err := s.rotate(b, key.Rotation{Overlap: time.Hour})
					outcomes <- err
				}()
			}
			won := 0
			for range cap(outcomes) {
				switch err := <-outcomes; {
				case err == nil:
					won++
				case !fault.Is(err, fault.Conflict):
					t.Errorf("%s: got %v, want Conflict", s.name, err)
				}
			}
			if live := len(s.live(b, b.keyring(t))); won != 1 || live != 2 {
				t.Errorf("%s: got %d successful rotations and %d live credentials, want 1 and 2", s.name, won, live)
			}
		}
	}
}

// TestRetiredKey_FoundUntilPurged checks that retired keys are found until they
// are purged.
func TestRetiredKey_FoundUntilPurged(t *testing.T) {
	t.Parallel()
	b := newSQLiteFixture(t)
	issued := b.createProject(t)
	ctx := context.Background()
	if _, err := b.keys.RotateKey(ctx, b.project, key.Rotation{}); err != nil {
		t.Fatal(err)
	}
	find := func() (key.APIKey, error) {
		if err := b.keys.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		k, _, err := b.keys.ByAPIKey(ctx, issued.APIKey.Reveal())
		return k, err
	}
	if k, err := find(); err != nil || k.Slot != key.Retired || k.Live(b.clock()) {
		t.Errorf("got slot %v, %v, want a retired key", k.Slot, err)
	}
	b.advance(7*24*time.Hour + time.Second)
	if err := b.keys.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := b.db.APIKeyByHash(ctx, seal.Hash(issued.APIKey.Reveal())); !fault.Is(err, fault.NotFound) {
		t.Errorf("after seven days: got %v, want NotFound", err)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	b := newSQLiteFixture(t)
	issued := b.createProject(t)
	ctx := context.Background()
	c, err := b.keys.Credentials(ctx, b.project)
	if err != nil || len(c.Keys) != 1 || !c.SecretOverlapEndsAt.IsZero() || !c.SecretCreatedAt.Equal(b.clock()) {
		t.Fatalf("before the rotations: got %+v, %v, want one key and no overlap", c, err)
	}
	text := issued.APIKey.Reveal()
	if got, want := c.Keys[0].Masked(), fmt.Sprintf("%s…%s", text[:8], text[len(text)-4:]); got != want {
		t.Errorf("masked key: got %s, want %s", got, want)
	}
	if got := (key.APIKey{Key: "short"}).Masked(); got != "…" {
		t.Errorf("masked short key: got %s, want …", got)
	}
	_, err = b.keys.RotateKey(ctx, b.project, key.Rotation{Overlap: time.Hour})
	_, err2 := b.keys.RotateSecret(ctx, b.project, key.Rotation{Overlap: 2 * time.Hour})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	c, err = b.keys.Credentials(ctx, b.project)
	if err != nil || len(c.Keys) != 2 || c.Keys[0].Slot != key.Current || c.Keys[1].Slot != key.Overlap ||
		!c.SecretOverlapEndsAt.Equal(b.clock().Add(2*time.Hour)) {
		t.Errorf("after the rotations: got %+v, %v, want two keys and an overlap of two hours", c, err)
	}
	b.advance(3 * time.Hour)
	if c, err = b.keys.Credentials(ctx, b.project); err != nil || len(c.Keys) != 1 || !c.SecretOverlapEndsAt.IsZero() {
		t.Errorf("after the overlap: got %+v, %v, want one key and no overlap", c, err)
	}
	if _, err := b.keys.Credentials(ctx, "nowhere"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown project: got %v, want NotFound", err)
	}
}
