package live

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// trustFor bounds how long a node believes its memory although nothing says
// that it should not: a change that could not be told, because the node that
// made it had lost Redis alone and then died, is seen by then.
const trustFor = time.Minute

// Run keeps memory true until ctx ends: it listens for what other nodes
// change, and has memory distrusted for as long as it cannot.
func (r *Redis) Run(ctx context.Context, memory Memory) {
	var work sync.WaitGroup
	for _, part := range r.work {
		work.Go(func() { part(ctx) })
	}
	gone := false
	for {
		memory.Distrust()
		err := r.listen(ctx, memory, func() {
			if gone {
				r.log.Info("Redis is back")
			}
			gone = false
		})
		memory.Distrust()
		r.up.Store(false)
		if ctx.Err() != nil {
			break
		}
		if !gone {
			r.log.Warn("Redis does not answer: credentials are read from the database, counts of calls are unavailable, and limits are those of this node, until it is back", "error", err)
		}
		gone = true
		_ = pause(ctx, beat/2)
	}
	work.Wait()
}

// listen subscribes and follows what is told until the subscription is lost.
func (r *Redis) listen(ctx context.Context, memory Memory, subscribed func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sub := r.client.Subscribe(ctx, changes)
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })() // a reading heeds no context
	defer func() { _ = sub.Close() }()
	if m, err := sub.ReceiveTimeout(ctx, silence); err != nil {
		return err
	} else if _, ok := m.(*redis.Subscription); !ok {
		return errGone
	}
	if err := r.client.Ping(ctx).Err(); err != nil {
		return err
	}
	// From here on no change is missed, so what is read from now on is true
	// until one is told.
	memory.Trust()
	subscribed()
	r.back()
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	work.Go(func() { r.beat(ctx, sub, memory) })
	for {
		m, err := sub.ReceiveTimeout(ctx, silence)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *redis.Subscription:
			return errors.New("the subscription was renewed: something may have been missed")
		case *redis.Message:
			if node, projectID, ok := strings.Cut(m.Payload, " "); ok && node != r.node {
				memory.Forget(projectID)
			}
		}
	}
}

// back says that Redis takes commands again.
func (r *Redis) back() {
	r.up.Store(true)
	for _, tell := range r.returned {
		tell()
	}
	r.tellRest()
}

// beat asks both sorts of connections for a sign of life. The one that listens
// answers to its reader; when the other fails or is slow, commands are not
// tried until it answers again.
func (r *Redis) beat(ctx context.Context, sub *redis.PubSub, memory Memory) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for trusted := time.Duration(0); ; trusted += beat {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if sub.Ping(ctx) != nil {
			_ = sub.Close() // ends the reading too
			return
		}
		if trusted >= r.trustFor {
			trusted = 0
			memory.Trust()
		}
		answer, cancel := context.WithTimeout(ctx, answerWithin)
		err := r.client.Ping(answer).Err()
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.up.Store(false)
		case !r.up.Load():
			r.back()
		default:
			r.tellRest()
		}
	}
}
