package store

import (
	"context"
	"slices"

	"parley/internal/project"
)

var (
	organizationNameTable = newTable("organizations", nameColumns...)
	projectNameTable      = newTable("projects", nameColumns...)

	nameColumns = []column[project.Name]{
		text("id", func(n *project.Name) *string { return &n.ID }),
		text("name", func(n *project.Name) *string { return &n.Name }),
	}
)

func (s *DB) OrganizationNames(ctx context.Context, after string, limit int) ([]project.Name, error) {
	return queryAll(ctx, s, organizationNameTable, organizationNameTable.selectFrom+afterID, after, limitOrAll(limit))
}

func (s *DB) ProjectNames(ctx context.Context, q project.ListQuery) ([]project.Name, error) {
	if q.OrganizationID == "" {
		return queryAll(ctx, s, projectNameTable, projectNameTable.selectFrom+afterID, q.After, limitOrAll(q.Limit))
	}
	return queryAll(ctx, s, projectNameTable, projectNameTable.selectFrom+ofOrganizationAfterID,
		q.OrganizationID, q.After, limitOrAll(q.Limit))
}

func (s *DB) OrganizationsByID(ctx context.Context, ids []string) ([]project.Organization, error) {
	var all []project.Organization
	for batch := range slices.Chunk(ids, projectBatch) {
		list, args := inList(nil, batch)
		found, err := queryAll(ctx, s, organizationTable,
			organizationTable.selectFrom+"WHERE id IN "+list+" ORDER BY id", args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (s *DB) ProjectsByID(ctx context.Context, ids []string) ([]project.Project, error) {
	var all []project.Project
	for batch := range slices.Chunk(ids, projectBatch) {
		list, args := inList(nil, batch)
		found, err := s.queryProjects(ctx, projectTable.selectFrom+"WHERE id IN "+list+" ORDER BY id", args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
