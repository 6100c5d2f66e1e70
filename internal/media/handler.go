package media

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/auth"
	"github.com/livekit/protocol/livekit"
	"golang.org/x/time/rate"

	"parley/internal/media/signalfilter"
	"parley/internal/refusal"
	"parley/internal/room"
)

// SignalingPaths are the exact paths of the signalling. Mount Handler on each of them,
// and on nothing beneath them.
func SignalingPaths() []string {
	return []string{"/rtc", "/rtc/validate", "/rtc/v1", "/rtc/v1/validate"}
}

// maxUserAgentBytes bounds the name of a browser, in bytes. The names of browsers
// have less than two hundred.
const maxUserAgentBytes = 512

// Handler serves the signalling of browsers: the WebSocket a page keeps open
// while it is in a session, and the question why it could not be opened. It
// takes over the connection, so whatever wraps it must pass http.Hijacker
// (or Unwrap) on, and must not log the query: the token is in it.
func (e *Engine) Handler() http.Handler {
	mux := http.NewServeMux()
	e.node.rtc.SetupRoutes(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		if !e.gate.enter() {
			http.Error(w, "the media engine is not running", http.StatusServiceUnavailable)
			return
		}
		defer e.gate.leave()
		admitted, session, identity, kind, err := e.authorizeRequest(r)
		var refused *signalfilter.Refusal
		var bytes *rate.Limiter
		tooMany := false
		if admitted != nil {
			var ok bool
			bytes, ok = e.connectLimiter.allow(session, identity, time.Now())
			tooMany = !ok
		}
		switch {
		case errors.As(err, &refused):
			e.refusals.Record(refused.Kind, refused.Reason, "session", session, "identity", identity)
			http.Error(w, "the server does not accept "+refused.Reason, http.StatusBadRequest)
		case err != nil:
			e.log.Warn("authorize a connection failed", "session", session, "error", err)
			http.Error(w, "the server cannot let anybody in now, try again in a moment", http.StatusServiceUnavailable)
		case admitted == nil:
			http.Error(w, "the media token is missing, not valid or no longer accepted", http.StatusUnauthorized)
		case tooMany:
			e.refusals.Record(refusal.Reconnects, "too many connections of one participant", "session", session, "identity", identity)
			w.Header().Set("Retry-After", "10")
			http.Error(w, "too many connections of one participant, try again in ten seconds", http.StatusTooManyRequests)
		case needsDualPeerConnection(kind) && (strings.HasPrefix(r.URL.Path, "/rtc/v1") || admitted.URL.Query().Has("join_request")):
			http.Error(w, "a session for sound only is served on /rtc", http.StatusNotFound)
		default:
			forget := func() {}
			mux.ServeHTTP(&filteredWriter{ResponseWriter: w, bytes: bytes,
				onHijack: func(c net.Conn) { forget = e.signalConns.add(session, c) },
				onRefusal: func(no *signalfilter.Refusal) {
					e.refusals.Record(no.Kind, no.Reason, "session", session, "identity", identity)
					go disconnect(e.node.rooms, livekit.RoomName(session), livekit.ParticipantIdentity(identity))
				}}, admitted)
			forget()
		}
	})
}

// needsDualPeerConnection reports whether whoever is in a session of the type has to receive on another peer
// connection than they send on. In the newer protocol both share one, and its
// first offer has empty places for pictures. A session for sound only rejects
// these, and Chromium then now and then loses count of them and has to join
// again. livekit-client goes on with the older protocol by itself when the
// newer is not found; a page saves it the detour with the room option
// singlePeerConnection: false.
func needsDualPeerConnection(t room.Type) bool { return t == room.Audio }

// authorizeRequest checks the token, asks the authorizer and returns the request as
// LiveKit shall see it, and the session it opens with its type; or nil. An error
// means that nobody knows who may come in. Of the token, only the session and
// the identity count: what its holder may do is decided at each connection,
// because tokens, and the fresh ones that LiveKit sends its participants, last
// longer than permissions. LiveKit's own check is not used: it repeats a bad
// token in its answer and in its log.
func (e *Engine) authorizeRequest(r *http.Request) (admitted *http.Request, session, identity string, kind room.Type, err error) {
	query := r.URL.Query()
	token := query.Get("access_token")
	if header := r.Header.Get("Authorization"); header != "" {
		token, _ = strings.CutPrefix(header, "Bearer ")
	}
	v, err := auth.ParseAPIToken(token)
	if err != nil || v.APIKey() != e.cfg.SigningKey {
		return nil, "", "", "", nil
	}
	claims, told, err := v.Verify(e.cfg.SigningSecret)
	if err != nil || told.Video == nil || claims.ExpiresAt == nil || claims.IssuedAt == nil {
		return nil, "", "", "", nil
	}
	session, identity = told.Video.Room, told.Identity
	allowed, err := e.authorize(r.Context(), session, identity)
	if err != nil || !allowed.Admitted {
		return nil, session, identity, "", err
	}
	grants, err := participantGrants(session, identity, allowed)
	if err != nil {
		return nil, session, identity, "", err
	}
	// What follows needs the token no more and cannot tell it to anybody.
	query, refused := signalfilter.SanitizeQuery(query)
	if refused != nil {
		return nil, session, identity, "", refused
	}
	admitted = r.Clone(service.WithGrantsExpiry(r.Context(), grants, v.APIKey(), claims.ExpiresAt.Time))
	admitted.Header.Del("Authorization")
	// It is matched with hundreds of patterns.
	if agent := r.UserAgent(); len(agent) > maxUserAgentBytes {
		admitted.Header.Set("User-Agent", agent[:maxUserAgentBytes])
	}
	// Compressed messages could grow a thousandfold when they are read.
	admitted.Header.Del("Sec-Websocket-Extensions")
	admitted.URL.RawQuery = query.Encode()
	return admitted, session, identity, allowed.Type, nil
}

// authorize says what the holder of a token may do in a session now.
func (e *Engine) authorize(ctx context.Context, session, identity string) (room.Authorization, error) {
	if session == preflightSession {
		return room.Authorization{Admitted: preflightAllowed(identity, time.Now()), Type: room.Video, Role: room.Guest, Hidden: true}, nil
	}
	return e.authorizer.Authorize(ctx, session, identity)
}

// requestGate counts the requests that are being served and can be shut.
type requestGate struct {
	mu        sync.Mutex
	accepting bool
	inFlight  int
	drained   chan struct{} // closed when the last one leaves a shut gate
}

func (g *requestGate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accepting = true
}

func (g *requestGate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.accepting {
		g.inFlight++
	}
	return g.accepting
}

func (g *requestGate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	if g.inFlight == 0 && g.drained != nil {
		close(g.drained)
		g.drained = nil
	}
}

func (g *requestGate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accepting = false
}

// wait returns when nobody is inside or ctx ends.
func (g *requestGate) wait(ctx context.Context) {
	g.mu.Lock()
	if g.inFlight == 0 {
		g.mu.Unlock()
		return
	}
	if g.drained == nil {
		g.drained = make(chan struct{})
	}
	empty := g.drained
	g.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}
