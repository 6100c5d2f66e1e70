package instance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/internal/audit"
	"parley/internal/config"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/validate"
)

// CreateLocalToken creates a management token in the database itself, for an operator
// who has no other. The projects of q are IDs or unique names. A server may be running. It
// never changes the schema, because a running server may be of an earlier release.
func CreateLocalToken(
	ctx context.Context, storage config.Storage, q operator.NewToken,
) (operator.Token, seal.Secret, error) {
	cfg := config.Config{Storage: storage}
	if err := checkDatabaseID(ctx, cfg); err != nil {
		return operator.Token{}, "", err
	}
	usable, err := store.CanUse(ctx, cfg.DatabaseURL.Reveal(), cfg.DataDir)
	if err != nil {
		return operator.Token{}, "", err
	}
	if !usable {
		return operator.Token{}, "", errors.New("--local: the database does not exist or is not of this release: " +
			"check --data-dir and --database-url, and use the parley of the running server")
	}
	db, err := OpenStore(ctx, cfg)
	if err != nil {
		return operator.Token{}, "", err
	}
	defer func() { _ = db.Close() }()
	var ids []string
	for _, given := range q.ProjectIDs {
		id, err := projectID(ctx, db, given)
		if err != nil {
			return operator.Token{}, "", fmt.Errorf("--project %s: %w", given, err)
		}
		ids = append(ids, id)
	}
	q.ProjectIDs = ids
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	return operator.NewService(db, time.Now, newID).Create(audit.WithOrigin(ctx, localOrigin()), q)
}

// projectID returns the ID of a project that is given by ID or by unique name.
func projectID(ctx context.Context, db *store.DB, given string) (string, error) {
	if id, ok := validate.ParseUUID(given); ok {
		p, err := db.Project(ctx, id)
		return p.ID, err
	}
	all, err := db.ProjectNames(ctx, project.ListQuery{})
	if err != nil {
		return "", err
	}
	var named []string
	for _, p := range all {
		if p.Name == given {
			named = append(named, p.ID)
		}
	}
	switch len(named) {
	case 0:
		return "", project.ErrNotFound
	case 1:
		return named[0], nil
	}
	return "", fmt.Errorf("%d projects have this name: give one of the IDs %s", len(named), strings.Join(named, ", "))
}
