package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

func (s *suite) TestOrganization(t *testing.T) {
	ctx := context.Background()
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

func (s *suite) TestCountOrganizations(t *testing.T) {
	db := s.open(t)
	for want := range 3 {
		got, err := db.CountOrganizations(context.Background())
		requireEqual(t, got, err, want)
		Project(t, db)
	}
}

func (s *suite) TestProject(t *testing.T) {
	ctx := context.Background()
	for _, name := range trickyTexts {
		p := project.Project{
			ID: NewID(), OrganizationID: s.project.OrganizationID, Name: name,
			Status: project.Active, CreatedAt: testTime(1),
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

func (s *suite) TestProject_Refused(t *testing.T) {
	ctx := context.Background()
	_, err := s.db.Project(ctx, NewID())
	requireFault(t, err, fault.NotFound, "project_not_found")
	unknown := project.Project{
		ID: NewID(), OrganizationID: NewID(), Name: "n", Status: project.Active, CreatedAt: testTime(1),
	}
	err = s.db.Write(ctx, func(ctx context.Context) error { return s.db.UpdateProject(ctx, unknown) })
	requireFault(t, err, fault.NotFound, "project_not_found")
	for _, p := range []project.Project{unknown, s.project} {
		err = s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertProject(ctx, p) })
		requireConstraintError(t, err)
	}
}
