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
	// redisTTL is how long Redis keeps a count that nobody adds to.
	redisTTL = 48 * time.Hour
	// maxResults and maxWrites bound what one count takes of memory. Both are
	// far more than can be asked for while Redis answers.
	maxResults = 1024
	maxWrites  = 3600
)

// Counter is a Tally whose Next and Number are exact over all nodes. Calls
// that come at the same time share a round trip to Redis, which begins while
// the rest of their answer is made.
//
// Redis may forget everything at any moment and still nothing is lost or
// counted twice. Each node tells how many it has counted in all, not how many
// more, so a round trip whose end is unknown can be made again. A count that
// Redis does not have begins with what the database holds, its base; and since
// that only grows, every node can tell by the base alone which of its own calls
// are in it: those it had written by the time the database held that much.
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
	exchanged int64            // of total, those that a round was about
	results   []exchangeResult // the latest, in order
	running   bool             // a round trip is under way
	resend    bool             // there may be something to tell although nothing was counted
	changed   chan struct{}    // closed after each round

	base          int64     // with what the count began in Redis
	baseKnown     bool      // base is known
	writtenBefore int64     // of total, those written before writes begins
	writes        []write   // in order
	retryAt       time.Time // the database did not answer, and is left alone until then
}

// exchangeResult is one exchange: the sum over all nodes after this one's last call.
type exchangeResult struct {
	last, sum int64
	err       error
}

// write is one writing of a count: what the database held after it, and how
// many of this process's calls were in that.
type write struct{ sum, total int64 }

// NewCounter returns a Counter. Make it before Redis runs.
func NewCounter(store counter.Store, redis *Redis, now func() time.Time) *Counter {
	t := &Counter{store: store, redis: redis, now: now, counts: map[counter.Key]*clusterCount{}}
	t.Counter = counter.NewObserved(store, now, counter.Observer{Flushed: t.onFlushed, Evicted: t.onEvicted})
	redis.onAvailable = append(redis.onAvailable, t.republishAll)
	return t
}

// Increment counts once more. Number knows which one it is.
func (t *Counter) Increment(subject, period string) (n int64, known bool) {
	t.Counter.Add(subject, period)
	c := t.clusterCount(counter.Key{Subject: subject, Period: period})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	t.start(c)
	return c.total, false
}

// AwaitCount returns which one over all nodes the call is that Next counted as n.
// It fails at once while Redis is gone.
func (t *Counter) AwaitCount(ctx context.Context, subject, period string, n int64) (int64, error) {
	c := t.clusterCount(counter.Key{Subject: subject, Period: period})
	for {
		c.mu.Lock()
		i := sort.Search(len(c.results), func(i int) bool { return c.results[i].last >= n })
		if i < len(c.results) {
			r := c.results[i]
			c.mu.Unlock()
			return r.sum - (r.last - n), r.err
		}
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func (t *Counter) clusterCount(counted counter.Key) *clusterCount {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.counts[counted]
	if !ok {
		c = &clusterCount{Key: counted, changed: make(chan struct{})}
		t.counts[counted] = c
	}
	return c
}

// republishAll tells Redis, which may have lost them, what this node has counted.
func (t *Counter) republishAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.counts {
		c.mu.Lock()
		c.resend = true
		t.start(c)
		c.mu.Unlock()
	}
}

// start sees to it that a round is under way. The caller holds c.mu.
func (t *Counter) start(c *clusterCount) {
	if !c.running {
		c.running = true
		go t.run(c)
	}
}

// run makes rounds for as long as there is something to tell.
func (t *Counter) run(c *clusterCount) {
	for {
		c.mu.Lock()
		if c.exchanged == c.total && !c.resend {
			c.running = false
			c.mu.Unlock()
			return
		}
		c.exchanged, c.resend = c.total, false
		r := exchangeResult{last: c.total}
		c.mu.Unlock()
		r.sum, r.err = t.exchange(c, r.last)
		c.mu.Lock()
		if len(c.results) >= maxResults {
			c.results = append(c.results[:0], c.results[maxResults/2:]...)
		}
		if n := len(c.results); n == 0 || c.results[n-1].last < r.last { // else it was about nobody's call
			c.results = append(c.results, r)
		}
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
	}
}

// exchange tells how many calls this process has counted up to the last one,
// and returns the sum over all nodes.
func (t *Counter) exchange(c *clusterCount, last int64) (int64, error) {
	for range 3 {
		c.mu.Lock()
		base, own := int64(-1), int64(0)
		if c.baseKnown {
			base, own = c.base, last-c.countedInBase()
		}
		c.mu.Unlock()
		held, sum, err := t.add(c, base, own)
		switch {
		case err != nil:
			return 0, err
		case held < 0:
			if held, err = t.seed(c); err != nil {
				return 0, err
			}
		case held == base:
			return sum, nil
		}
		t.setBase(c, held)
	}
	return 0, errUnavailable // it was lost again and again
}

// setBase notes with what a count began. A writing that is under way may be in
// it already, so its end has to be known first.
func (t *Counter) setBase(c *clusterCount, held int64) {
	t.BetweenFlushes(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.base, c.baseKnown = held, true
	})
}

