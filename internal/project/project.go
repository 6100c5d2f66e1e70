// Package project holds organizations and the projects they own: types, rules
// and a Service. It imports the standard library, fault, field and event only.
package project

import (
	"context"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/validate"
)

// Billing is how an organization pays.
type Billing string

// The billing models.
const (
	Plan Billing = "plan"
	Payg Billing = "payg" // pay as you go
)

// Status is a project's switch that its client holds.
type Status string

// The statuses of a project. Suspension is apart from them.
const (
	Active   Status = "active"
	Inactive Status = "inactive"
)

// Organization owns projects.
type Organization struct {
	ID        string
	Name      string
	Billing   Billing
	CreatedAt time.Time

	Plan      string // name of its plan; empty is the one named default
	Currency  string // of the unit price, as ISO 4217 has it; empty with no price
	UnitPrice string // of a participant minute, a decimal; empty is none
}

// Project owns keys and rooms.
type Project struct {
	ID             string
	OrganizationID string
	Name           string
	Status         Status
	SuspendedAt    time.Time // zero unless the operator has suspended it
	Settings       Settings
	CreatedAt      time.Time
}

// Suspended reports the operator's switch.
func (p Project) Suspended() bool { return !p.SuspendedAt.IsZero() }

// Writable says whether its client may write at all, and if not, why.
func (p Project) Writable() error {
	if p.Suspended() {
		return fault.New(fault.Forbidden, "project_suspended", "the project is suspended")
	}
	return nil
}

// AllowsJoins says whether new rooms and new joins are allowed, and if not, why.
func (p Project) AllowsJoins() error {
	if err := p.Writable(); err != nil {
		return err
	}
	if p.Status != Active {
		return fault.New(fault.Forbidden, "project_inactive", "the project is inactive")
	}
	return nil
}

// Store keeps organizations and projects. Every method may run inside Write.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	InsertOrganization(ctx context.Context, o Organization) error
	// Organization fails with NotFound when there is none of that id.
	Organization(ctx context.Context, id string) (Organization, error)
	CountOrganizations(ctx context.Context) (int, error)
	// LockOrganization and LockProject keep others from changing one until the
	// transaction ends; NotFound when there is none of that id.
	LockOrganization(ctx context.Context, id string) error
	LockProject(ctx context.Context, id string) error
	// UpdateOrganization writes name, plan, currency and unit price.
	UpdateOrganization(ctx context.Context, o Organization) error
	// ProjectIDs returns the ids of an organization's projects.
	ProjectIDs(ctx context.Context, organizationID string) ([]string, error)
	// Organizations and Projects return all there are, the oldest first;
	// Projects those of one organization, or of all when it is "".
	Organizations(ctx context.Context) ([]Organization, error)
	Projects(ctx context.Context, organizationID string) ([]Project, error)
	InsertProject(ctx context.Context, p Project) error
	// Project fails with NotFound when there is none of that id.
	Project(ctx context.Context, id string) (Project, error)
	// UpdateProject writes status, suspension, name and settings.
	UpdateProject(ctx context.Context, p Project) error
}

// Service is what may be done with organizations and projects.
type Service struct {
	store           Store
	now             func() time.Time
	newID           func() string
	invalidateCache func(projectID string)
	recordEvent     EventRecorder
}

// EventRecorder notes what happened to a project, in the transaction that holds its
// lock.
type EventRecorder func(ctx context.Context, p Project, kind event.Type, data event.ProjectData) error

// SetEventRecorder has events of projects noted. Call it before the first change; without
// it they are not.
func (s *Service) SetEventRecorder(tell EventRecorder) { s.recordEvent = tell }

// NewService returns a Service. changed is told, after the commit, of each
// project whose answers from caches are no longer true.
func NewService(store Store, now func() time.Time, newID func() string, changed func(projectID string)) *Service {
	return &Service{store: store, now: now, newID: newID, invalidateCache: changed,
		recordEvent: func(context.Context, Project, event.Type, event.ProjectData) error { return nil }}
}

// CreateOrganization makes an organization. The name has 1 to 255 characters.
func (s *Service) CreateOrganization(ctx context.Context, name string, billing Billing) (Organization, error) {
	if err := checkName(name); err != nil {
		return Organization{}, err
	}
	if billing != Plan && billing != Payg {
		return Organization{}, fault.Invalidf("billing must be %q or %q", Plan, Payg)
	}
	o := Organization{ID: s.newID(), Name: name, Billing: billing, CreatedAt: s.now()}
	return o, s.store.Write(ctx, func(ctx context.Context) error { return s.store.InsertOrganization(ctx, o) })
}

// NoOrganizations reports whether there is no organization yet.
func (s *Service) NoOrganizations(ctx context.Context) (bool, error) {
	n, err := s.store.CountOrganizations(ctx)
	return n == 0, err
}

// Create makes an active project. Called inside a transaction, it joins it.
func (s *Service) Create(ctx context.Context, organizationID, name string) (Project, error) {
	if err := checkName(name); err != nil {
		return Project{}, err
	}
	p := Project{ID: s.newID(), OrganizationID: organizationID, Name: name, Status: Active, CreatedAt: s.now()}
	return p, s.store.Write(ctx, func(ctx context.Context) error {
		if _, err := s.store.Organization(ctx, organizationID); err != nil {
			return err
		}
		return s.store.InsertProject(ctx, p)
	})
}

// Get returns a project, or NotFound.
func (s *Service) Get(ctx context.Context, id string) (Project, error) {
	return s.store.Project(ctx, id)
}

// SetStatus moves the client's switch. A suspended project refuses it.
func (s *Service) SetStatus(ctx context.Context, id string, status Status) error {
	if status != Active && status != Inactive {
		return fault.Invalidf("status must be %q or %q", Active, Inactive)
	}
	return s.update(ctx, id, func(p *Project) error {
		if err := p.Writable(); err != nil {
			return err
		}
		p.Status = status
		return nil
	})
}

// Suspend moves the operator's switch. The client's status stays as it is.
func (s *Service) Suspend(ctx context.Context, id string) error {
	return s.update(ctx, id, func(p *Project) error {
		if !p.Suspended() {
			p.SuspendedAt = s.now()
		}
		return nil
	})
}

// Resume lifts a suspension; the earlier status holds again.
func (s *Service) Resume(ctx context.Context, id string) error {
	return s.update(ctx, id, func(p *Project) error { p.SuspendedAt = time.Time{}; return nil })
}

// Configure replaces a project's settings.
func (s *Service) Configure(ctx context.Context, id string, settings Settings) error {
	_, err := s.Edit(ctx, id, Edit{Settings: func(to *Settings) error { *to = settings; return nil }})
	return err
}

func (s *Service) update(ctx context.Context, id string, change func(*Project) error) error {
	err := s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.LockProject(ctx, id); err != nil {
			return err
		}
		p, err := s.store.Project(ctx, id)
		if err != nil {
			return err
		}
		before := p
		if err := change(&p); err != nil {
			return err
		}
		if err := s.store.UpdateProject(ctx, p); err != nil {
			return err
		}
		if p.Status == before.Status && p.Suspended() == before.Suspended() {
			return nil
		}
		suspended := p.Suspended()
		return s.recordEvent(ctx, p, event.ProjectStatusChanged, event.ProjectData{Status: string(p.Status), Suspended: &suspended})
	})
	if err == nil {
		s.invalidateCache(id)
	}
	return err
}

func checkName(name string) error { return validate.Text("name", name, 1, 255, false) }
