package cluster

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// cacheMaxAge is how long a node uses its cache without dropping it. It bounds
// the effect of a change that was never published, because the node that made it
// lost its connection to Redis and then died.
const cacheMaxAge = time.Minute

// Run invalidates the cache on the changes of other nodes until ctx ends. While
// it cannot receive changes, the cache is bypassed. Run also runs the exchanges
// of the limiters and counters that were created for this Redis.
func (r *Redis) Run(ctx context.Context, cache Cache) {
	var work sync.WaitGroup
	for _, task := range r.tasks {
		work.Go(func() { task(ctx) })
	}
	lost := false
	for {
		cache.BypassCache()
		err := r.listen(ctx, cache, func() {
			if lost {
				r.log.Info("Redis is back")
			}
			lost = false
		})
		cache.BypassCache()
		r.up.Store(false)
		if ctx.Err() != nil {
			break
		}
		if !lost {
			r.log.Warn("connect to Redis failed, will retry; until then credentials are read from the database, "+
				"call counts are unavailable, and limits hold for each node alone", "error", err)
		}
		lost = true
		_ = sleep(ctx, pingInterval/2)
	}
	work.Wait()
}

// listen subscribes and applies changes until the subscription is lost.
func (r *Redis) listen(ctx context.Context, cache Cache, subscribed func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sub := r.client.Subscribe(ctx, changesChannel)
	// Close ends ReceiveTimeout, which ignores the end of its context.
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	defer func() { _ = sub.Close() }()
	if m, err := sub.ReceiveTimeout(ctx, subscriptionTimeout); err != nil {
		return err
	} else if _, ok := m.(*redis.Subscription); !ok {
		return errUnavailable
	}
	if err := r.client.Ping(ctx).Err(); err != nil {
		return err
	}
	// The subscription receives every change from here on, so entries that are
	// read from now on are valid until a change arrives.
	cache.EnableCache()
	subscribed()
	r.markAvailable()
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	work.Go(func() { r.pingLoop(ctx, sub, cache) })
	for {
		m, err := sub.ReceiveTimeout(ctx, subscriptionTimeout)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *redis.Subscription:
			return errors.New("the client subscribed again, so changes may have been missed")
		case *redis.Message:
			if nodeID, projectID, ok := strings.Cut(m.Payload, " "); ok && nodeID != r.nodeID {
				cache.Invalidate(projectID)
			}
		}
	}
}

// markAvailable allows commands again and sends what is pending.
func (r *Redis) markAvailable() {
	r.up.Store(true)
	for _, f := range r.onAvailable {
		f()
	}
	r.publishPending()
}

// pingLoop pings both kinds of connections. The reply on the subscription goes to
// listen, which ends if there is none. If a ping for commands fails or is slow,
// no commands are sent until the next ping succeeds.
func (r *Redis) pingLoop(ctx context.Context, sub *redis.PubSub, cache Cache) {
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	for age := time.Duration(0); ; age += pingInterval {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if sub.Ping(ctx) != nil {
			_ = sub.Close() // ends listen too
			return
		}
		if age >= r.cacheMaxAge {
			age = 0
			cache.EnableCache()
		}
		pingCtx, cancel := context.WithTimeout(ctx, commandTimeout)
		err := r.client.Ping(pingCtx).Err()
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.up.Store(false)
		case !r.up.Load():
			r.markAvailable()
		default:
			r.publishPending()
		}
	}
}
