package cluster

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// cacheMaxAge bounds how long a node believes its memory although nothing says
// that it should not: a change that could not be told, because the node that
// made it had lost Redis alone and then died, is seen by then.
const cacheMaxAge = time.Minute

// Run keeps memory true until ctx ends: it listens for what other nodes
// change, and has memory distrusted for as long as it cannot.
func (r *Redis) Run(ctx context.Context, memory Cache) {
	var work sync.WaitGroup
	for _, part := range r.tasks {
		work.Go(func() { part(ctx) })
	}
	gone := false
	for {
		memory.BypassCache()
		err := r.listen(ctx, memory, func() {
			if gone {
				r.log.Info("Redis is back")
			}
			gone = false
		})
		memory.BypassCache()
		r.up.Store(false)
		if ctx.Err() != nil {
			break
		}
		if !gone {
			r.log.Warn("Redis does not answer: credentials are read from the database, counts of calls are unavailable, and limits are those of this node, until it is back", "error", err)
		}
		gone = true
		_ = sleep(ctx, pingInterval/2)
	}
	work.Wait()
}

// listen subscribes and follows what is told until the subscription is lost.
func (r *Redis) listen(ctx context.Context, memory Cache, subscribed func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sub := r.client.Subscribe(ctx, changesChannel)
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })() // a reading heeds no context
	defer func() { _ = sub.Close() }()
	if m, err := sub.ReceiveTimeout(ctx, subscriptionTimeout); err != nil {
		return err
	} else if _, ok := m.(*redis.Subscription); !ok {
		return errUnavailable
	}
	if err := r.client.Ping(ctx).Err(); err != nil {
		return err
	}
	// From here on no change is missed, so what is read from now on is true
	// until one is told.
	memory.EnableCache()
	subscribed()
	r.markAvailable()
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	work.Go(func() { r.pingLoop(ctx, sub, memory) })
	for {
		m, err := sub.ReceiveTimeout(ctx, subscriptionTimeout)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *redis.Subscription:
			return errors.New("the subscription was renewed: something may have been missed")
		case *redis.Message:
			if node, projectID, ok := strings.Cut(m.Payload, " "); ok && node != r.nodeID {
				memory.Invalidate(projectID)
			}
		}
	}
}

// markAvailable says that Redis takes commands again.
func (r *Redis) markAvailable() {
	r.up.Store(true)
	for _, tell := range r.onAvailable {
		tell()
	}
	r.publishPending()
}

// pingLoop asks both sorts of connections for a sign of life. The one that listens
// answers to its reader; when the other fails or is slow, commands are not
// tried until it answers again.
func (r *Redis) pingLoop(ctx context.Context, sub *redis.PubSub, memory Cache) {
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	for trusted := time.Duration(0); ; trusted += pingInterval {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if sub.Ping(ctx) != nil {
			_ = sub.Close() // ends the reading too
			return
		}
		if trusted >= r.cacheMaxAge {
			trusted = 0
			memory.EnableCache()
		}
		answer, cancel := context.WithTimeout(ctx, commandTimeout)
		err := r.client.Ping(answer).Err()
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
