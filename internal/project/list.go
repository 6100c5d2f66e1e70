package project

import (
	"context"

	"parley/internal/audit"
)

// Organizations returns every organization, the oldest first.
func (s *Service) Organizations(ctx context.Context) ([]Organization, error) {
	return s.store.Organizations(ctx)
}

// Organization returns an organization, or NotFound.
func (s *Service) Organization(ctx context.Context, id string) (Organization, error) {
	return s.store.Organization(ctx, id)
}

// Projects returns the projects of an organization, or all of them when the
// id is "", the oldest first. NotFound when there is no such organization.
func (s *Service) Projects(ctx context.Context, organizationID string) ([]Project, error) {
	if organizationID != "" {
		if _, err := s.store.Organization(ctx, organizationID); err != nil {
			return nil, err
		}
	}
	return s.store.Projects(ctx, organizationID)
}

// Edit is a change of a project by an operator. Fields that are nil stay as they
// are.
type Edit struct {
	Name     *string
	Settings func(*Settings) error // changes the settings in place; may be called again
}

// Edit applies a change completely or not at all, and returns the changed
// project.
func (s *Service) Edit(ctx context.Context, id string, e Edit) (Project, error) {
	var out Project
	err := s.update(ctx, id, audit.ProjectChanged, func(_ context.Context, p *Project) (err error) {
		if e.Name != nil {
			if err := checkName(*e.Name); err != nil {
				return err
			}
			p.Name = *e.Name
		}
		if e.Settings != nil {
			if err := e.Settings(&p.Settings); err != nil {
				return err
			}
			p.Settings, err = p.Settings.validated()
		}
		out = *p
		return err
	})
	if err != nil {
		return Project{}, err
	}
	return out, nil
}
