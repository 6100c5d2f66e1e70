package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/internal/ratelimit"
)

const (
	// exchangeInterval is the minimum time between two exchanges.
	exchangeInterval = 10 * time.Millisecond
	// exchangeBatch is the maximum number of callers in one exchange, because
	// Redis executes nothing else meanwhile.
	exchangeBatch = 500
)

var _ ratelimit.Exchange = (*RateExchange)(nil)

// RateExchange makes the limit of a ratelimit.Limiter hold for all nodes
// together. Each node allows calls by its own memory and reports them to Redis
// right after, and the result from Redis replaces what the node knew. So no call
// waits, and a caller that uses several nodes at once exceeds the limit by at
// most the calls that fit between two exchanges. Those calls count too.
type RateExchange struct {
	redis *Redis
	name  string
	now   func() time.Time
	wake  chan struct{}

	mu      sync.Mutex
	pending []ratelimit.Usage
}

// NewRateExchange returns the exchange of one limiter, which has the same name
// on all nodes. Create it before Redis.Run. While Redis does not answer, each
// node limits by itself.
func NewRateExchange(redis *Redis, name string, now func() time.Time) *RateExchange {
	e := &RateExchange{redis: redis, name: name, now: now, wake: make(chan struct{}, 1)}
	redis.tasks = append(redis.tasks, e.run)
	return e
}

// Enqueue schedules a usage for the next exchange.
func (e *RateExchange) Enqueue(u ratelimit.Usage) {
	e.mu.Lock()
	e.pending = append(e.pending, u)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *RateExchange) run(ctx context.Context) {
	for {
		select {
		case <-e.wake:
		case <-ctx.Done():
			return
		}
		e.exchange(ctx)
		if sleep(ctx, exchangeInterval) != nil {
			return
		}
	}
}

// exchange reports the pending usage to Redis and merges the usage of all
// nodes. Usage that cannot be reported is dropped, because the callers have
// earned it again by the time Redis is back.
func (e *RateExchange) exchange(ctx context.Context) {
	e.mu.Lock()
	pending := e.pending
	e.pending = nil
	e.mu.Unlock()
	for len(pending) > 0 {
		batch := pending[:min(len(pending), exchangeBatch)]
		pending = pending[len(batch):]
		keys, args := make([]string, len(batch)), make([]any, 1, len(batch)+1)
		args[0] = batch[0].Interval().Microseconds() // the same for all, because they have one limiter
		for i, u := range batch {
			keys[i] = "parley:rate:" + e.name + ":" + u.Caller
			args = append(args, u.TakeCalls())
		}
		start := e.now()
		var ahead []int64
		err := e.redis.runIfAvailable(ctx, func(ctx context.Context) (err error) {
			ahead, err = addUsageScript.Run(ctx, e.redis.client, keys, args...).Int64Slice()
			return err
		})
		if err != nil {
			continue
		}
		for i, u := range batch {
			u.Merge(start.Add(time.Duration(ahead[i]) * time.Microsecond))
		}
	}
}

// addUsageScript adds calls to each caller's usage and returns how many
// microseconds of its rate the caller has used ahead of now. It takes the time
// from Redis, so that the clocks of the nodes may differ.
var addUsageScript = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ahead = {}
for i, key in ipairs(KEYS) do
	local used = math.max(tonumber(redis.call('GET', key) or 0), now) + ARGV[1] * ARGV[i + 1]
	redis.call('SET', key, string.format('%.0f', used), 'PX', math.ceil((used - now) / 1000) + 1)
	ahead[i] = used - now
end
return ahead`)
