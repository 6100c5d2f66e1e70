package store

import (
	"context"
	"encoding/json"
	"fmt"

	"parley/internal/fault"
	"parley/internal/project"
)

func (db *DB) InsertOrganization(ctx context.Context, o project.Organization) error {
	return db.exec(ctx, `INSERT INTO organizations (id, name, billing, created_at) VALUES ($1, $2, $3, $4)`,
		o.ID, o.Name, o.Billing, nullMillis(o.CreatedAt))
}

var errOrganizationNotFound = fault.New(fault.NotFound, "organization_not_found", "there is no such organization")

func (db *DB) Organization(ctx context.Context, id string) (project.Organization, error) {
	o := project.Organization{ID: id}
	err := db.queryRow(ctx, errOrganizationNotFound,
		`SELECT name, billing, created_at, plan, currency, unit_price FROM organizations WHERE id = $1`, []any{id},
		&o.Name, &o.Billing, nullTime{&o.CreatedAt}, &o.Plan, &o.Currency, &o.UnitPrice)
	return o, err
}

func (db *DB) CountOrganizations(ctx context.Context) (int, error) {
	var n int
	err := db.queryRow(ctx, nil, `SELECT count(*) FROM organizations`, nil, &n)
	return n, err
}

func (db *DB) InsertProject(ctx context.Context, p project.Project) error {
	settings, err := json.Marshal(p.Settings)
	if err != nil {
		return err
	}
	return db.exec(ctx, `INSERT INTO projects (id, organization_id, name, status, suspended_at, settings, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		p.ID, p.OrganizationID, p.Name, p.Status, nullMillis(p.SuspendedAt), string(settings), nullMillis(p.CreatedAt))
}

var errProjectNotFound = fault.New(fault.NotFound, "project_not_found", "there is no such project")

func (db *DB) Project(ctx context.Context, id string) (project.Project, error) {
	p := project.Project{ID: id}
	var settings string
	err := db.queryRow(ctx, errProjectNotFound,
		`SELECT organization_id, name, status, suspended_at, settings, created_at FROM projects WHERE id = $1`, []any{id},
		&p.OrganizationID, &p.Name, &p.Status, nullTime{&p.SuspendedAt}, &settings, nullTime{&p.CreatedAt})
	if err != nil {
		return project.Project{}, err
	}
	if err := json.Unmarshal([]byte(settings), &p.Settings); err != nil {
		return project.Project{}, fmt.Errorf("settings of project %s: %w", id, err)
	}
	return p, nil
}

func (db *DB) UpdateProject(ctx context.Context, p project.Project) error {
	settings, err := json.Marshal(p.Settings)
	if err != nil {
		return err
	}
	return db.execOne(ctx, errProjectNotFound, `UPDATE projects SET name = $2, status = $3, suspended_at = $4, settings = $5 WHERE id = $1`,
		p.ID, p.Name, p.Status, nullMillis(p.SuspendedAt), string(settings))
}
