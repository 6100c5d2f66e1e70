package media

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/internal/room"
)

const (
	// checkSession is where browsers try their way to the engine before they
	// have a seat. Whoever is in it sees and hears nobody, sends nothing, and
	// is nobody to the rooms.
	checkSession = "check"
	// checkFor is how long a browser may be in it.
	checkFor = 20 * time.Second
	// maxChecks is how many may be in it at once.
	maxChecks = 16
)

// CheckPass returns a token that opens the check session for a moment.
func (e *Engine) CheckPass(ctx context.Context) (string, error) {
	if err := e.Open(ctx, room.MediaSession{Name: checkSession, Type: room.Video, MaxParticipants: maxChecks}); err != nil {
		return "", err
	}
	// LiveKit hands its participants fresh tokens: the moment is in the name.
	identity := uuid.NewString() + "." + strconv.FormatInt(time.Now().Add(checkFor).Unix(), 10)
	return e.Pass(room.MediaPass{Session: checkSession, Identity: identity, Role: room.Guest, Type: room.Video, Hidden: true, TTL: checkFor})
}

// mayCheck reports whether the holder of a token for the check session still
// may come in.
func mayCheck(identity string, now time.Time) bool {
	_, until, _ := strings.Cut(identity, ".")
	at, err := strconv.ParseInt(until, 10, 64)
	return err == nil && now.Unix() < at
}

// endCheck closes a connection when its check should be over, whatever its page
// does; LiveKit forgets the participant soon after. It returns what to do when
// the connection has ended, which is then before that.
func endCheck(c net.Conn, then func()) func() {
	timer := time.AfterFunc(checkFor, func() { _ = c.Close() })
	return func() {
		timer.Stop()
		then()
	}
}
