package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

func (s *suite) testOrganization(t *testing.T) {
	ctx := patient()
	for _, name := range trickyTexts {
		o := project.Organization{ID: NewID(), Name: name, Billing: project.Payg, CreatedAt: testTime(1)}
		s.write(t, func(ctx context.Context) error { return s.db.InsertOrganization(ctx, o) })
		got, err := s.db.Organization(ctx, o.ID)
		requireEqual(t, got, err, o)
	}
	_, err := s.db.Organization(ctx, NewID())
	requireFault(t, err, fault.NotFound, "organization_not_found")
	requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error {
		o := project.Organization{ID: NewID(), Name: "n", Billing: "barter", CreatedAt: testTime(1)}
		return s.db.InsertOrganization(ctx, o)
	}))
}

func (s *suite) testProject(t *testing.T) {
	ctx := patient()
	for _, name := range trickyTexts {
		p := project.Project{
			ID:             NewID(),
			OrganizationID: s.project.OrganizationID,
			Name:           name,
			Status:         project.Active,
			CreatedAt:      testTime(1),
		}
		s.write(t, func(ctx context.Context) error { return s.db.InsertProject(ctx, p) })
		got, err := s.db.Project(ctx, p.ID)
		requireEqual(t, got, err, p)

		p.Name, p.Status, p.SuspendedAt = name+"!", project.Inactive, testTime(2)
		p.Settings = project.Settings{RequireSecretSignatures: true, DefaultEmptyTimeout: 86400}
		s.write(t, func(ctx context.Context) error { return s.db.UpdateProject(ctx, p) })
		got, err = s.db.Project(ctx, p.ID)
		requireEqual(t, got, err, p)

		p.SuspendedAt, p.Settings = time.Time{}, project.Settings{}
		s.write(t, func(ctx context.Context) error { return s.db.UpdateProject(ctx, p) })
		got, err = s.db.Project(ctx, p.ID)
		requireEqual(t, got, err, p)
	}
}

func (s *suite) testProject_Refused(t *testing.T) {
	ctx := patient()
	_, err := s.db.Project(ctx, NewID())
	requireFault(t, err, fault.NotFound, "project_not_found")
	unknown := project.Project{
		ID:             NewID(),
		OrganizationID: NewID(),
		Name:           "n",
		Status:         project.Active,
		CreatedAt:      testTime(1),
	}
	err = s.db.Write(ctx, func(ctx context.Context) error { return s.db.UpdateProject(ctx, unknown) })
	requireFault(t, err, fault.NotFound, "project_not_found")
	for _, p := range []project.Project{unknown, s.project} {
		err = s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertProject(ctx, p) })
		requireConstraintError(t, err)
	}
}

func (s *suite) testLogo(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	first, second := Project(t, db).ID, Project(t, db).ID
	read := func(projectID string, want project.Logo) {
		t.Helper()
		got, err := db.Logo(ctx, projectID)
		requireEqual(t, got, err, want)
	}
	image := func(hash string, want []byte) {
		t.Helper()
		_, got, err := db.LogoImage(ctx, hash)
		requireEqual(t, got, err, want)
	}
	save := func(projectID string, l project.Logo, image []byte) {
		t.Helper()
		if err := db.Write(ctx, func(ctx context.Context) error {
			return db.SaveLogo(ctx, projectID, l, image)
		}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(projectID string) {
		t.Helper()
		if err := db.Write(ctx, func(ctx context.Context) error { return db.DeleteLogo(ctx, projectID) }); err != nil {
			t.Fatal(err)
		}
	}
	read(first, project.Logo{})
	remove(first)
	every := make([]byte, 256) // bytes that a text would not keep
	for i := range every {
		every[i] = byte(i)
	}
	png := project.Logo{Hash: "a1", Format: "png", Width: 320, Height: 80}
	webp := project.Logo{Hash: "b2", Format: "webp", Width: 16, Height: 1024}
	save(first, png, every)
	read(first, png)
	read(second, project.Logo{})
	l, _, err := db.LogoImage(ctx, "a1")
	requireEqual(t, l, err, png)
	image("a1", every)

	// The same logo of two projects stays until neither has it.
	save(second, png, every)
	save(first, webp, []byte("webp"))
	read(first, webp)
	image("b2", []byte("webp"))
	image("a1", every)
	remove(second)
	read(second, project.Logo{})
	read(first, webp)
	for _, hash := range []string{"a1", "", "'"} {
		_, _, err := db.LogoImage(ctx, hash)
		requireFault(t, err, fault.NotFound, "logo_not_found")
	}
	for _, wrong := range []struct{ projectID, format string }{{NewID(), "png"}, {first, "svg"}} {
		requireConstraintError(t, db.Write(ctx, func(ctx context.Context) error {
			return db.SaveLogo(ctx, wrong.projectID, project.Logo{Hash: "c3", Format: wrong.format}, every)
		}))
	}
	read(first, webp)
}
