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
	"parley/internal/metrics"
	"parley/internal/refusal"
	"parley/internal/room"
)

// SignalingPaths returns the exact paths of the signaling. Mount Handler on each of them,
// but not on paths below them.
func SignalingPaths() []string {
	return []string{"/rtc", "/rtc/validate", "/rtc/v1", "/rtc/v1/validate"}
}

// maxUserAgentBytes is the maximum length of the User-Agent header that LiveKit sees, in
// bytes. The headers of browsers have less than two hundred.
const maxUserAgentBytes = 512

// Handler returns the handler of the signaling: the WebSocket that a page keeps open
// while it is in a session, and the request for the reason why it could not be opened.
// The handler takes over the connection, so a wrapper must pass on http.Hijacker (or
// Unwrap). A wrapper must not log the query, because it contains the token.
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
		admitted, session, identity, roomType, err := e.authorizeRequest(r)
		var refused *signalfilter.Refusal
		var bytes *rate.Limiter
		tooMany := false
		if admitted != nil {
			var ok bool
			bytes, ok = e.connectLimiter.allow(session, identity, time.Now())
			tooMany = !ok
		}
		failed := func(cause metrics.JoinFailure) {
			if isSignaling(r) && session != preflightSession {
				e.cfg.Metrics.JoinFailed(cause)
			}
		}
		switch {
		case errors.As(err, &refused):
			failed(metrics.JoinRefused)
			e.refusals.Record(refused.Kind, refused.Reason, "session", session, "identity", identity)
			http.Error(w, "the server does not accept "+refused.Reason, http.StatusBadRequest)
		case err != nil:
			failed(metrics.JoinUnavailable)
			e.log.Warn("authorize a connection failed", "session", session, "error", err)
			http.Error(w, "the server cannot admit participants now, try again in a moment",
				http.StatusServiceUnavailable)
		case admitted == nil:
			failed(metrics.JoinNotAdmitted)
			http.Error(w, "the media token is missing, invalid or no longer accepted", http.StatusUnauthorized)
		case tooMany:
			failed(metrics.JoinTooOften)
			e.refusals.Record(refusal.Reconnects, "too many connections of one participant",
				"session", session, "identity", identity)
			w.Header().Set("Retry-After", "10")
			http.Error(w, "too many connections of one participant, try again in ten seconds",
				http.StatusTooManyRequests)
		case needsDualPeerConnection(roomType) && usesSinglePeerConnection(admitted):
			http.Error(w, "the signaling of an audio session is served on /rtc only", http.StatusNotFound)
		default:
			removeConn := func() {}
			mux.ServeHTTP(&filteredWriter{ResponseWriter: w, bytes: bytes,
				onHijack: func(c net.Conn) { removeConn = e.signalConns.add(session, c) },
				onRefusal: func(refused *signalfilter.Refusal) {
					e.refusals.Record(refused.Kind, refused.Reason, "session", session, "identity", identity)
					go disconnect(e.node.rooms, livekit.RoomName(session), livekit.ParticipantIdentity(identity))
				}}, admitted)
			removeConn()
		}
	})
}

// isSignaling reports whether a request opens the signaling. The others only ask for the reason
// why it could not be opened.
func isSignaling(r *http.Request) bool { return !strings.HasSuffix(r.URL.Path, "/validate") }

// needsDualPeerConnection reports whether the participants of a session of the type have
// to receive on another peer connection than the one on which they send. In the newer
// protocol both share one, and its first offer has empty sections for video. An audio
// session rejects these sections, and then Chromium sometimes loses count of them and
// has to join again. livekit-client falls back to the older protocol by itself if the
// newer one is not found; a page avoids this extra attempt with the room option
// singlePeerConnection: false.
func needsDualPeerConnection(t room.Type) bool { return t == room.Audio }

// usesSinglePeerConnection reports whether a request uses the newer protocol.
func usesSinglePeerConnection(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/rtc/v1") || r.URL.Query().Has("join_request")
}

// authorizeRequest checks the token and asks the authorizer. It returns the request for
// LiveKit, the session, the identity and the type of the session. The request is nil if
// the participant is not admitted. An error is a *signalfilter.Refusal if the query is
// not acceptable; any other error means that the authorizer could not decide.
//
// Only the session and the identity of the token are used. The permissions are decided
// at each connection, because tokens, and the fresh tokens that LiveKit sends to
// participants, are valid for longer than permissions. LiveKit's own check is not used,
// because it repeats an invalid token in its response and in its log.
func (e *Engine) authorizeRequest(r *http.Request) (
	admitted *http.Request, session, identity string, roomType room.Type, err error,
) {
	query := r.URL.Query()
	token := query.Get("access_token")
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, text, _ := strings.Cut(header, " ")
		if token = ""; strings.EqualFold(scheme, "Bearer") {
			token = strings.TrimSpace(text)
		}
	}
	v, err := auth.ParseAPIToken(token)
	if err != nil || v.APIKey() != e.cfg.SigningKey {
		return nil, "", "", "", nil
	}
	claims, tokenGrants, err := v.Verify(e.cfg.SigningSecret)
	if err != nil || tokenGrants.Video == nil || claims.ExpiresAt == nil || claims.IssuedAt == nil {
		return nil, "", "", "", nil
	}
	session, identity = tokenGrants.Video.Room, tokenGrants.Identity
	allowed, err := e.authorize(r.Context(), session, identity)
	if err != nil || !allowed.Admitted {
		return nil, session, identity, "", err
	}
	grants, err := participantGrants(session, identity, allowed)
	if err != nil {
		return nil, session, identity, "", err
	}
	// The token is removed from the request, so that LiveKit cannot log or return it.
	query, refused := signalfilter.SanitizeQuery(query)
	if refused != nil {
		return nil, session, identity, "", refused
	}
	admitted = r.Clone(service.WithGrantsExpiry(r.Context(), grants, v.APIKey(), claims.ExpiresAt.Time))
	admitted.Header.Del("Authorization")
	// LiveKit matches the header with hundreds of patterns.
	if agent := r.UserAgent(); len(agent) > maxUserAgentBytes {
		admitted.Header.Set("User-Agent", agent[:maxUserAgentBytes])
	}
	// Without compression a message cannot grow a thousandfold when it is read.
	admitted.Header.Del("Sec-Websocket-Extensions")
	admitted.URL.RawQuery = query.Encode()
	return admitted, session, identity, allowed.Type, nil
}

// authorize returns the current permissions of a participant in a session.
func (e *Engine) authorize(ctx context.Context, session, identity string) (room.Authorization, error) {
	if session == preflightSession {
		return room.Authorization{Admitted: preflightAllowed(identity, time.Now()),
			Type: room.Video, Role: room.Guest, Hidden: true}, nil
	}
	return e.authorizer.Authorize(ctx, session, identity)
}

// requestGate counts the requests in flight and can be closed for new ones.
type requestGate struct {
	mu        sync.Mutex
	accepting bool
	inFlight  int
	drained   chan struct{} // closed when the last request leaves a closed gate
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

// wait returns when no request is in flight or ctx ends.
func (g *requestGate) wait(ctx context.Context) {
	g.mu.Lock()
	if g.inFlight == 0 {
		g.mu.Unlock()
		return
	}
	if g.drained == nil {
		g.drained = make(chan struct{})
	}
	drained := g.drained
	g.mu.Unlock()
	select {
	case <-drained:
	case <-ctx.Done():
	}
}
