package store

import (
	"context"
	"encoding/json"
	"fmt"

	"parley/internal/fault"
	"parley/internal/project"
)

// InsertOrganization implements project.Store.
func (db *DB) InsertOrganization(ctx context.Context, o project.Organization) error {
	return db.must(ctx, `INSERT INTO organizations (id, name, billing, created_at) VALUES ($1, $2, $3, $4)`,
		o.ID, o.Name, o.Billing, millis(o.CreatedAt))
}

var noOrganization = fault.New(fault.NotFound, "organization_not_found", "there is no such organization")

// Organization implements project.Store.
func (db *DB) Organization(ctx context.Context, id string) (project.Organization, error) {
	o := project.Organization{ID: id}
	err := db.one(ctx, noOrganization,
		`SELECT name, billing, created_at, plan, currency, unit_price FROM organizations WHERE id = $1`, []any{id},
		&o.Name, &o.Billing, moment{&o.CreatedAt}, &o.Plan, &o.Currency, &o.UnitPrice)
	return o, err
}

// CountOrganizations implements project.Store.
func (db *DB) CountOrganizations(ctx context.Context) (int, error) {
	var n int
	err := db.one(ctx, nil, `SELECT count(*) FROM organizations`, nil, &n)
	return n, err
}

// InsertProject implements project.Store.
func (db *DB) InsertProject(ctx context.Context, p project.Project) error {
	settings, err := json.Marshal(p.Settings)
	if err != nil {
		return err
	}
	return db.must(ctx, `INSERT INTO projects (id, organization_id, name, status, suspended_at, settings, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		p.ID, p.OrganizationID, p.Name, p.Status, millis(p.SuspendedAt), string(settings), millis(p.CreatedAt))
}

var noProject = fault.New(fault.NotFound, "project_not_found", "there is no such project")

// Project implements project.Store.
func (db *DB) Project(ctx context.Context, id string) (project.Project, error) {
	p := project.Project{ID: id}
	var settings string
	err := db.one(ctx, noProject,
		`SELECT organization_id, name, status, suspended_at, settings, created_at FROM projects WHERE id = $1`, []any{id},
		&p.OrganizationID, &p.Name, &p.Status, moment{&p.SuspendedAt}, &settings, moment{&p.CreatedAt})
	if err != nil {
		return project.Project{}, err
	}
	if err := json.Unmarshal([]byte(settings), &p.Settings); err != nil {
		return project.Project{}, fmt.Errorf("settings of project %s: %w", id, err)
	}
	return p, nil
}

// UpdateProject implements project.Store.
func (db *DB) UpdateProject(ctx context.Context, p project.Project) error {
	settings, err := json.Marshal(p.Settings)
	if err != nil {
		return err
	}
	return db.changed(ctx, noProject, `UPDATE projects SET name = $2, status = $3, suspended_at = $4, settings = $5 WHERE id = $1`,
		p.ID, p.Name, p.Status, millis(p.SuspendedAt), string(settings))
}
