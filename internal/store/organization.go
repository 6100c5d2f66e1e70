package store

import (
	"context"

	"parley/internal/project"
)

func (db *DB) LockOrganization(ctx context.Context, id string) error {
	return db.lockRow(ctx, errOrganizationNotFound, "organizations", id)
}

func (db *DB) UpdateOrganization(ctx context.Context, o project.Organization) error {
	return db.execOne(ctx, errOrganizationNotFound, `UPDATE organizations SET name = $2, plan = $3, currency = $4, unit_price = $5 WHERE id = $1`,
		o.ID, o.Name, o.Plan, o.Currency, o.UnitPrice)
}

func (db *DB) ProjectIDs(ctx context.Context, organizationID string) ([]string, error) {
	var ids []string
	err := db.query(ctx, `SELECT id FROM projects WHERE organization_id = $1 ORDER BY id`, []any{organizationID},
		func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, err
}
