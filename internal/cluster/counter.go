package cluster

import (
	"context"
	"sort"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/internal/counter"
)

const (
	// redisTTL is how long Redis keeps a count after its creation.
	redisTTL = 48 * time.Hour
	// maxResults and maxWrites bound the memory of one count. Both are far
	// more than can be needed while Redis answers.
	maxResults = 1024
	maxWrites  = 3600
)

// Counter is a counter.Counter whose Increment and AwaitCount are exact over
// all nodes. Calls that arrive at the same time share one round trip to Redis,
// which runs while the rest of their response is prepared.
//
// Redis may lose all its data at any moment, and still no call is lost or
// counted twice. Each node sends its total and not an increment, so a round
// trip whose outcome is unknown can be repeated. A count that Redis does not
// have is created with the count in the database, its base. The count in the
// database only grows, so each node derives from the base alone which of its
// own calls the base includes: those that it had saved when the database held
// that much.
type Counter struct {
	*counter.Counter
	store counter.Store
	redis *Redis
	now   func() time.Time

	mu     sync.Mutex
	counts map[counter.Key]*clusterCount
}

type clusterCount struct {
	counter.Key
	mu        sync.Mutex
	total     int64            // calls counted by this process
	exchanged int64            // of total, those that an exchange has included
	results   []exchangeResult // the latest, in order
	running   bool             // run is active
	resend    bool             // exchange even if nothing was counted
	changed   chan struct{}    // closed after each exchange

	base          int64     // with which the count was created in Redis
	baseKnown     bool      // base is set
	writtenBefore int64     // of total, those saved before the first of writes
	writes        []write   // in order
	retryAt       time.Time // the database failed and is not read before
}

// exchangeResult is the sum over all nodes after this node's call number last.
type exchangeResult struct {
	last, sum int64
	err       error
}

// write is one flush of a count: the count in the database after it, and how
// many of this process's calls that included.
type write struct{ sum, total int64 }

// NewCounter returns a Counter. Create it before Redis.Run.
func NewCounter(store counter.Store, redis *Redis, now func() time.Time) *Counter {
	c := &Counter{store: store, redis: redis, now: now, counts: map[counter.Key]*clusterCount{}}
	c.Counter = counter.NewObserved(store, now, counter.Observer{Flushed: c.onFlushed, Evicted: c.onEvicted})
	redis.onAvailable = append(redis.onAvailable, c.republishAll)
	return c
}

// Increment increments a count. The result n identifies the call to AwaitCount,
// which returns the count over all nodes.
func (c *Counter) Increment(subject, period string) (n int64, known bool) {
	c.Counter.Add(subject, period)
	k := c.clusterCount(counter.Key{Subject: subject, Period: period})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total++
	c.start(k)
	return k.total, false
}

// AwaitCount returns the count over all nodes at the call for which Increment
// returned n. It fails at once while Redis does not answer.
func (c *Counter) AwaitCount(ctx context.Context, subject, period string, n int64) (int64, error) {
	k := c.clusterCount(counter.Key{Subject: subject, Period: period})
	for {
		k.mu.Lock()
		i := sort.Search(len(k.results), func(i int) bool { return k.results[i].last >= n })
		if i < len(k.results) {
			r := k.results[i]
			k.mu.Unlock()
			return r.sum - (r.last - n), r.err
		}
		changed := k.changed
		k.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func (c *Counter) clusterCount(key counter.Key) *clusterCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.counts[key]
	if !ok {
		k = &clusterCount{Key: key, changed: make(chan struct{})}
		c.counts[key] = k
	}
	return k
}

// republishAll sends the totals of this node again, because Redis may have lost
// them.
func (c *Counter) republishAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.counts {
		k.mu.Lock()
		k.resend = true
		c.start(k)
		k.mu.Unlock()
	}
}

// start starts run unless it is active. The caller holds k.mu.
func (c *Counter) start(k *clusterCount) {
	if !k.running {
		k.running = true
		go c.run(k)
	}
}

// run exchanges a count until there is nothing new.
func (c *Counter) run(k *clusterCount) {
	for {
		k.mu.Lock()
		if k.exchanged == k.total && !k.resend {
			k.running = false
			k.mu.Unlock()
			return
		}
		k.exchanged, k.resend = k.total, false
		r := exchangeResult{last: k.total}
		k.mu.Unlock()
		r.sum, r.err = c.exchange(k, r.last)
		k.mu.Lock()
		if len(k.results) >= maxResults {
			k.results = append(k.results[:0], k.results[maxResults/2:]...)
		}
		// A resend without a new call adds no result, because no caller awaits it.
		if n := len(k.results); n == 0 || k.results[n-1].last < r.last {
			k.results = append(k.results, r)
		}
		close(k.changed)
		k.changed = make(chan struct{})
		k.mu.Unlock()
	}
}

