package live

import (
	"context"
	"sort"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// countKept is how long Redis keeps a count that nobody adds to.
	countKept = 48 * time.Hour
	// maxRounds and maxWrites bound what one count takes of memory. Both are
	// far more than can be asked for while Redis answers.
	maxRounds = 1024
	maxWrites = 3600
)

// SharedTally is a Tally whose Next and Number are exact over all nodes. Calls
// that come at the same time share a round trip to Redis, which begins while
// the rest of their answer is made.
//
// Redis may forget everything at any moment and still nothing is lost or
// counted twice. Each node tells how many it has counted in all, not how many
// more, so a round trip whose end is unknown can be made again. A count that
// Redis does not have begins with what the database holds, its base; and since
// that only grows, every node can tell by the base alone which of its own calls
// are in it: those it had written by the time the database held that much.
type SharedTally struct {
	*Tally
	redis *Redis

	mu     sync.Mutex
	counts map[Counted]*sharedCount
}

type sharedCount struct {
	Counted
	mu      sync.Mutex
	total   int64         // calls counted by this process
	asked   int64         // of total, those that a round was about
	rounds  []round       // the latest, in order
	running bool          // a round trip is under way
	again   bool          // there may be something to tell although nothing was counted
	changed chan struct{} // closed after each round

	base     int64     // with what the count began in Redis
	begun    bool      // base is known
	earlier  int64     // of total, those written before writes begins
	writes   []write   // in order
	askAfter time.Time // the database did not answer, and is left alone until then
}

// round is one exchange: the sum over all nodes after this one's last call.
type round struct {
	last, sum int64
	err       error
}

// write is one writing of a count: what the database held after it, and how
// many of this process's calls were in that.
type write struct{ sum, total int64 }

// NewSharedTally returns a SharedTally. Make it before Redis runs.
func NewSharedTally(store TallyStore, redis *Redis, now func() time.Time) *SharedTally {
	t := &SharedTally{Tally: NewTally(store, now), redis: redis, counts: map[Counted]*sharedCount{}}
	t.follow = t
	redis.returned = append(redis.returned, t.tellAll)
	return t
}

// Next counts once more. Number knows which one it is.
func (t *SharedTally) Next(subject, period string) (n int64, known bool) {
	t.Tally.Add(subject, period)
	c := t.shared(Counted{subject, period})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	t.start(c)
	return c.total, false
}

