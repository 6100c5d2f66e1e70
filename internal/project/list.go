package project

import (
	"context"

	"parley/internal/audit"
)

// ListQuery selects projects, the oldest first.
type ListQuery struct {
	OrganizationID string // whose projects; empty for those of all organizations
	After          string // id after which the list begins; empty for the first
	Limit          int    // largest number of projects; 0 for all
}

// Organizations returns at most limit organizations, or all if limit is 0, the oldest first.
// The list begins after the id after.
func (s *Service) Organizations(ctx context.Context, after string, limit int) ([]Organization, error) {
	return s.store.Organizations(ctx, after, limit)
}

// Organization returns an organization, or NotFound.
func (s *Service) Organization(ctx context.Context, id string) (Organization, error) {
	return s.store.Organization(ctx, id)
}

// Projects returns the projects that a query selects. NotFound when there is no such
// organization.
func (s *Service) Projects(ctx context.Context, q ListQuery) ([]Project, error) {
	if err := s.checkListed(ctx, q); err != nil {
		return nil, err
	}
	return s.store.Projects(ctx, q)
}

// checkListed returns NotFound if a query names an organization that does not exist.
func (s *Service) checkListed(ctx context.Context, q ListQuery) error {
	if q.OrganizationID == "" {
		return nil
	}
	_, err := s.store.Organization(ctx, q.OrganizationID)
	return err
}

// Edit is a change of a project by an operator. Fields that are nil stay as they
// are.
type Edit struct {
	Name     *string
	Settings func(*Settings) error // changes the settings in place; may be called again
}

// Check returns the error with which Service.Edit would refuse the change of a project because of its values. Errors:
// Invalid.
func (e Edit) Check(p Project) error { return e.apply(&p) }

// apply changes the project. If it returns an error, the project is in no valid state.
func (e Edit) apply(p *Project) (err error) {
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
	return err
}

// Edit applies a change completely or not at all, and returns the changed
// project.
func (s *Service) Edit(ctx context.Context, id string, e Edit) (Project, error) {
	var out Project
	err := s.update(ctx, id, audit.ProjectChanged, func(_ context.Context, p *Project) error {
		err := e.apply(p)
		out = *p
		return err
	})
	if err != nil {
		return Project{}, err
	}
	return out, nil
}