// exchange sends the total of this process up to the call number last, and
// returns the sum over all nodes.
func (c *Counter) exchange(k *clusterCount, last int64) (int64, error) {
	for range 3 {
		k.mu.Lock()
		base, own := int64(-1), int64(0)
		if k.baseKnown {
			base, own = k.base, last-k.countedInBase()
		}
		k.mu.Unlock()
		redisBase, sum, err := c.sendTotal(k, base, own)
		switch {
		case err != nil:
			return 0, err
		case redisBase < 0:
			if redisBase, err = c.seed(k); err != nil {
				return 0, err
			}
		case redisBase == base:
			return sum, nil
		}
		c.setBase(k, redisBase)
	}
	return 0, errUnavailable // Redis lost the count after each attempt
}

// setBase stores the base of a count. It waits for a flush in progress, because
// the base may include what that flush has saved.
func (c *Counter) setBase(k *clusterCount, base int64) {
	c.BetweenFlushes(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.base, k.baseKnown = base, true
	})
}

// countedInBase returns how many of this process's calls the base includes.
func (k *clusterCount) countedInBase() int64 {
	i := sort.Search(len(k.writes), func(i int) bool { return k.writes[i].sum > k.base })
	if i == 0 {
		return k.writtenBefore
	}
	return k.writes[i-1].total
}

func (c *Counter) onFlushed(key counter.Key, added, sum int64) {
	c.mu.Lock()
	k, ok := c.counts[key]
	c.mu.Unlock()
	if !ok {
		return // counted with Add, so no sum over the nodes is needed
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.writtenBefore
	if n := len(k.writes); n > 0 {
		before = k.writes[n-1].total
	}
	if len(k.writes) >= maxWrites {
		k.writtenBefore = k.writes[maxWrites/2-1].total
		k.writes = append(k.writes[:0], k.writes[maxWrites/2:]...)
	}
	k.writes = append(k.writes, write{sum, before + added})
}

func (c *Counter) onEvicted(key counter.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.counts, key)
}

func redisKey(k counter.Key) string { return "parley:count:" + k.Subject + ":" + k.Period }

// sendTotal sends the calls of this node that the base does not include. It
// returns the base in Redis, which is negative if Redis does not have the
// count, and the sum over all nodes if that base is the expected one.
func (c *Counter) sendTotal(k *clusterCount, base, own int64) (redisBase, sum int64, err error) {
	err = c.redis.runIfAvailable(context.Background(), func(ctx context.Context) error {
		values, err := sendTotalScript.Run(ctx, c.redis.client, []string{redisKey(k.Key)}, base, c.redis.nodeID, own).
			Int64Slice()
		if err == nil {
			redisBase, sum = values[0], values[1]
		}
		return err
	})
	return redisBase, sum, err
}

// seed creates a count in Redis with the count in the database, unless another
// node has created it, and returns its base. After a failure the database is
// not read for one counter.FlushInterval.
func (c *Counter) seed(k *clusterCount) (base int64, err error) {
	k.mu.Lock()
	wait := c.now().Before(k.retryAt)
	k.mu.Unlock()
	if wait {
		return 0, errUnavailable
	}
	saved, err := c.store.LoadCount(context.Background(), k.Key)
	if err != nil {
		k.mu.Lock()
		k.retryAt = c.now().Add(counter.FlushInterval)
		k.mu.Unlock()
		return 0, err
	}
	err = c.redis.runIfAvailable(context.Background(), func(ctx context.Context) (err error) {
		base, err = seedScript.Run(ctx, c.redis.client, []string{redisKey(k.Key)}, saved.N, redisTTL.Milliseconds()).
			Int64()
		return err
	})
	return base, err
}

var (
	// sendTotalScript raises the total of a node, and with it the sum.
	sendTotalScript = redis.NewScript(`
local base = redis.call('HGET', KEYS[1], 'base')
if not base then return {-1, 0} end
if base ~= ARGV[1] then return {tonumber(base), 0} end
local more = ARGV[3] - (redis.call('HGET', KEYS[1], ARGV[2]) or 0)
if more <= 0 then return {tonumber(base), tonumber(redis.call('HGET', KEYS[1], 'sum'))} end
redis.call('HINCRBY', KEYS[1], ARGV[2], more)
return {tonumber(base), redis.call('HINCRBY', KEYS[1], 'sum', more)}`)

	// seedScript creates a count unless it exists, and returns its base.
	seedScript = redis.NewScript(`
if redis.call('HSETNX', KEYS[1], 'base', ARGV[1]) == 1 then
	redis.call('HSET', KEYS[1], 'sum', ARGV[1])
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return tonumber(redis.call('HGET', KEYS[1], 'base'))`)
)
