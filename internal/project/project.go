// Package project holds organizations and the projects they own: types, rules
// and a Service. It imports the standard library, audit, event, fault and validate
// only.
package project

import (
	"context"
	"time"

	"parley/internal/audit"
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

// Status is the status of a project, which its client sets.
type Status string

// The statuses of a project. Suspension by the operator is independent of them.
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

	Plan      string // name of its plan; empty for the plan named default
	Currency  string // ISO 4217 code of the unit price; empty without a price
	UnitPrice string // decimal price of a participant minute; empty for none

	SuspendedAt time.Time // zero unless the operator has suspended it
}

// Suspended reports whether the operator has suspended the organization and its projects.
func (o Organization) Suspended() bool { return !o.SuspendedAt.IsZero() }

// Project owns keys and rooms.
type Project struct {
	ID             string
	OrganizationID string
	Name           string
	Status         Status
	SuspendedAt    time.Time // zero unless the operator has suspended it
	DeletedAt      time.Time // when its deletion began; zero unless it is being deleted
	Test           bool      // set for ever when it is created; see Draft
	Settings       Settings
	CreatedAt      time.Time
}

// ErrNotFound is the error for a project that does not exist.
var ErrNotFound = fault.New(fault.NotFound, "project_not_found", "there is no such project")

// Suspended reports whether the operator has suspended the project.
func (p Project) Suspended() bool { return !p.SuspendedAt.IsZero() }

// Deleted reports whether the project is being deleted. It is suspended until then.
func (p Project) Deleted() bool { return !p.DeletedAt.IsZero() }

// CheckNotSuspended returns Forbidden if the operator has suspended the project.
func (p Project) CheckNotSuspended() error {
	if p.Suspended() {
		return fault.New(fault.Forbidden, "project_suspended", "the project is suspended")
	}
	return nil
}

// AllowsJoins returns nil if new rooms and new joins are allowed, and otherwise
// Forbidden with the reason.
func (p Project) AllowsJoins() error {
	if err := p.CheckNotSuspended(); err != nil {
		return err
	}
	if p.Status != Active {
		return fault.New(fault.Forbidden, "project_inactive", "the project is inactive")
	}
	return nil
}

// Store stores organizations and projects. Every method may run inside Write.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	InsertOrganization(ctx context.Context, o Organization) error
	// Organization fails with NotFound when there is no organization with this id.
	Organization(ctx context.Context, id string) (Organization, error)
	// LockOrganization and LockProject prevent changes by others until the
	// transaction ends. They fail with NotFound.
	LockOrganization(ctx context.Context, id string) error
	LockProject(ctx context.Context, id string) error
	// UpdateOrganization updates name, plan, currency, unit price and suspension.
	UpdateOrganization(ctx context.Context, o Organization) error
	// ProjectIDs returns the ids of an organization's projects.
	ProjectIDs(ctx context.Context, organizationID string) ([]string, error)
	// Organizations returns at most limit organizations, or all if limit is 0, in the order
	// of their ids, which is that of their creation. The list begins after the id after.
	Organizations(ctx context.Context, after string, limit int) ([]Organization, error)
	// Projects returns a part of the projects in the same order.
	Projects(ctx context.Context, q ListQuery) ([]Project, error)
	// OrganizationNames and ProjectNames return the names of what Organizations and Projects
	// return.
	OrganizationNames(ctx context.Context, after string, limit int) ([]Name, error)
	ProjectNames(ctx context.Context, q ListQuery) ([]Name, error)
	// OrganizationsByID and ProjectsByID return those that exist, in the order of their ids.
	OrganizationsByID(ctx context.Context, ids []string) ([]Organization, error)
	ProjectsByID(ctx context.Context, ids []string) ([]Project, error)
	InsertProject(ctx context.Context, p Project) error
	// Project fails with NotFound when there is no project with this id.
	Project(ctx context.Context, id string) (Project, error)
	// UpdateProject updates status, suspension, name and settings.
	UpdateProject(ctx context.Context, p Project) error
	LogoStore
	audit.Appender
}

// Service creates and changes organizations and projects.
type Service struct {
	store             Store
	now               func() time.Time
	newID             func() string
	invalidateCache   func(projectID string)
	invalidateInDoubt func(projectID string)
	recordEvent       EventRecorder
}

// EventRecorder records an event of a project, in the transaction that holds its
// lock.
type EventRecorder func(ctx context.Context, p Project, kind event.Type, data event.ProjectData) error

// Option is an optional setting of NewService.
type Option func(*Service)

// WithEventRecorder sets the recorder of project events. Without it events are not
// recorded.
func WithEventRecorder(record EventRecorder) Option {
	return func(s *Service) { s.recordEvent = record }
}

// WithInvalidateInDoubt sets the function that is called instead of invalidateCache if the
// outcome of a change is unknown, because the database may still commit it. Without it
// invalidateCache is called.
func WithInvalidateInDoubt(invalidate func(projectID string)) Option {
	return func(s *Service) { s.invalidateInDoubt = invalidate }
}

