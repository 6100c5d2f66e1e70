package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/seal"
)

// bare makes a project without credentials.
func (s *suite) bare(t *testing.T) string {
	t.Helper()
	p := project.Project{ID: NewID(), OrganizationID: s.project.OrganizationID, Name: "bare", Status: project.Active, CreatedAt: moment(0)}
	s.write(t, func(ctx context.Context) error { return s.db.InsertProject(ctx, p) })
	return p.ID
}

func apiKey(projectID string, slot key.Slot) key.APIKey {
	k := key.APIKey{ID: NewID(), ProjectID: projectID, Slot: slot, Key: seal.NewAPIKey(), GatewaySecret: seal.NewGatewaySecret(), CreatedAt: moment(1)}
	if slot != key.Current {
		k.RetiringSince, k.OverlapEndsAt = moment(2), moment(3)
	}
	return k
}

func projectSecret(projectID string, slot key.Slot) key.ProjectSecret {
	p := key.ProjectSecret{ID: NewID(), ProjectID: projectID, Slot: slot, Secret: seal.NewProjectSecret(), CreatedAt: moment(1)}
	if slot != key.Current {
		p.RetiringSince, p.OverlapEndsAt = moment(2), moment(3)
	}
	return p
}

func (s *suite) TestAPIKeys(t *testing.T) {
	ctx := context.Background()
	id := s.bare(t)
	got, err := s.db.APIKeys(ctx, id)
	same(t, got, err, nil)

	overlap, current := apiKey(id, key.Overlap), apiKey(id, key.Current)
	s.write(t, func(ctx context.Context) error {
		for _, k := range []key.APIKey{apiKey(id, key.Retired), overlap, current, apiKey(id, key.Retired)} {
			if err := s.db.InsertAPIKey(ctx, k); err != nil {
				return err
			}
		}
		return nil
	})
	got, err = s.db.APIKeys(ctx, id)
	same(t, got, err, []key.APIKey{current, overlap})

	for _, slot := range []key.Slot{key.Current, key.Overlap} {
		broken(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertAPIKey(ctx, apiKey(id, slot)) }))
	}
	twice := apiKey(s.bare(t), key.Current)
	twice.Key = current.Key
	broken(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertAPIKey(ctx, twice) }))
	broken(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertAPIKey(ctx, apiKey(NewID(), key.Current)) }))
	got, err = s.db.APIKeys(ctx, id)
	same(t, got, err, []key.APIKey{current, overlap})
}

func (s *suite) TestProjectSecrets(t *testing.T) {
	ctx := context.Background()
	id := s.bare(t)
	overlap, current := projectSecret(id, key.Overlap), projectSecret(id, key.Current)
	s.write(t, func(ctx context.Context) error {
		for _, p := range []key.ProjectSecret{projectSecret(id, key.Retired), overlap, current} {
			if err := s.db.InsertProjectSecret(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
	got, err := s.db.ProjectSecrets(ctx, id)
	same(t, got, err, []key.ProjectSecret{current, overlap})
	for _, slot := range []key.Slot{key.Current, key.Overlap} {
		broken(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertProjectSecret(ctx, projectSecret(id, slot)) }))
	}
	got, err = s.db.ProjectSecrets(ctx, s.bare(t))
	same(t, got, err, nil)
}

// A secret opens in the transaction that has just sealed it.
func (s *suite) TestSecretsInTheirOwnTransaction(t *testing.T) {
	id := s.bare(t)
	k := apiKey(id, key.Current)
	k.CreatedAt = k.CreatedAt.Add(999 * time.Microsecond) // stored times end at the millisecond
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertAPIKey(ctx, k); err != nil {
			return err
		}
		got, err := s.db.APIKeys(ctx, id)
		want := k
		want.CreatedAt = moment(1)
		same(t, got, err, []key.APIKey{want})
		return nil
	})
}
