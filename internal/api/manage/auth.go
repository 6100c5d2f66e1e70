package manage

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/operator"
)

type tokenKey struct{}

// authenticate checks the bearer token of a request and stores the token in the
// context of the returned request and in the access log. It looks up a missing
// or malformed token as the empty string, which is never valid.
func (s *server) authenticate(r *http.Request) (*http.Request, error) {
	token := ""
	if values := r.Header.Values("Authorization"); len(values) == 1 {
		if scheme, text, ok := strings.Cut(values[0], " "); ok && strings.EqualFold(scheme, "Bearer") {
			token = text
		}
	}
	t, err := s.tokens.Authenticate(r.Context(), token)
	if err != nil {
		return r, LimitFailures(r, s.failures, err)
	}
	info := httpx.FromContext(r.Context())
	info.LogAttrs = append(info.LogAttrs, slog.String("token_id", t.ID), slog.String("token_name", t.Name))
	return r.WithContext(context.WithValue(r.Context(), tokenKey{}, t)), nil
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

// callerToken returns the token that authenticated the request.
func callerToken(r *http.Request) operator.Token {
	t, _ := r.Context().Value(tokenKey{}).(operator.Token)
	return t
}