// NewService returns a Service. It calls invalidateCache after the commit for each
// project that has changed.
func NewService(store Store, now func() time.Time, newID func() string,
	invalidateCache func(projectID string), options ...Option) *Service {
	s := &Service{
		store:             store,
		now:               now,
		newID:             newID,
		invalidateCache:   invalidateCache,
		invalidateInDoubt: invalidateCache,
		recordEvent:       func(context.Context, Project, event.Type, event.ProjectData) error { return nil },
	}
	for _, apply := range options {
		apply(s)
	}
	return s
}

// CreateOrganization creates an organization. The name has 1 to 255 characters.
func (s *Service) CreateOrganization(ctx context.Context, name string, billing Billing) (Organization, error) {
	if err := checkName(name); err != nil {
		return Organization{}, err
	}
	if billing != Plan && billing != Payg {
		return Organization{}, fault.Invalidf("billing must be %q or %q", Plan, Payg)
	}
	o := Organization{ID: s.newID(), Name: name, Billing: billing, CreatedAt: s.now()}
	return o, s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.InsertOrganization(ctx, o); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, o.CreatedAt, audit.Change{Action: audit.OrganizationCreated,
			Subject: o.ID, After: audit.Fields{"name": name, "billing": billing}})
	})
}

// NoOrganizations reports whether there is no organization yet.
func (s *Service) NoOrganizations(ctx context.Context) (bool, error) {
	all, err := s.store.Organizations(ctx, "", 1)
	return err == nil && len(all) == 0, err
}

// Draft is a project to be created.
type Draft struct {
	OrganizationID string
	Name           string // 1 to 255 characters
	// Test makes a test project: it costs nothing, its usage is not part of that of its
	// organization, its rooms are shown as test rooms, and meetings can be simulated in them.
	Test bool
}

// Create creates an active project. Called inside a transaction, it becomes part
// of it. Conflict if the organization is suspended.
func (s *Service) Create(ctx context.Context, d Draft) (Project, error) {
	if err := checkName(d.Name); err != nil {
		return Project{}, err
	}
	p := Project{
		ID:             s.newID(),
		OrganizationID: d.OrganizationID,
		Name:           d.Name,
		Test:           d.Test,
		Status:         Active,
		CreatedAt:      s.now(),
	}
	return p, s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.LockOrganization(ctx, d.OrganizationID); err != nil { // against a suspension meanwhile
			return err
		}
		o, err := s.store.Organization(ctx, d.OrganizationID)
		if err != nil {
			return err
		}
		if o.Suspended() {
			return errOrganizationSuspended
		}
		if err := s.store.InsertProject(ctx, p); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, p.CreatedAt, audit.Change{Action: audit.ProjectCreated, Subject: p.ID,
			ProjectID: p.ID, After: p.createdFields()})
	})
}

// Get returns a project, or NotFound.
func (s *Service) Get(ctx context.Context, id string) (Project, error) {
	return s.store.Project(ctx, id)
}

// SetStatus sets the client's status. Forbidden for a suspended project.
func (s *Service) SetStatus(ctx context.Context, id string, status Status) error {
	if status != Active && status != Inactive {
		return fault.Invalidf("status must be %q or %q", Active, Inactive)
	}
	return s.update(ctx, id, audit.ProjectChanged, func(_ context.Context, p *Project) error {
		if err := p.CheckNotSuspended(); err != nil {
			return err
		}
		p.Status = status
		return nil
	})
}

// Configure replaces a project's settings.
func (s *Service) Configure(ctx context.Context, id string, settings Settings) error {
	_, err := s.Edit(ctx, id, Edit{Settings: func(s *Settings) error { *s = settings; return nil }})
	return err
}

func (s *Service) update(ctx context.Context, id string, action audit.Action,
	change func(ctx context.Context, p *Project) error,
) error {
	err := s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.LockProject(ctx, id); err != nil {
			return err
		}
		p, err := s.store.Project(ctx, id)
		if err != nil {
			return err
		}
		before := p
		if err := change(ctx, &p); err != nil {
			return err
		}
		if err := s.store.UpdateProject(ctx, p); err != nil {
			return err
		}
		if p.Status != before.Status || p.Suspended() != before.Suspended() {
			suspended := p.Suspended()
			if err := s.recordEvent(ctx, p, event.ProjectStatusChanged,
				event.ProjectData{Status: string(p.Status), Suspended: &suspended}); err != nil {
				return err
			}
		}
		return audit.Record(ctx, s.store, s.now(), audit.Change{
			Action:    action,
			Subject:   id,
			ProjectID: id,
			Before:    before.auditFields(),
			After:     p.auditFields(),
		})
	})
	s.invalidateAfter(err, id)
	return err
}

// invalidateAfter invalidates projects after a write that returned err.
func (s *Service) invalidateAfter(err error, ids ...string) {
	invalidate := s.invalidateCache
	if fault.IsInDoubt(err) {
		invalidate = s.invalidateInDoubt
	} else if err != nil {
		return
	}
	for _, id := range ids {
		invalidate(id)
	}
}

func checkName(name string) error { return validate.Text("name", name, 1, validate.MaxText, false) }
