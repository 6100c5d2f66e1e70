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

// authenticate holds a call to its bearer token and remembers whose it is, for
// the answer and for the log. It fails closed: no token, and none that can be
// read, is looked up as the empty one, which nobody has.
func (s *server) authenticate(r *http.Request) (*http.Request, error) {
	clear := ""
	if values := r.Header.Values("Authorization"); len(values) == 1 {
		if scheme, text, ok := strings.Cut(values[0], " "); ok && strings.EqualFold(scheme, "Bearer") {
			clear = text
		}
	}
	t, err := s.tokens.Authenticate(r.Context(), clear)
	if err != nil {
		return r, LimitFailures(r, s.failures, err)
	}
	info := httpx.FromContext(r.Context())
	info.LogAttrs = append(info.LogAttrs, slog.String("token_id", t.ID), slog.String("token_name", t.Name))
	return r.WithContext(context.WithValue(r.Context(), tokenKey{}, t)), nil
}

// FailureLimiter bounds how often one address may fail to show who it is.
type FailureLimiter interface {
	RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration)
}

// LimitFailures returns what to answer to a call whose token was refused with err:
// Exhausted where its address has failed too often. limit may be nil for none.
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

// callerToken is the token of this call.
func callerToken(r *http.Request) operator.Token {
	t, _ := r.Context().Value(tokenKey{}).(operator.Token)
	return t
}
