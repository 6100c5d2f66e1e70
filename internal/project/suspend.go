package project

import (
	"context"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
)

// A suspended organization has suspended its projects, at the same time as itself. So it
// can resume those and leave the projects suspended that an operator suspended alone.

var (
	errOrganizationSuspended = fault.New(fault.Conflict, "organization_suspended",
		"the organization is suspended")
	errProjectDeleted = fault.New(fault.Conflict, "project_deleted", "the project is being deleted")
)

// Suspend suspends a project. The client's status stays as it is. A project that its
// organization suspended stays suspended when the organization is resumed.
func (s *Service) Suspend(ctx context.Context, id string) error {
	return s.update(ctx, id, audit.ProjectSuspended, func(ctx context.Context, p *Project) error {
		o, err := s.store.Organization(ctx, p.OrganizationID)
		if err != nil {
			return err
		}
		if !p.Suspended() || p.SuspendedAt.Equal(o.SuspendedAt) {
			p.SuspendedAt = s.now().Truncate(time.Millisecond)
		}
		if p.SuspendedAt.Equal(o.SuspendedAt) {
			p.SuspendedAt = p.SuspendedAt.Add(time.Millisecond)
		}
		return nil
	})
}

// Resume ends a suspension; the client's status applies again. Conflict for a project that
// is being deleted or whose organization is suspended.
func (s *Service) Resume(ctx context.Context, id string) error {
	return s.update(ctx, id, audit.ProjectResumed, func(ctx context.Context, p *Project) error {
		o, err := s.store.Organization(ctx, p.OrganizationID)
		switch {
		case err != nil:
			return err
		case p.Deleted():
			return errProjectDeleted
		case o.Suspended():
			return errOrganizationSuspended
		}
		p.SuspendedAt = time.Time{}
		return nil
	})
}

// SuspendOrganization suspends an organization and its projects, and returns it. New
// projects of it are refused. After an error it can be called again to suspend the
// remaining projects.
func (s *Service) SuspendOrganization(ctx context.Context, id string) (Organization, error) {
	o, err := s.updateOrganization(ctx, id, audit.OrganizationSuspended, func(_ context.Context, o *Organization) error {
		if !o.Suspended() {
			o.SuspendedAt = s.now().Truncate(time.Millisecond) // as it is stored
		}
		return nil
	})
	if err != nil {
		return Organization{}, err
	}
	return o, s.updateProjects(ctx, id, audit.ProjectSuspended, func(p *Project) {
		if !p.Suspended() {
			p.SuspendedAt = o.SuspendedAt
		}
	})
}

// ResumeOrganization ends the suspension of an organization and of the projects that it
// suspended, and returns it. After an error it can be called again.
func (s *Service) ResumeOrganization(ctx context.Context, id string) (Organization, error) {
	o, err := s.store.Organization(ctx, id)
	if err != nil || !o.Suspended() {
		return o, err
	}
	err = s.updateProjects(ctx, id, audit.ProjectResumed, func(p *Project) {
		if p.SuspendedAt.Equal(o.SuspendedAt) && !p.Deleted() {
			p.SuspendedAt = time.Time{}
		}
	})
	if err != nil {
		return Organization{}, err
	}
	// Last, because its time says which projects are still to be resumed.
	return s.updateOrganization(ctx, id, audit.OrganizationResumed, func(_ context.Context, o *Organization) error {
		o.SuspendedAt = time.Time{}
		return nil
	})
}

// updateProjects applies a change to each project of an organization, in a transaction of
// its own.
func (s *Service) updateProjects(
	ctx context.Context, organizationID string, action audit.Action, change func(*Project),
) error {
	ids, err := s.store.ProjectIDs(ctx, organizationID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		err := s.update(ctx, id, action, func(_ context.Context, p *Project) error { change(p); return nil })
		if err != nil && !fault.Is(err, fault.NotFound) { // deleted meanwhile
			return err
		}
	}
	return nil
}