// Number returns which one over all nodes the call is that Next counted as n.
// It fails at once while Redis is gone.
func (t *SharedTally) Number(ctx context.Context, subject, period string, n int64) (int64, error) {
	c := t.shared(Counted{subject, period})
	for {
		c.mu.Lock()
		i := sort.Search(len(c.rounds), func(i int) bool { return c.rounds[i].last >= n })
		if i < len(c.rounds) {
			r := c.rounds[i]
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

func (t *SharedTally) shared(counted Counted) *sharedCount {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.counts[counted]
	if !ok {
		c = &sharedCount{Counted: counted, changed: make(chan struct{})}
		t.counts[counted] = c
	}
	return c
}

// tellAll tells Redis, which may have lost them, what this node has counted.
func (t *SharedTally) tellAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.counts {
		c.mu.Lock()
		c.again = true
		t.start(c)
		c.mu.Unlock()
	}
}

// start sees to it that a round is under way. The caller holds c.mu.
func (t *SharedTally) start(c *sharedCount) {
	if !c.running {
		c.running = true
		go t.run(c)
	}
}

// run makes rounds for as long as there is something to tell.
func (t *SharedTally) run(c *sharedCount) {
	for {
		c.mu.Lock()
		if c.asked == c.total && !c.again {
			c.running = false
			c.mu.Unlock()
			return
		}
		c.asked, c.again = c.total, false
		r := round{last: c.total}
		c.mu.Unlock()
		r.sum, r.err = t.exchange(c, r.last)
		c.mu.Lock()
		if len(c.rounds) >= maxRounds {
			c.rounds = append(c.rounds[:0], c.rounds[maxRounds/2:]...)
		}
		if n := len(c.rounds); n == 0 || c.rounds[n-1].last < r.last { // else it was about nobody's call
			c.rounds = append(c.rounds, r)
		}
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
	}
}

// exchange tells how many calls this process has counted up to the last one,
// and returns the sum over all nodes.
func (t *SharedTally) exchange(c *sharedCount, last int64) (int64, error) {
	for range 3 {
		c.mu.Lock()
		base, own := int64(-1), int64(0)
		if c.begun {
			base, own = c.base, last-c.covered()
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
		t.noteBase(c, held)
	}
	return 0, errGone // it was lost again and again
}

// noteBase notes with what a count began. A writing that is under way may be in
// it already, so its end has to be known first.
func (t *SharedTally) noteBase(c *sharedCount, held int64) {
	t.flushing.Lock()
	defer t.flushing.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.begun = held, true
}

// covered returns how many of this process's calls are in the base.
func (c *sharedCount) covered() int64 {
	i := sort.Search(len(c.writes), func(i int) bool { return c.writes[i].sum > c.base })
	if i == 0 {
		return c.earlier
	}
	return c.writes[i-1].total
}

// written implements follower.
func (t *SharedTally) written(counted Counted, added, sum int64) {
	t.mu.Lock()
	c, ok := t.counts[counted]
	t.mu.Unlock()
	if !ok {
		return // counted by key, which no other node is asked about
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.earlier
	if n := len(c.writes); n > 0 {
		before = c.writes[n-1].total
	}
	if len(c.writes) >= maxWrites {
		c.earlier = c.writes[maxWrites/2-1].total
		c.writes = append(c.writes[:0], c.writes[maxWrites/2:]...)
	}
	c.writes = append(c.writes, write{sum, before + added})
}

// forgotten implements follower.
func (t *SharedTally) forgotten(counted Counted) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.counts, counted)
}

func (c Counted) key() string { return "parley:count:" + c.Subject + ":" + c.Period }

// add returns with what the count began, less than 0 where Redis does not have
// it, and the sum if that is what this node believed.
func (t *SharedTally) add(c *sharedCount, base, own int64) (held, sum int64, err error) {
	err = t.redis.try(context.Background(), func(ctx context.Context) error {
		answer, err := addOwn.Run(ctx, t.redis.client, []string{c.key()}, base, t.redis.node, own).Int64Slice()
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
func (t *SharedTally) seed(c *sharedCount) (held int64, err error) {
	c.mu.Lock()
	wait := t.now().Before(c.askAfter)
	c.mu.Unlock()
	if wait {
		return 0, errGone
	}
	before, err := t.store.Tally(context.Background(), c.Counted)
	if err != nil {
		c.mu.Lock()
		c.askAfter = t.now().Add(tallyEvery)
		c.mu.Unlock()
		return 0, err
	}
	err = t.redis.try(context.Background(), func(ctx context.Context) (err error) {
		held, err = beginCount.Run(ctx, t.redis.client, []string{c.key()}, before.N, countKept.Milliseconds()).Int64()
		return err
	})
	return held, err
}

var (
	// addOwn raises what a node has counted, and with it the sum.
	addOwn = redis.NewScript(`
local base = redis.call('HGET', KEYS[1], 'base')
if not base then return {-1, 0} end
if base ~= ARGV[1] then return {tonumber(base), 0} end
local more = ARGV[3] - (redis.call('HGET', KEYS[1], ARGV[2]) or 0)
if more <= 0 then return {tonumber(base), tonumber(redis.call('HGET', KEYS[1], 'sum'))} end
redis.call('HINCRBY', KEYS[1], ARGV[2], more)
return {tonumber(base), redis.call('HINCRBY', KEYS[1], 'sum', more)}`)

	// beginCount begins a count where there is none.
	beginCount = redis.NewScript(`
if redis.call('HSETNX', KEYS[1], 'base', ARGV[1]) == 1 then
	redis.call('HSET', KEYS[1], 'sum', ARGV[1])
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return tonumber(redis.call('HGET', KEYS[1], 'base'))`)
)
