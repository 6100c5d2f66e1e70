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
	// checkSession is where browsers try their way to the engine before they
	// have a seat. Whoever is in it sees and hears nobody, sends nothing, and
	// is nobody to the rooms.
	checkSession = "check"
	// maxChecks is how many may be in it at once.
	maxChecks = 64
	// maxChecksFrom is how many of them may come from one network.
	maxChecksFrom = 8
	// checkFor is how long a browser may be in it.
	checkFor = 20 * time.Second
)

// checks counts the places of the check session that are given out. A place is
// taken for as long as its token is valid, because a client that has hung up
// may come again.
type checks struct {
	mu    sync.Mutex
	taken []checkPlace // the oldest first
}

type checkPlace struct {
	network string
	until   time.Time
}

// take gives out a place until a moment. Without one it fails with Exhausted
// when the network has its share, or Unavailable when all are taken; both say
// when the next is free.
func (c *checks) take(network string, now, until time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken = slices.DeleteFunc(c.taken, func(p checkPlace) bool { return !p.until.After(now) })
	busy := &fault.Error{Kind: fault.Unavailable, Code: room.CodeCheckBusy, Message: "too many connections are being checked, try again in a moment"}
	mine := 0
	for _, p := range c.taken {
		if p.network != network {
			continue
		}
		if mine++; mine == 1 {
			busy.RetryAfter = p.until.Sub(now)
		}
	}
	if mine >= maxChecksFrom {
		busy.Kind, busy.Message = fault.Exhausted, "too many connections are being checked from your network, try again in a moment"
		return busy
	}
	if len(c.taken) >= maxChecks {
		busy.RetryAfter = c.taken[0].until.Sub(now)
		return busy
	}
	c.taken = append(c.taken, checkPlace{network: network, until: until})
	return nil
}

// CheckPass returns a token that opens the check session for a moment to
// somebody of a network. When that is over its holder is taken out: a page may
// keep its media connection when its signalling has long ended. Refusals:
// Exhausted and Unavailable (check_busy).
func (e *Engine) CheckPass(ctx context.Context, network string) (string, error) {
	now := time.Now()
	until := now.Add(e.checkFor)
	if err := e.checks.take(network, now, until.Add(time.Second)); err != nil {
		return "", err
	}
	if err := e.Open(ctx, room.MediaSession{Name: checkSession, Type: room.Video, MaxParticipants: maxChecks}); err != nil {
		return "", err
	}
	// LiveKit hands its participants fresh tokens: the moment is in the name.
	identity := uuid.NewString() + "." + strconv.FormatInt(until.UnixMilli(), 10)
	time.AfterFunc(time.Until(until)+time.Second, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := e.Remove(ctx, checkSession, identity); err != nil && e.up() == nil {
			e.log.Warn("somebody whose check is over could not be taken out", "error", err)
		}
	})
	return e.Pass(room.MediaPass{Session: checkSession, Identity: identity, TTL: e.checkFor})
}

// mayCheck reports whether the holder of a token for the check session still
// may come in.
func mayCheck(identity string, now time.Time) bool {
	_, until, _ := strings.Cut(identity, ".")
	at, err := strconv.ParseInt(until, 10, 64)
	return err == nil && now.UnixMilli() < at
}
