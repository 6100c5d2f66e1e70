package app

import (
	"context"
	"errors"
	"fmt"

	"parley/internal/live"
	"parley/internal/store"
)

// join finds Redis, if there is one to share with other nodes.
func (a *App) join(ctx context.Context) (err error) {
	if a.cfg.RedisURL == "" {
		return nil
	}
	if a.cfg.DatabaseURL == "" {
		return errors.New("--redis-url (PARLEY_REDIS_URL): nodes need a database that they share: add --database-url postgres://…")
	}
	if a.redis, err = live.Connect(ctx, a.cfg.RedisURL.Reveal(), a.log); err != nil {
		return fmt.Errorf("--redis-url (PARLEY_REDIS_URL): %w", err)
	}
	return nil
}

// claim makes sure that all processes on a PostgreSQL database know of each
// other: without Redis there is one.
func (a *App) claim(ctx context.Context) (err error) {
	if a.cfg.DatabaseURL == "" {
		return nil
	}
	a.owned, err = store.ClaimPostgres(ctx, a.cfg.DatabaseURL.Reveal(), a.redis != nil, func(err error) {
		a.log.Error("this process has lost its claim to the database; it goes on, and tries to have it again", "error", err)
	})
	switch {
	case !errors.Is(err, store.ErrClaimed):
		return err
	case a.redis != nil:
		return fmt.Errorf("--database-url (PARLEY_DATABASE_URL): %w without --redis-url; several need the same --redis-url each", err)
	}
	return fmt.Errorf("--database-url (PARLEY_DATABASE_URL): %w; several need the same --redis-url each", err)
}

// shareWithNodes has memory follow what other nodes change, bounds hold on all
// of them together, and rooms go on where a node is lost.
func (a *App) shareWithNodes(limits bounds) {
	if a.redis == nil {
		return
	}
	a.keys.TellOthers(a.redis.Tell)
	a.keys.Distrust() // until Redis is listened to
	limits.share(a.redis)
	a.rooms.Share()
}
