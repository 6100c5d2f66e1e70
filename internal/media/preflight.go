package media

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"parley/internal/fault"
	"parley/internal/room"
)

const (
	// preflightSession is where browsers try their way to the engine before they
	// have a seat. Whoever is in it sees and hears nobody, sends nothing, and
	// is nobody to the rooms.
	preflightSession = "check"
	// maxPreflights is how many may be in it at once.
	maxPreflights = 64
	// maxPreflightsPerNetwork is how many of them may come from one network.
	maxPreflightsPerNetwork = 8
	// preflightDuration is how long a browser may be in it.
	preflightDuration = 20 * time.Second
)

// preflights counts the places of the check session that are given out. A place is
// taken for as long as its token is valid, because a client that has hung up
// may come again.
type preflights struct {
	mu     sync.Mutex
	active []preflight // the oldest first
}

type preflight struct {
	network   string
	expiresAt time.Time
}

// reserve gives out a place until a moment. Without one it fails with Exhausted
// when the network has its share, or Unavailable when all are taken; both say
// when the next is free.
func (c *preflights) reserve(network string, now, until time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = slices.DeleteFunc(c.active, func(p preflight) bool { return !p.expiresAt.After(now) })
	busy := &fault.Error{Kind: fault.Unavailable, Code: room.CodePreflightBusy, Message: "too many connections are being checked, try again in a moment"}
	mine := 0
	for _, p := range c.active {
		if p.network != network {
			continue
		}
		if mine++; mine == 1 {
			busy.RetryAfter = p.expiresAt.Sub(now)
		}
	}
	if mine >= maxPreflightsPerNetwork {
		busy.Kind, busy.Message = fault.Exhausted, "too many connections are being checked from your network, try again in a moment"
		return busy
	}
	if len(c.active) >= maxPreflights {
		busy.RetryAfter = c.active[0].expiresAt.Sub(now)
		return busy
	}
	c.active = append(c.active, preflight{network: network, expiresAt: until})
	return nil
}

// PreflightToken returns a token that opens the check session for a moment to
// somebody of a network. When that is over its holder is taken out: a page may
// keep its media connection when its signalling has long ended. Refusals:
// Exhausted and Unavailable (check_busy).
func (e *Engine) PreflightToken(ctx context.Context, network string) (string, error) {
	now := time.Now()
	until := now.Add(e.preflightDuration)
	if err := e.preflights.reserve(network, now, until.Add(time.Second)); err != nil {
		return "", err
	}
	if err := e.Open(ctx, room.MediaSession{Name: preflightSession, Type: room.Video, MaxParticipants: maxPreflights}); err != nil {
		return "", err
	}
	// LiveKit hands its participants fresh tokens: the moment is in the name.
	identity := uuid.NewString() + "." + strconv.FormatInt(until.UnixMilli(), 10)
	time.AfterFunc(time.Until(until)+time.Second, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := e.Remove(ctx, preflightSession, identity); err != nil && e.checkRunning() == nil {
			e.log.Warn("somebody whose check is over could not be taken out", "error", err)
		}
	})
	return e.AccessToken(room.AccessTokenSpec{Session: preflightSession, Identity: identity, TTL: e.preflightDuration})
}

// preflightAllowed reports whether the holder of a token for the check session still
// may come in.
func preflightAllowed(identity string, now time.Time) bool {
	_, until, _ := strings.Cut(identity, ".")
	at, err := strconv.ParseInt(until, 10, 64)
	return err == nil && now.UnixMilli() < at
}
