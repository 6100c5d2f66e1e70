package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/project"
)

var organizationTable = db.NewTable("organizations",
	db.Text("id", func(o *project.Organization) *string { return &o.ID }),
	db.Text("name", func(o *project.Organization) *string { return &o.Name }),
	db.Text("billing", func(o *project.Organization) *project.Billing { return &o.Billing }),
	db.Timestamp("created_at", func(o *project.Organization) *time.Time { return &o.CreatedAt }),
	db.Text("plan", func(o *project.Organization) *string { return &o.Plan }),
	db.Text("currency", func(o *project.Organization) *string { return &o.Currency }),
	db.Text("unit_price", func(o *project.Organization) *string { return &o.UnitPrice }),
)

var (
	selectOrganization  = organizationTable.SelectFrom + "WHERE id = $1"
	selectOrganizations = organizationTable.SelectFrom + "ORDER BY id"
	insertOrganization  = organizationTable.InsertQuery()
	updateOrganization  = organizationTable.NewUpdateStmt("name", "plan", "currency", "unit_price")
)

func (s *Store) InsertOrganization(ctx context.Context, o project.Organization) error {
	return s.Exec(ctx, insertOrganization, organizationTable.Values(&o)...)
}

var errOrganizationNotFound = fault.New(fault.NotFound, "organization_not_found", "there is no such organization")

func (s *Store) Organization(ctx context.Context, id string) (project.Organization, error) {
	o, err := db.QueryOne(ctx, s.DB, organizationTable, errOrganizationNotFound, selectOrganization, id)
	if err != nil {
		return project.Organization{}, err
	}
	return *o, nil
}

func (s *Store) CountOrganizations(ctx context.Context) (int, error) {
	var n int
	err := s.QueryRow(ctx, nil, `SELECT count(*) FROM organizations`, nil, &n)
	return n, err
}

// projectRow is a project with its settings as JSON.
type projectRow struct {
	project.Project
	settings string
}

var projectTable = db.NewTable("projects",
	db.Text("id", func(p *projectRow) *string { return &p.ID }),
	db.Text("organization_id", func(p *projectRow) *string { return &p.OrganizationID }),
	db.Text("name", func(p *projectRow) *string { return &p.Name }),
	db.Text("status", func(p *projectRow) *project.Status { return &p.Status }),
	db.Timestamp("suspended_at", func(p *projectRow) *time.Time { return &p.SuspendedAt }),
	db.Text("settings", func(p *projectRow) *string { return &p.settings }),
	db.Timestamp("created_at", func(p *projectRow) *time.Time { return &p.CreatedAt }),
)

var (
	selectProject  = projectTable.SelectFrom + "WHERE id = $1"
	selectProjects = projectTable.SelectFrom + "WHERE organization_id = $1 OR $1 = '' ORDER BY id"
	insertProject  = projectTable.InsertQuery()
	updateProject  = projectTable.NewUpdateStmt("name", "status", "suspended_at", "settings")
)

// newProjectRow returns the row that stores p.
func newProjectRow(p project.Project) (*projectRow, error) {
	settings, err := json.Marshal(p.Settings)
	return &projectRow{p, string(settings)}, err
}

// project returns the project that the row stores.
func (r *projectRow) project() (project.Project, error) {
	if err := json.Unmarshal([]byte(r.settings), &r.Settings); err != nil {
		return project.Project{}, fmt.Errorf("settings of project %s: %w", r.ID, err)
	}
	return r.Project, nil
}

func (s *Store) InsertProject(ctx context.Context, p project.Project) error {
	row, err := newProjectRow(p)
	if err != nil {
		return err
	}
	return s.Exec(ctx, insertProject, projectTable.Values(row)...)
}

var errProjectNotFound = fault.New(fault.NotFound, "project_not_found", "there is no such project")

func (s *Store) Project(ctx context.Context, id string) (project.Project, error) {
	row, err := db.QueryOne(ctx, s.DB, projectTable, errProjectNotFound, selectProject, id)
	if err != nil {
		return project.Project{}, err
	}
	return row.project()
}

func (s *Store) UpdateProject(ctx context.Context, p project.Project) error {
	row, err := newProjectRow(p)
	if err != nil {
		return err
	}
	return s.ExecOne(ctx, errProjectNotFound, updateProject.Query, updateProject.Values(row)...)
}
