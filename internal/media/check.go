package media

import (
	"context"
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
	// maxChecks is how many may be in it at once.
	maxChecks = 16
	// checkFor is how long a browser may be in it.
	checkFor = 20 * time.Second
)

// CheckPass returns a token that opens the check session for a moment. When
// that is over its holder is taken out: a page may keep its media connection
// when its signalling has long ended.
func (e *Engine) CheckPass(ctx context.Context) (string, error) {
	if err := e.Open(ctx, room.MediaSession{Name: checkSession, Type: room.Video, MaxParticipants: maxChecks}); err != nil {
		return "", err
	}
	// LiveKit hands its participants fresh tokens: the moment is in the name.
	until := time.Now().Add(e.checkFor)
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
