package manage

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/requestlog"
)

type callerKey struct{}

// authenticate finds who makes a request, and stores that in the context of the returned
// request, as the origin of recorded changes and in the access log.
func (s *server) authenticate(r *http.Request) (*http.Request, error) {
	c, err := s.findCaller(r)
	if err != nil {
		return r, LimitFailures(r, s.Failures, err)
	}
	info := httpx.FromContext(r.Context())
	identify(info, c)
	if !isRepeated(r.Context()) {
		if err := s.limit(c); err != nil {
			info.Caller = httpx.Caller{} // counted only
			return r, err
		}
	}
	origin := s.origin(r)
	origin.Kind, origin.ActorID, origin.ActorName = audit.Kind(c.Kind), c.ID, c.Name
	ctx := context.WithValue(r.Context(), callerKey{}, c)
	return r.WithContext(audit.WithOrigin(ctx, origin)), nil
}

// The limits of an integrator, with bursts of twice as many calls.
const (
	// TokenCallsPerSecond limits the calls by a token, of which some read much.
	TokenCallsPerSecond = 10
	// SessionCallsPerSecond limits the calls in the console. A page makes about ten when it is opened, and a person may
	// open several at once.
	SessionCallsPerSecond = 50
)

// limit returns Exhausted if an integrator calls too often.
func (s *server) limit(c operator.Caller) error {
	rate, bound := s.Rate, TokenCallsPerSecond
	if c.SessionID != "" {
		rate, bound = s.SessionRate, SessionCallsPerSecond
	}
	if c.Role != operator.Integrator || rate == nil {
		return nil
	}
	if ok, retryAfter := rate.Allow(c.ID); !ok {
		return &fault.Error{Kind: fault.Exhausted, Code: "rate_limited", RetryAfter: retryAfter,
			Message: fmt.Sprintf("more than %d calls a second: try again in a moment", bound)}
	}
	return nil
}

// findCaller returns who has the bearer token of a request or, without one, the session in its
// cookie. It looks up a missing or malformed token as the empty string, which is never valid.
func (s *server) findCaller(r *http.Request) (operator.Caller, error) {
	if cookie, err := r.Cookie(sessionCookie); err == nil && len(r.Header.Values("Authorization")) == 0 {
		return s.Console.AuthenticateSession(r.Context(), cookie.Value, isRepeated(r.Context()))
	}
	t, err := s.Tokens.Authenticate(r.Context(), httpx.BearerToken(r))
	return t.Caller(), err
}

// identify says in the logs who makes a request.
func identify(info *httpx.RequestInfo, c operator.Caller) {
	info.Caller.KeySlot = requestlog.SlotToken
	if c.SessionID != "" {
		info.Caller.KeySlot = requestlog.SlotSession
		info.LogAttrs = append(info.LogAttrs, slog.String("session_id", c.SessionID))
	}
	switch c.Kind {
	case operator.ByToken:
		info.Caller.TokenID = c.ID
		info.LogAttrs = append(info.LogAttrs, slog.String("token_id", c.ID), slog.String("token_name", c.Name))
	case operator.ByUser:
		info.LogAttrs = append(info.LogAttrs, slog.String("user_id", c.ID))
	}
}

// origin returns where a request comes from, without who makes it.
func (s *server) origin(r *http.Request) audit.Origin {
	info := httpx.FromContext(r.Context())
	origin := audit.Origin{RequestID: info.ID, Node: s.Rooms.NodeID()}
	if info.Client.IsValid() {
		origin.Address = info.Client.String()
	}
	return origin
}

// RateLimiter limits how often a caller may call.
type RateLimiter interface {
	Allow(callerID string) (ok bool, retryAfter time.Duration)
}

// FailureLimiter limits the failed authentications of each client address.
type FailureLimiter interface {
	// RecordAttempt records a failure and reports whether the address has
	// exceeded its limit, and then when it may try again.
	RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration)
}

// LimitFailures returns the error for a request whose authentication failed with
// err: err itself, or an Exhausted error if the client's address has failed too
// often. A nil limit means no limit.
func LimitFailures(r *http.Request, limit FailureLimiter, err error) error {
	if limit == nil || !fault.Is(err, fault.Unauthorized) {
		return err
	}
	over, retryAfter := limit.RecordAttempt(httpx.FromContext(r.Context()).Client)
	if !over {
		return err
	}
	return &fault.Error{Kind: fault.Exhausted, Code: "too_many_attempts", RetryAfter: retryAfter,
		Message: "too many failed authentications from your address, try again later"}
}

// caller returns who makes the request.
func caller(r *http.Request) operator.Caller {
	c, _ := r.Context().Value(callerKey{}).(operator.Caller)
	return c
}
