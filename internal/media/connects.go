package media

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A participant may connect this often: a page whose network comes and goes
// tries some ten times in a minute.
const (
	connectBurst    = 30
	connectEvery    = 2 * time.Second // one more
	maxConnects     = 10_000          // participants that are remembered before old ones are forgotten
	connectsForgets = connectBurst * connectEvery
)

// A participant may send this many bytes of signaling, on all of its connections
// together: a burst, and what comes back each second. In very full rooms a
// session description has some hundred kilobytes.
const signalBurst, signalBytesPerSecond = 4 << 20, 512 << 10

// connects limits how often each participant connects, and how much it sends
// in the signaling. Each connection costs a row, two events and their webhooks;
// each message is memory until it is read.
type connects struct {
	mu     sync.Mutex
	seen   map[string]*connecting // by session and identity
	pruned time.Time
}

type connecting struct {
	limit, bytes *rate.Limiter
	last         time.Time
}

// note notes a connection. It reports whether it is not one too many, and
// returns the limit of what the participant sends.
func (c *connects) note(session, identity string, now time.Time) (bytes *rate.Limiter, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := session + " " + identity
	own := c.seen[key]
	if own == nil {
		if len(c.seen) >= maxConnects || now.Sub(c.pruned) >= connectsForgets {
			c.prune(now)
		}
		own = &connecting{limit: rate.NewLimiter(rate.Every(connectEvery), connectBurst),
			bytes: rate.NewLimiter(signalBytesPerSecond, signalBurst)}
		if c.seen == nil {
			c.seen = map[string]*connecting{}
		}
		c.seen[key] = own
	}
	own.last = now
	return own.bytes, own.limit.AllowN(now, 1)
}

// prune forgets participants that may connect as often as new ones by now, and
// all of them where that frees less than half of a full map: it must run rarely.
func (c *connects) prune(now time.Time) {
	c.pruned = now
	for key, own := range c.seen {
		if now.Sub(own.last) >= connectsForgets {
			delete(c.seen, key)
		}
	}
	if len(c.seen) > maxConnects/2 {
		clear(c.seen)
	}
}
