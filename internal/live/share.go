package live

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// tellEvery is the least time between two exchanges with the other nodes.
	tellEvery = 10 * time.Millisecond
	// tellAtOnce bounds how many callers one exchange is about, because Redis
	// does nothing else meanwhile.
	tellAtOnce = 500
)

// sharing makes a bound one of all nodes. Calls are allowed by what this node
// knows; what was spent is told to Redis right after, and what Redis answers
// holds from then on. So no call waits, and a caller who uses several nodes at
// once may get ahead only by what fits between two exchanges. That counts too,
// and is missing afterwards.
type sharing struct {
	rate  *Rate
	redis *Redis
	name  string
	wake  chan struct{}

	mu     sync.Mutex
	untold []told
}

type told struct {
	caller string
	spent  *spending
}

// Share has the callers bounded on all nodes together. Call it before the
// first call. While Redis is gone each node goes on by itself.
func (r *Rate) Share(with *Redis, name string) {
	s := &sharing{rate: r, redis: with, name: name, wake: make(chan struct{}, 1)}
	r.shared = s
	with.work = append(with.work, s.run)
}

func (s *sharing) tell(caller string, spent *spending) {
	s.mu.Lock()
	s.untold = append(s.untold, told{caller, spent})
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *sharing) run(ctx context.Context) {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		s.exchange(ctx)
		if pause(ctx, tellEvery) != nil {
			return
		}
	}
}

// exchange tells what was spent and learns what all have spent. What cannot be
// told is let go: by the time Redis is back it is earned again.
func (s *sharing) exchange(ctx context.Context) {
	s.mu.Lock()
	all := s.untold
	s.untold = nil
	s.mu.Unlock()
	for len(all) > 0 {
		some := all[:min(len(all), tellAtOnce)]
		all = all[len(some):]
		keys, args := make([]string, len(some)), make([]any, 1, len(some)+1)
		args[0] = s.rate.every.Microseconds()
		for i, t := range some {
			keys[i] = "parley:rate:" + s.name + ":" + t.caller
			args = append(args, t.spent.untold.Swap(0))
		}
		began := s.rate.now()
		var ahead []int64
		err := s.redis.try(ctx, func(ctx context.Context) (err error) {
			ahead, err = spend.Run(ctx, s.redis.client, keys, args...).Int64Slice()
			return err
		})
		if err != nil {
			continue
		}
		for i, t := range some {
			t.spent.atLeast(began.Add(time.Duration(ahead[i])*time.Microsecond), s.rate.every)
		}
	}
}

// atLeast takes over what all nodes have spent, and adds what this one has
// meanwhile.
func (s *spending) atLeast(until time.Time, every time.Duration) {
	for {
		before := s.until.Load()
		after := until.UnixNano() + s.untold.Load()*int64(every)
		if after <= before || s.until.CompareAndSwap(before, after) {
			return
		}
	}
}

// spend moves for each caller when all is used up by as many calls as were
// made, and returns how far ahead of now that is. It reads the time in Redis,
// so that the clocks of nodes may differ.
var spend = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ahead = {}
for i, key in ipairs(KEYS) do
	local used = math.max(tonumber(redis.call('GET', key) or 0), now) + ARGV[1] * ARGV[i + 1]
	redis.call('SET', key, string.format('%.0f', used), 'PX', math.ceil((used - now) / 1000) + 1)
	ahead[i] = used - now
end
return ahead`)
