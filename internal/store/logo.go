package store

import (
	"context"

	"parley/internal/db"
	"parley/internal/project"
)

var logoTable = newTable("project_logos",
	text("hash", func(l *project.Logo) *string { return &l.Hash }),
	text("format", func(l *project.Logo) *string { return &l.Format }),
	number("width", func(l *project.Logo) *int { return &l.Width }),
	number("height", func(l *project.Logo) *int { return &l.Height }),
)

func (s *DB) SaveLogo(ctx context.Context, projectID string, l project.Logo, image []byte) error {
	return s.Exec(ctx, `INSERT INTO project_logos (hash, format, width, height, project_id, image)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (project_id) DO UPDATE SET hash = excluded.hash, format = excluded.format,
			width = excluded.width, height = excluded.height, image = excluded.image`,
		logoTable.values(&l, projectID, image)...)
}

func (s *DB) DeleteLogo(ctx context.Context, projectID string) error {
	return s.Exec(ctx, `DELETE FROM project_logos WHERE project_id = $1`, projectID)
}

var selectLogo = logoTable.selectFrom + "WHERE project_id = $1"

func (s *DB) Logo(ctx context.Context, projectID string) (project.Logo, error) {
	var l project.Logo
	err := s.Query(ctx, selectLogo, []any{projectID}, func(row db.Row) error { return row.Scan(logoTable.dests(&l)...) })
	return l, err
}

var selectLogoImage = "SELECT " + logoTable.selectList + ", image FROM project_logos WHERE hash = $1 LIMIT 1"

func (s *DB) LogoImage(ctx context.Context, hash string) (l project.Logo, image []byte, err error) {
	err = s.QueryRow(ctx, project.ErrLogoNotFound, selectLogoImage, []any{hash}, logoTable.dests(&l, &image)...)
	return l, image, err
}
