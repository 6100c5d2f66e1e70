package app

import (
	"context"
	"errors"
	"fmt"

	"parley/internal/cluster"
	"parley/internal/db"
)

// connectRedis connects to Redis if --redis-url is set.
func (a *App) connectRedis(ctx context.Context) (err error) {
	if a.cfg.RedisURL == "" {
		return nil
	}
	if a.cfg.DatabaseURL == "" {
		return errors.New("--redis-url (PARLEY_REDIS_URL) needs a database that all nodes share: " +
			"add --database-url postgres://…")
	}
	if a.redis, err = cluster.Connect(ctx, a.cfg.RedisURL.Reveal(), a.log); err != nil {
		return fmt.Errorf("--redis-url (PARLEY_REDIS_URL): %w", err)
	}
	return nil
}

// lockDatabase acquires the instance lock of a PostgreSQL database. Without
// Redis only one process may use the database, because processes could not
// share their limits and invalidations.
func (a *App) lockDatabase(ctx context.Context) (err error) {
	if a.cfg.DatabaseURL == "" {
		return nil
	}
	a.instanceLock, err = db.AcquireInstanceLock(ctx, a.cfg.DatabaseURL.Reveal(), a.redis != nil, func(err error) {
		a.log.Error("database instance lock lost, will retry", "error", err)
	})
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, db.ErrInUse):
		return fmt.Errorf("--database-url (PARLEY_DATABASE_URL): %w", err)
	case a.redis != nil:
		return fmt.Errorf("--database-url (PARLEY_DATABASE_URL): %w without --redis-url; "+
			"to run several processes, give each the same --redis-url", err)
	}
	return fmt.Errorf("--database-url (PARLEY_DATABASE_URL): %w; "+
		"to run several processes, give each the same --redis-url", err)
}
