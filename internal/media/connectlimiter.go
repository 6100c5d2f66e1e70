package media

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A participant may connect this often: a page whose network comes and goes
// tries some ten times in a minute.
const (
	connectBurst           = 30
	connectInterval        = 2 * time.Second // one more
	maxTrackedParticipants = 10_000          // participants that are remembered before old ones are forgotten
	forgetAfter            = connectBurst * connectInterval
)

// A participant may send this many bytes of signaling, on all of its connections
// together: a burst, and what comes back each second. In very full rooms a
// session description has some hundred kilobytes.
const signalBurst, signalBytesPerSecond = 4 << 20, 512 << 10

// connectLimiter limits how often each participant connects, and how much it sends
// in the signaling. Each connection costs a row, two events and their webhooks;
// each message is memory until it is read.
type connectLimiter struct {
	mu           sync.Mutex
	participants map[string]*participantLimits // by session and identity
	pruned       time.Time
}

type participantLimits struct {
	limit, bytes *rate.Limiter
	last         time.Time
}

// allow notes a connection. It reports whether it is not one too many, and
// returns the limit of what the participant sends.
func (c *connectLimiter) allow(session, identity string, now time.Time) (bytes *rate.Limiter, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := session + " " + identity
	own := c.participants[key]
	if own == nil {
		if len(c.participants) >= maxTrackedParticipants || now.Sub(c.pruned) >= forgetAfter {
			c.prune(now)
		}
		own = &participantLimits{limit: rate.NewLimiter(rate.Every(connectInterval), connectBurst),
			bytes: rate.NewLimiter(signalBytesPerSecond, signalBurst)}
		if c.participants == nil {
			c.participants = map[string]*participantLimits{}
		}
		c.participants[key] = own
	}
	own.last = now
	return own.bytes, own.limit.AllowN(now, 1)
}

// prune forgets participants that may connect as often as new ones by now, and
// all of them where that frees less than half of a full map: it must run rarely.
func (c *connectLimiter) prune(now time.Time) {
	c.pruned = now
	for key, own := range c.participants {
		if now.Sub(own.last) >= forgetAfter {
			delete(c.participants, key)
		}
	}
	if len(c.participants) > maxTrackedParticipants/2 {
		clear(c.participants)
	}
}
