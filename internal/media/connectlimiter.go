package media

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	maxTrackedParticipants = 10_000      // above this, idle participants are pruned
	forgetAfter            = time.Minute // until then, connectLimit is full again
)

// connectLimiter limits how often each participant connects and how many bytes it sends
// in the signaling, because each connection costs a row, two events and their webhooks,
// and each message occupies memory until it is read.
type connectLimiter struct {
	mu           sync.Mutex
	participants map[string]*participantLimits // by session and identity
	pruned       time.Time
}

type participantLimits struct {
	connections, bytes *rate.Limiter
	lastConnect        time.Time
}

// allow records a connection. It reports whether the connection is within the limit, and
// returns the limiter of the bytes that the participant sends.
func (c *connectLimiter) allow(session, identity string, now time.Time) (bytes *rate.Limiter, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := session + " " + identity
	limits := c.participants[key]
	if limits == nil {
		if len(c.participants) >= maxTrackedParticipants || now.Sub(c.pruned) >= forgetAfter {
			c.prune(now)
		}
		limits = &participantLimits{connections: connectLimit.newBucket(), bytes: signalByteLimit.newBucket()}
		if c.participants == nil {
			c.participants = map[string]*participantLimits{}
		}
		c.participants[key] = limits
	}
	limits.lastConnect = now
	return limits.bytes, limits.connections.AllowN(now, 1)
}

// prune removes the participants whose limits are full again. It removes all participants
// if that frees less than half of a full map, so that it runs rarely.
func (c *connectLimiter) prune(now time.Time) {
	c.pruned = now
	for key, limits := range c.participants {
		if now.Sub(limits.lastConnect) >= forgetAfter {
			delete(c.participants, key)
		}
	}
	if len(c.participants) > maxTrackedParticipants/2 {
		clear(c.participants)
	}
}
