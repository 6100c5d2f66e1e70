package storetest

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/seal"
)

// insertBareProject stores a project without credentials.
func (s *suite) insertBareProject(t *testing.T) string {
	t.Helper()
	p := project.Project{
		ID:             NewID(),
		OrganizationID: s.project.OrganizationID,
		Name:           "bare",
		Status:         project.Active,
		CreatedAt:      testTime(0),
	}
	s.write(t, func(ctx context.Context) error { return s.db.InsertProject(ctx, p) })
	return p.ID
}

func newAPIKey(projectID string, slot key.Slot) key.APIKey {
	k := key.APIKey{
		ID:            NewID(),
		ProjectID:     projectID,
		Slot:          slot,
		Key:           seal.NewAPIKey(false),
		GatewaySecret: seal.NewGatewaySecret(false),
		CreatedAt:     testTime(1),
	}
	if slot != key.Current {
		k.RetiringSince, k.OverlapEndsAt = testTime(2), testTime(3)
	}
	return k
}

func newProjectSecret(projectID string, slot key.Slot) key.ProjectSecret {
	p := key.ProjectSecret{
		ID:        NewID(),
		ProjectID: projectID,
		Slot:      slot,
		Secret:    seal.NewProjectSecret(),
		CreatedAt: testTime(1),
	}
	if slot != key.Current {
		p.RetiringSince, p.OverlapEndsAt = testTime(2), testTime(3)
	}
	return p
}

func (s *suite) testAPIKeys(t *testing.T) {
	ctx := patient()
	id := s.insertBareProject(t)
	got, err := s.db.APIKeys(ctx, id)
	requireEqual(t, got, err, nil)

	overlap, current := newAPIKey(id, key.Overlap), newAPIKey(id, key.Current)
	s.write(t, func(ctx context.Context) error {
		for _, k := range []key.APIKey{newAPIKey(id, key.Retired), overlap, current, newAPIKey(id, key.Retired)} {
			if err := s.db.InsertAPIKey(ctx, k); err != nil {
				return err
			}
		}
		return nil
	})
	got, err = s.db.APIKeys(ctx, id)
	requireEqual(t, got, err, []key.APIKey{current, overlap})

	sameKey := newAPIKey(s.insertBareProject(t), key.Current)
	sameKey.Key = current.Key
	for _, k := range []key.APIKey{
		newAPIKey(id, key.Current), newAPIKey(id, key.Overlap), sameKey, newAPIKey(NewID(), key.Current),
	} {
		err := s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertAPIKey(ctx, k) })
		requireConstraintError(t, err)
	}
	got, err = s.db.APIKeys(ctx, id)
	requireEqual(t, got, err, []key.APIKey{current, overlap})
}