// countedInBase returns how many of this process's calls are in the base.
func (c *clusterCount) countedInBase() int64 {
	i := sort.Search(len(c.writes), func(i int) bool { return c.writes[i].sum > c.base })
	if i == 0 {
		return c.writtenBefore
	}
	return c.writes[i-1].total
}

func (t *Counter) onFlushed(counted counter.Key, added, sum int64) {
	t.mu.Lock()
	c, ok := t.counts[counted]
	t.mu.Unlock()
	if !ok {
		return // counted by key, which no other node is asked about
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.writtenBefore
	if n := len(c.writes); n > 0 {
		before = c.writes[n-1].total
	}
	if len(c.writes) >= maxWrites {
		c.writtenBefore = c.writes[maxWrites/2-1].total
		c.writes = append(c.writes[:0], c.writes[maxWrites/2:]...)
	}
	c.writes = append(c.writes, write{sum, before + added})
}

func (t *Counter) onEvicted(counted counter.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.counts, counted)
}

func redisKey(k counter.Key) string { return "parley:count:" + k.Subject + ":" + k.Period }

// add returns with what the count began, less than 0 where Redis does not have
// it, and the sum if that is what this node believed.
func (t *Counter) add(c *clusterCount, base, own int64) (held, sum int64, err error) {
	err = t.redis.runIfAvailable(context.Background(), func(ctx context.Context) error {
		answer, err := addOwnScript.Run(ctx, t.redis.client, []string{redisKey(c.Key)}, base, t.redis.nodeID, own).Int64Slice()
		if err == nil {
			held, sum = answer[0], answer[1]
		}
		return err
	})
	return held, sum, err
}

// seed begins a count with what the database holds, unless another node was
// faster, and returns with what it began. A database that does not answer is
// left alone for a while.
func (t *Counter) seed(c *clusterCount) (held int64, err error) {
	c.mu.Lock()
	wait := t.now().Before(c.retryAt)
	c.mu.Unlock()
	if wait {
		return 0, errUnavailable
	}
	before, err := t.store.LoadCount(context.Background(), c.Key)
	if err != nil {
		c.mu.Lock()
		c.retryAt = t.now().Add(counter.FlushInterval)
		c.mu.Unlock()
		return 0, err
	}
	err = t.redis.runIfAvailable(context.Background(), func(ctx context.Context) (err error) {
		held, err = seedScript.Run(ctx, t.redis.client, []string{redisKey(c.Key)}, before.N, redisTTL.Milliseconds()).Int64()
		return err
	})
	return held, err
}

var (
	// addOwnScript raises what a node has counted, and with it the sum.
	addOwnScript = redis.NewScript(`
local base = redis.call('HGET', KEYS[1], 'base')
if not base then return {-1, 0} end
if base ~= ARGV[1] then return {tonumber(base), 0} end
local more = ARGV[3] - (redis.call('HGET', KEYS[1], ARGV[2]) or 0)
if more <= 0 then return {tonumber(base), tonumber(redis.call('HGET', KEYS[1], 'sum'))} end
redis.call('HINCRBY', KEYS[1], ARGV[2], more)
return {tonumber(base), redis.call('HINCRBY', KEYS[1], 'sum', more)}`)

	// seedScript begins a count where there is none.
	seedScript = redis.NewScript(`
if redis.call('HSETNX', KEYS[1], 'base', ARGV[1]) == 1 then
	redis.call('HSET', KEYS[1], 'sum', ARGV[1])
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return tonumber(redis.call('HGET', KEYS[1], 'base'))`)
)
