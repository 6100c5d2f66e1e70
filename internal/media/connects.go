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

// connects limits how often each participant connects. Each connection costs a
// row, two events and their webhooks.
type connects struct {
	mu   sync.Mutex
	seen map[string]*connecting // by session and identity
}

type connecting struct {
	limit *rate.Limiter
	last  time.Time
}

// tooMany notes a connection and reports whether it is one too many.
func (c *connects) tooMany(session, identity string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := session + " " + identity
	own := c.seen[key]
	if own == nil {
		if len(c.seen) >= maxConnects {
			c.prune(now)
		}
		own = &connecting{limit: rate.NewLimiter(rate.Every(connectEvery), connectBurst)}
		if c.seen == nil {
			c.seen = map[string]*connecting{}
		}
		c.seen[key] = own
	}
	own.last = now
	return !own.limit.AllowN(now, 1)
}

// prune forgets participants that may connect as often as new ones by now, and
// all of them where that frees less than half: it must run rarely.
func (c *connects) prune(now time.Time) {
	for key, own := range c.seen {
		if now.Sub(own.last) >= connectsForgets {
			delete(c.seen, key)
		}
	}
	if len(c.seen) > maxConnects/2 {
		clear(c.seen)
	}
}
