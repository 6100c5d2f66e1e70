package store

import (
	"context"

	"parley/internal/project"
)

func (s *DB) LockOrganization(ctx context.Context, id string) error {
	return s.lockRow(ctx, errOrganizationNotFound, "organizations", id)
}

func (s *DB) UpdateOrganization(ctx context.Context, o project.Organization) error {
	return s.ExecOne(ctx, errOrganizationNotFound, updateOrganization.query, updateOrganization.values(&o)...)
}

func (s *DB) TestProjectIDs(ctx context.Context, organizationID string) ([]string, error) {
	return s.queryStrings(ctx, `SELECT id FROM projects WHERE organization_id = $1 AND test ORDER BY id`, organizationID)
}

func (s *DB) ProjectIDs(ctx context.Context, organizationID string) ([]string, error) {
	return s.queryStrings(ctx, `SELECT id FROM projects WHERE organization_id = $1 ORDER BY id`, organizationID)
}

func (s *DB) Organizations(ctx context.Context, after string, limit int) ([]project.Organization, error) {
	return queryAll(ctx, s, organizationTable, selectOrganizations, after, limitOrAll(limit))
}
