package app

import (
	"context"
	"errors"
	"fmt"

	"parley/internal/cluster"
	"parley/internal/store"
)

// connectRedis finds Redis, if there is one to share with other nodes.
func (a *App) connectRedis(ctx context.Context) (err error) {
	if a.cfg.RedisURL == "" {
		return nil
	}
	if a.cfg.DatabaseURL == "" {
		return errors.New("--redis-url (PARLEY_REDIS_URL): nodes need a database that they share: add --database-url postgres://…")
	}
	if a.redis, err = cluster.Connect(ctx, a.cfg.RedisURL.Reveal(), a.log); err != nil {
		return fmt.Errorf("--redis-url (PARLEY_REDIS_URL): %w", err)
	}
	return nil
}

// claimDatabase makes sure that all processes on a PostgreSQL database know of each
// other: without Redis there is one.
func (a *App) claimDatabase(ctx context.Context) (err error) {
	if a.cfg.DatabaseURL == "" {
		return nil
	}
	a.dbClaim, err = store.AcquireInstanceLock(ctx, a.cfg.DatabaseURL.Reveal(), a.redis != nil, func(err error) {
		a.log.Error("this process has lost its claim to the database; it goes on, and tries to have it again", "error", err)
	})
	switch {
	case !errors.Is(err, store.ErrDatabaseInUse):
		return err
	case a.redis != nil:
		return fmt.Errorf("--database-url (PARLEY_DATABASE_URL): %w without --redis-url; several need the same --redis-url each", err)
	}
	return fmt.Errorf("--database-url (PARLEY_DATABASE_URL): %w; several need the same --redis-url each", err)
}

// enableClustering makes the caches follow the changes of other nodes, and moves
// the rooms of a lost node to the others.
func (a *App) enableClustering() {
	if a.redis == nil {
		return
	}
	a.keys.SetInvalidationPublisher(a.redis.PublishChange)
	a.keys.BypassCache() // until Redis is listened to
	a.rooms.EnableCluster()
}