func (s *suite) testProjectSecrets(t *testing.T) {
	ctx := patient()
	id := s.insertBareProject(t)
	overlap, current := newProjectSecret(id, key.Overlap), newProjectSecret(id, key.Current)
	s.write(t, func(ctx context.Context) error {
		for _, p := range []key.ProjectSecret{newProjectSecret(id, key.Retired), overlap, current} {
			if err := s.db.InsertProjectSecret(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
	got, err := s.db.ProjectSecrets(ctx, id)
	requireEqual(t, got, err, []key.ProjectSecret{current, overlap})
	for _, slot := range []key.Slot{key.Current, key.Overlap} {
		err := s.db.Write(ctx, func(ctx context.Context) error {
			return s.db.InsertProjectSecret(ctx, newProjectSecret(id, slot))
		})
		requireConstraintError(t, err)
	}
	got, err = s.db.ProjectSecrets(ctx, s.insertBareProject(t))
	requireEqual(t, got, err, nil)
}

// A transaction can open a secret that it has sealed itself.
func (s *suite) testSecrets_ReadInOwnTransaction(t *testing.T) {
	id := s.insertBareProject(t)
	k := newAPIKey(id, key.Current)
	k.CreatedAt = k.CreatedAt.Add(999 * time.Microsecond) // stored times have milliseconds
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertAPIKey(ctx, k); err != nil {
			return err
		}
		got, err := s.db.APIKeys(ctx, id)
		want := k
		want.CreatedAt = testTime(1)
		requireEqual(t, got, err, []key.APIKey{want})
		return nil
	})
}

func (s *suite) testMoveCredentials(t *testing.T) {
	ctx := patient()
	id := s.insertBareProject(t)
	k, p := newAPIKey(id, key.Current), newProjectSecret(id, key.Current)
	s.write(t, func(ctx context.Context) error {
		return errors.Join(s.db.InsertAPIKey(ctx, k), s.db.InsertProjectSecret(ctx, p))
	})
	move := func(slot key.Slot, since, ends time.Time) {
		t.Helper()
		k.Slot, k.RetiringSince, k.OverlapEndsAt = slot, since, ends
		p.Slot, p.RetiringSince, p.OverlapEndsAt = slot, since, ends
		s.write(t, func(ctx context.Context) error {
			return errors.Join(s.db.UpdateAPIKey(ctx, k, testTime(9)), s.db.UpdateProjectSecret(ctx, p, testTime(9)))
		})
	}
	has := func(keys []key.APIKey, secrets []key.ProjectSecret) {
		t.Helper()
		gotKeys, err := s.db.APIKeys(ctx, id)
		requireEqual(t, gotKeys, err, keys)
		gotSecrets, err := s.db.ProjectSecrets(ctx, id)
		requireEqual(t, gotSecrets, err, secrets)
		byHash, err := s.db.APIKeyByHash(ctx, seal.Hash(k.Key.Reveal())) // finds a key in any slot
		requireEqual(t, byHash, err, k)
	}
	has([]key.APIKey{k}, []key.ProjectSecret{p})
	move(key.Overlap, testTime(2), testTime(3))
	has([]key.APIKey{k}, []key.ProjectSecret{p})
	move(key.Retired, time.Time{}, time.Time{})
	has(nil, nil)
	_, err := s.db.APIKeyByHash(ctx, seal.Hash("unknown"))
	requireFault(t, err, fault.NotFound, "api_key_not_found")
}

func (s *suite) testAPIKeyHashes(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p, other := Project(t, db).ID, Project(t, db).ID
	retired := newAPIKey(p, key.Retired)
	if err := db.Write(ctx, func(ctx context.Context) error { return db.InsertAPIKey(ctx, retired) }); err != nil {
		t.Fatal(err)
	}
	hashes := func(projectID string) map[string]string {
		t.Helper()
		found := map[string]string{}
		if err := db.APIKeyHashes(ctx, projectID, func(hash, owner string) { found[hash] = owner }); err != nil {
			t.Fatal(err)
		}
		return found
	}
	want := map[string]string{seal.Hash(retired.Key.Reveal()): p}
	for _, id := range []string{p, other} {
		keys, err := db.APIKeys(ctx, id)
		if err != nil || len(keys) != 1 {
			t.Fatalf("keys: got %+v, %v, want 1", keys, err)
		}
		want[seal.Hash(keys[0].Key.Reveal())] = id
	}
	requireEqual(t, hashes(""), nil, want)
	maps.DeleteFunc(want, func(_, owner string) bool { return owner != p })
	requireEqual(t, hashes(p), nil, want)
	requireEqual(t, hashes(NewID()), nil, map[string]string{})
}

func (s *suite) testPurgeRetired(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p := Project(t, db).ID
	overlap, secret := newAPIKey(p, key.Overlap), newProjectSecret(p, key.Overlap)
	retired := newAPIKey(p, key.Current)
	purge := func(before, now int) []string {
		t.Helper()
		var projects []string
		err := db.Write(ctx, func(ctx context.Context) (err error) {
			projects, err = db.PurgeRetired(ctx, testTime(before), testTime(now))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return projects
	}
	found := func(k key.APIKey, want bool) {
		t.Helper()
		if _, err := db.APIKeyByHash(ctx, seal.Hash(k.Key.Reveal())); (err == nil) != want {
			t.Errorf("APIKeyByHash: got %v, want found %t", err, want)
		}
	}
	current, err := db.APIKeys(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(ctx, func(ctx context.Context) error {
		retired.Slot = key.Retired
		return errors.Join(db.InsertAPIKey(ctx, overlap), db.InsertProjectSecret(ctx, secret),
			db.InsertAPIKey(ctx, retired), db.UpdateAPIKey(ctx, retired, testTime(1)))
	})
	if err != nil {
		t.Fatal(err)
	}
	requireEqual(t, purge(1, 2), nil, nil) // the overlap ends at 3, and a key retired at 1 is not purged before 1
	found(retired, true)
	requireEqual(t, purge(2, 3), nil, []string{p, p}) // one for the key and one for the secret
	found(retired, false)
	found(overlap, true)
	requireEqual(t, purge(3, 9), nil, nil)
	found(overlap, true) // it was retired at 3, when its overlap ended
	requireEqual(t, purge(4, 9), nil, nil)
	found(overlap, false)
	left, err := db.APIKeys(ctx, p)
	requireEqual(t, left, err, current)
}

func (s *suite) testEndingOverlaps(t *testing.T) {
	ctx := patient()
	p := s.insertBareProject(t)
	k := key.APIKey{
		ID:            NewID(),
		ProjectID:     p,
		Slot:          key.Current,
		Key:           seal.NewAPIKey(false),
		GatewaySecret: seal.NewGatewaySecret(false),
		CreatedAt:     testTime(1),
	}
	secret := key.ProjectSecret{
		ID:        NewID(),
		ProjectID: p,
		Slot:      key.Current,
		Secret:    seal.NewProjectSecret(),
		CreatedAt: testTime(1),
	}
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertAPIKey(ctx, k); err != nil {
			return err
		}
		k.Slot, k.RetiringSince, k.OverlapEndsAt = key.Overlap, testTime(2), testTime(20)
		if err := s.db.UpdateAPIKey(ctx, k, testTime(2)); err != nil {
			return err
		}
		if err := s.db.InsertProjectSecret(ctx, secret); err != nil {
			return err
		}
		secret.Slot, secret.RetiringSince, secret.OverlapEndsAt = key.Overlap, testTime(2), testTime(10)
		return s.db.UpdateProjectSecret(ctx, secret, testTime(2))
	})
	first := key.EndingOverlap{ProjectID: p, Credential: event.CredentialSecret, EndsAt: testTime(10)}
	second := key.EndingOverlap{ProjectID: p, Credential: event.CredentialKey, EndsAt: testTime(20)}
	list := func(projectID string, after, until, limit int, want ...key.EndingOverlap) {
		t.Helper()
		got, err := s.db.EndingOverlaps(ctx, projectID, testTime(after), testTime(until), limit)
		requireEqual(t, got, err, want)
	}
	list(p, 5, 20, 10, first, second)
	list(p, 5, 20, 1, first)
	list(p, 10, 20, 10, second)
	list(p, 5, 19, 10, first)
	list(NewID(), 5, 20, 10)
}
