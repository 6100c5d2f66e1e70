package store

import (
	"context"

	"parley/internal/project"
)

func (s *Store) LockOrganization(ctx context.Context, id string) error {
	return s.LockRow(ctx, errOrganizationNotFound, "organizations", id)
}

func (s *Store) UpdateOrganization(ctx context.Context, o project.Organization) error {
	return s.ExecOne(ctx, errOrganizationNotFound, updateOrganization.Query, updateOrganization.Values(&o)...)
}

func (s *Store) ProjectIDs(ctx context.Context, organizationID string) ([]string, error) {
	return s.QueryStrings(ctx, `SELECT id FROM projects WHERE organization_id = $1 ORDER BY id`, organizationID)
}
