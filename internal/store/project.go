package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"parley/internal/event"
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
	timestamp("suspended_at", func(o *project.Organization) *time.Time { return &o.SuspendedAt }),
)

// The ends of statements that read a page of a list, the oldest first.
const (
	afterID               = "WHERE id > $1 ORDER BY id LIMIT $2"
	ofOrganizationAfterID = "WHERE organization_id = $1 AND id > $2 ORDER BY organization_id, id LIMIT $3"
)

var (
	selectOrganization  = organizationTable.selectFrom + "WHERE id = $1"
	selectOrganizations = organizationTable.selectFrom + afterID
	insertOrganization  = organizationTable.insertQuery()
	updateOrganization  = organizationTable.newUpdateStmt("name", "plan", "currency", "unit_price", "suspended_at")
)

func (s *DB) InsertOrganization(ctx context.Context, o project.Organization) error {
	return s.Exec(ctx, insertOrganization, organizationTable.values(&o)...)
}

var errOrganizationNotFound = fault.New(fault.NotFound, "organization_not_found", "there is no such organization")

func (s *DB) Organization(ctx context.Context, id string) (project.Organization, error) {
	o, err := queryOne(ctx, s, organizationTable, errOrganizationNotFound, selectOrganization, id)
	if err != nil {
		return project.Organization{}, err
	}
	return *o, nil
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
	timestamp("deleted_at", func(p *projectRow) *time.Time { return &p.DeletedAt }).withConstant("NULL"),
	boolean("test", func(p *projectRow) *bool { return &p.Test }),
	text("settings", func(p *projectRow) *string { return &p.settings }),
	timestamp("created_at", func(p *projectRow) *time.Time { return &p.CreatedAt }),
)

var (
	selectProject     = projectTable.selectFrom + "WHERE id = $1"
	selectProjects    = projectTable.selectFrom + afterID
	selectOwnProjects = projectTable.selectFrom + ofOrganizationAfterID
	insertProject     = projectTable.insertQuery()
	updateProject     = projectTable.newUpdateStmt("name", "status", "suspended_at", "settings")
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

func (s *DB) InsertProject(ctx context.Context, p project.Project) error {
	row, err := newProjectRow(p)
	if err != nil {
		return err
	}
	return s.Exec(ctx, insertProject, projectTable.values(row)...)
}

func (s *DB) Project(ctx context.Context, id string) (project.Project, error) {
	row, err := queryOne(ctx, s, projectTable, project.ErrNotFound, selectProject, id)
	if err != nil {
		return project.Project{}, err
	}
	return row.project()
}

func (s *DB) UpdateProject(ctx context.Context, p project.Project) error {
	row, err := newProjectRow(p)
	if err != nil {
		return err
	}
	return s.ExecOne(ctx, project.ErrNotFound, updateProject.query, updateProject.values(row)...)
}

func (s *DB) Projects(ctx context.Context, q project.ListQuery) ([]project.Project, error) {
	if q.OrganizationID == "" {
		return s.queryProjects(ctx, selectProjects, q.After, limitOrAll(q.Limit))
	}
	return s.queryProjects(ctx, selectOwnProjects, q.OrganizationID, q.After, limitOrAll(q.Limit))
}

// limitOrAll returns the value of LIMIT for a number of rows, of which 0 means all.
func limitOrAll(limit int) int { return cmp.Or(limit, math.MaxInt32) }

func (s *DB) queryProjects(ctx context.Context, q string, args ...any) ([]project.Project, error) {
	rows, err := queryAll(ctx, s, projectTable, q, args...)
	if err != nil {
		return nil, err
	}
	var all []project.Project
	for i := range rows {
		p, err := rows[i].project()
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (s *DB) ProjectSequence(ctx context.Context, projectID string) (int64, error) {
	var n int64
	err := s.QueryRow(ctx, nil, `SELECT coalesce(max(sequence), 0) FROM project_events WHERE project_id = $1`,
		[]any{projectID}, &n)
	return n, err
}

// projectEventRow is an event of a project with its data as JSON.
type projectEventRow struct {
	event.ProjectEvent
	data string
}

var projectEventTable = newTable("project_events",
	text("id", func(r *projectEventRow) *string { return &r.ID }),
	text("project_id", func(r *projectEventRow) *string { return &r.ProjectID }),
	number("sequence", func(r *projectEventRow) *int64 { return &r.Sequence }),
	text("type", func(r *projectEventRow) *event.Type { return &r.Type }),
	timestamp("at", func(r *projectEventRow) *time.Time { return &r.At }),
	text("data", func(r *projectEventRow) *string { return &r.data }),
)

var insertProjectEvent = projectEventTable.insertQuery()

func (s *DB) AppendProjectEvent(ctx context.Context, e event.ProjectEvent) error {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return fmt.Errorf("event %s: %w", e.Type, err)
	}
	return s.Exec(ctx, insertProjectEvent, projectEventTable.values(&projectEventRow{e, string(data)})...)
}
