package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"parley/internal/audit"
	"parley/internal/config"
	"parley/internal/operator"
	"parley/internal/seal"
	"parley/internal/store"
)

// CreateLocalToken creates a management token in the database itself, for an operator
// who has no other. A server may be running. It never changes the schema, because a
// running server may be of an earlier release.
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
	for _, id := range q.ProjectIDs {
		if _, err := db.Project(ctx, id); err != nil {
			return operator.Token{}, "", fmt.Errorf("--project %s: %w", id, err)
		}
	}
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	return operator.NewService(db, time.Now, newID).Create(audit.WithOrigin(ctx, localOrigin()), q)
}
