package store

import (
	"context"

	"parley/internal/project"
)

func (db *DB) LockOrganization(ctx context.Context, id string) error {
	return db.lockRow(ctx, errOrganizationNotFound, "organizations", id)
}

func (db *DB) UpdateOrganization(ctx context.Context, o project.Organization) error {
	return db.execOne(ctx, errOrganizationNotFound, updateOrganization.query, updateOrganization.values(&o)...)
}

func (db *DB) ProjectIDs(ctx context.Context, organizationID string) ([]string, error) {
	return db.queryStrings(ctx, `SELECT id FROM projects WHERE organization_id = $1 ORDER BY id`, organizationID)
}
