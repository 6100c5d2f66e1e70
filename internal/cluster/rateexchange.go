package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/internal/ratelimit"
)

const (
	// exchangeInterval is the least time between two exchanges with the other nodes.
	exchangeInterval = 10 * time.Millisecond
	// exchangeBatch bounds how many callers one exchange is about, because Redis
	// does nothing else meanwhile.
	exchangeBatch = 500
)

var _ ratelimit.Exchange = (*RateExchange)(nil)

// RateExchange makes a bound one of all nodes. Calls are allowed by what this node
// knows; what was spent is told to Redis right after, and what Redis answers
// holds from then on. So no call waits, and a caller who uses several nodes at
// once may get ahead only by what fits between two exchanges. That counts too,
// and is missing afterwards.
type RateExchange struct {
	redis *Redis
	name  string
	now   func() time.Time
	wake  chan struct{}

	mu      sync.Mutex
	pending []ratelimit.Usage
}

// NewRateExchange returns the exchange of one limiter, which has the same name
// on all nodes. Create it before Redis.Run. While Redis is gone each node goes
// on by itself.
func NewRateExchange(redis *Redis, name string, now func() time.Time) *RateExchange {
	s := &RateExchange{redis: redis, name: name, now: now, wake: make(chan struct{}, 1)}
	redis.tasks = append(redis.tasks, s.run)
	return s
}

// Enqueue has the usage exchanged soon.
func (s *RateExchange) Enqueue(u ratelimit.Usage) {
	s.mu.Lock()
	s.pending = append(s.pending, u)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *RateExchange) run(ctx context.Context) {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		s.exchange(ctx)
		if sleep(ctx, exchangeInterval) != nil {
			return
		}
	}
}

// exchange tells what was spent and learns what all have spent. What cannot be
// told is let go: by the time Redis is back it is earned again.
func (s *RateExchange) exchange(ctx context.Context) {
	s.mu.Lock()
	all := s.pending
	s.pending = nil
	s.mu.Unlock()
	for len(all) > 0 {
		some := all[:min(len(all), exchangeBatch)]
		all = all[len(some):]
		keys, args := make([]string, len(some)), make([]any, 1, len(some)+1)
		args[0] = some[0].Interval().Microseconds() // one exchange serves one limiter
		for i, u := range some {
			keys[i] = "parley:rate:" + s.name + ":" + u.Caller
			args = append(args, u.TakeCalls())
		}
		began := s.now()
		var ahead []int64
		err := s.redis.runIfAvailable(ctx, func(ctx context.Context) (err error) {
			ahead, err = spendScript.Run(ctx, s.redis.client, keys, args...).Int64Slice()
			return err
		})
		if err != nil {
			continue
		}
		for i, u := range some {
			u.Merge(began.Add(time.Duration(ahead[i]) * time.Microsecond))
		}
	}
}

// spendScript moves for each caller when all is used up by as many calls as were
// made, and returns how far ahead of now that is. It reads the time in Redis,
// so that the clocks of nodes may differ.
var spendScript = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ahead = {}
for i, key in ipairs(KEYS) do
	local used = math.max(tonumber(redis.call('GET', key) or 0), now) + ARGV[1] * ARGV[i + 1]
	redis.call('SET', key, string.format('%.0f', used), 'PX', math.ceil((used - now) / 1000) + 1)
	ahead[i] = used - now
end
return ahead`)
