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
	for _, name := range texts {
		o := project.Organization{ID: NewID(), Name: name, Billing: project.Payg, CreatedAt: moment(1)}
		s.write(t, func(ctx context.Context) error { return s.db.InsertOrganization(ctx, o) })
		got, err := s.db.Organization(ctx, o.ID)
		same(t, got, err, o)
	}
	_, err := s.db.Organization(ctx, NewID())
	refused(t, err, fault.NotFound, "organization_not_found")
	broken(t, s.db.Write(ctx, func(ctx context.Context) error {
		return s.db.InsertOrganization(ctx, project.Organization{ID: NewID(), Name: "n", Billing: "barter", CreatedAt: moment(1)})
	}))
}

func (s *suite) TestCountOrganizations(t *testing.T) {
	db := s.open(t)
	for want := range 3 {
		got, err := db.CountOrganizations(context.Background())
		same(t, got, err, want)
		Project(t, db)
	}
}

func (s *suite) TestProject(t *testing.T) {
	ctx := context.Background()
	for _, name := range texts {
		p := project.Project{ID: NewID(), OrganizationID: s.project.OrganizationID, Name: name, Status: project.Active, CreatedAt: moment(1)}
		s.write(t, func(ctx context.Context) error { return s.db.InsertProject(ctx, p) })
		got, err := s.db.Project(ctx, p.ID)
		same(t, got, err, p)

		p.Name, p.Status, p.SuspendedAt = name+"!", project.Inactive, moment(2)
		p.Settings = project.Settings{RequireSecretSignatures: true, DefaultEmptyTimeout: 86400}
		s.write(t, func(ctx context.Context) error { return s.db.UpdateProject(ctx, p) })
		got, err = s.db.Project(ctx, p.ID)
		same(t, got, err, p)

		p.SuspendedAt, p.Settings = time.Time{}, project.Settings{}
		s.write(t, func(ctx context.Context) error { return s.db.UpdateProject(ctx, p) })
		got, err = s.db.Project(ctx, p.ID)
		same(t, got, err, p)
	}
}

func (s *suite) TestProjectRefusals(t *testing.T) {
	ctx := context.Background()
	_, err := s.db.Project(ctx, NewID())
	refused(t, err, fault.NotFound, "project_not_found")
	unknown := project.Project{ID: NewID(), OrganizationID: NewID(), Name: "n", Status: project.Active, CreatedAt: moment(1)}
	refused(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.UpdateProject(ctx, unknown) }), fault.NotFound, "project_not_found")
	broken(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertProject(ctx, unknown) }))
	broken(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertProject(ctx, s.project) }))
}
