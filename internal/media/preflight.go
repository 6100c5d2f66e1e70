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
	// preflightSession is the session in which browsers test their connection to the
	// engine before they have a seat. Its participants are hidden, cannot send, and do
	// not belong to any room.
	preflightSession = "check"
	// maxPreflights is the maximum number of concurrent tests.
	maxPreflights = 64
	// maxPreflightsPerNetwork is the maximum number of concurrent tests from one network.
	maxPreflightsPerNetwork = 8
	// preflightDuration is the maximum duration of a test.
	preflightDuration = 20 * time.Second
)

// preflights counts the reservations of the preflight session. A reservation lasts for as
// long as its token is valid, because a client can connect again with the same token.
type preflights struct {
	mu     sync.Mutex
	active []preflight // oldest first
}

type preflight struct {
	network   string
	expiresAt time.Time
}

// reserve makes a reservation for a network that expires at until. It returns an Exhausted
// error if the network has reached its limit, and an Unavailable error if the session is
// full. Both errors contain the time until the next reservation expires.
func (c *preflights) reserve(network string, now, until time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = slices.DeleteFunc(c.active, func(p preflight) bool { return !p.expiresAt.After(now) })
	busy := &fault.Error{Kind: fault.Unavailable, Code: room.CodePreflightBusy,
		Message: "too many connections are being checked, try again in a moment"}
	ofNetwork := 0
	for _, p := range c.active {
		if p.network != network {
			continue
		}
		if ofNetwork++; ofNetwork == 1 {
			busy.RetryAfter = p.expiresAt.Sub(now)
		}
	}
	if ofNetwork >= maxPreflightsPerNetwork {
		busy.Kind = fault.Exhausted
		busy.Message = "too many connections are being checked from your network, try again in a moment"
		return busy
	}
	if len(c.active) >= maxPreflights {
		busy.RetryAfter = c.active[0].expiresAt.Sub(now)
		return busy
	}
	c.active = append(c.active, preflight{network: network, expiresAt: until})
	return nil
}

// PreflightToken returns a token for the preflight session to a client of a network. When
// the token expires, its holder is removed from the session, because a page may keep its
// media connection after its signaling has ended. The error is Exhausted or Unavailable,
// with the code check_busy, if there are too many concurrent tests.
func (e *Engine) PreflightToken(ctx context.Context, network string) (string, error) {
	now := e.preflightClock()
	until := now.Add(e.preflightDuration)
	if err := e.preflights.reserve(network, now, until.Add(time.Second)); err != nil {
		return "", err
	}
	session := room.MediaSession{Name: preflightSession, Type: room.Video, MaxParticipants: maxPreflights}
	if err := e.Open(ctx, session); err != nil {
		return "", err
	}
	// The identity contains the expiry, because LiveKit sends fresh tokens to participants.
	identity := uuid.NewString() + "." + strconv.FormatInt(until.UnixMilli(), 10)
	time.AfterFunc(until.Sub(e.preflightClock())+time.Second, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := e.Remove(ctx, preflightSession, identity); err != nil && e.checkRunning() == nil {
			e.log.Warn("remove a participant after its connection test failed", "error", err)
		}
	})
	return e.AccessToken(room.AccessTokenSpec{Session: preflightSession, Identity: identity, TTL: e.preflightDuration})
}

// preflightAllowed reports whether the holder of a token for the preflight session may
// still join.
func preflightAllowed(identity string, now time.Time) bool {
	_, until, _ := strings.Cut(identity, ".")
	expiresAt, err := strconv.ParseInt(until, 10, 64)
	return err == nil && now.UnixMilli() < expiresAt
}
