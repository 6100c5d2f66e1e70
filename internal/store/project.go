package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

var organizationTable = newTable("organizations",
	text("id", func(o *project.Organization) *string { return &o.ID }),
	text("name", func(o *project.Organization) *string { return &o.Name }),
	text("billing", func(o *project.Organization) *project.Billing { return &o.Billing }),
	timestamp("created_at", func(o *project.Organization) *time.Time { return &o.CreatedAt }),
	text("plan", func(o *project.Organization) *string { return &o.Plan }),
	text("currency", func(o *project.Organization) *string { return &o.Currency }),
	text("unit_price", func(o *project.Organization) *string { return &o.UnitPrice }),
)

var (
	selectOrganization  = organizationTable.selectFrom + "WHERE id = $1"
	selectOrganizations = organizationTable.selectFrom + "ORDER BY id"
	insertOrganization  = organizationTable.insertQuery()
	updateOrganization  = organizationTable.newUpdateStmt("name", "plan", "currency", "unit_price")
)

func (db *DB) InsertOrganization(ctx context.Context, o project.Organization) error {
	return db.exec(ctx, insertOrganization, organizationTable.values(&o)...)
}

var errOrganizationNotFound = fault.New(fault.NotFound, "organization_not_found", "there is no such organization")

func (db *DB) Organization(ctx context.Context, id string) (project.Organization, error) {
	o, err := queryOne(ctx, db, organizationTable, errOrganizationNotFound, selectOrganization, id)
	if err != nil {
		return project.Organization{}, err
	}
	return *o, nil
}

func (db *DB) CountOrganizations(ctx context.Context) (int, error) {
	var n int
	err := db.queryRow(ctx, nil, `SELECT count(*) FROM organizations`, nil, &n)
	return n, err
}

// projectRow is a project with its settings as JSON.
type projectRow struct {
	project.Project
	settings string
}

var projectTable = newTable("projects",
	text("id", func(p *projectRow) *string { return &p.ID }),
	text("organization_id", func(p *projectRow) *string { return &p.OrganizationID }),
	text("name", func(p *projectRow) *string { return &p.Name }),
	text("status", func(p *projectRow) *project.Status { return &p.Status }),
	timestamp("suspended_at", func(p *projectRow) *time.Time { return &p.SuspendedAt }),
	text("settings", func(p *projectRow) *string { return &p.settings }),
	timestamp("created_at", func(p *projectRow) *time.Time { return &p.CreatedAt }),
)

var (
	selectProject  = projectTable.selectFrom + "WHERE id = $1"
	selectProjects = projectTable.selectFrom + "WHERE organization_id = $1 OR $1 = '' ORDER BY id"
	insertProject  = projectTable.insertQuery()
	updateProject  = projectTable.newUpdateStmt("name", "status", "suspended_at", "settings")
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

func (db *DB) InsertProject(ctx context.Context, p project.Project) error {
	row, err := newProjectRow(p)
	if err != nil {
		return err
	}
	return db.exec(ctx, insertProject, projectTable.values(row)...)
}

var errProjectNotFound = fault.New(fault.NotFound, "project_not_found", "there is no such project")

func (db *DB) Project(ctx context.Context, id string) (project.Project, error) {
	row, err := queryOne(ctx, db, projectTable, errProjectNotFound, selectProject, id)
	if err != nil {
		return project.Project{}, err
	}
	return row.project()
}

func (db *DB) UpdateProject(ctx context.Context, p project.Project) error {
	row, err := newProjectRow(p)
	if err != nil {
		return err
	}
	return db.execOne(ctx, errProjectNotFound, updateProject.query, updateProject.values(row)...)
}
