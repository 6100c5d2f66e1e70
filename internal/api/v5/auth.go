package v5

import (
	"context"
	"net/http"
	"strings"
	"time"

	"parley/client/sign"
	"parley/internal/api/web"
	"parley/internal/diagnostic"
	"parley/internal/fault"
	"parley/internal/key"
)

// A secret nobody has. Calls with unknown keys are checked against it, so that
// they cost what calls with known ones cost.
const nobodysSecret = "gs_0000000000000000000000000000000000000000000"

// caller is one call on its way, and what is known of who makes it.
type caller struct {
	request *http.Request
	at      time.Time

	ring *key.Ring // nil unless the key that was named is or was a project's
	key  key.APIKey
	live bool               // the key may be used
	why  diagnostic.Refused // what was checked
	ok   bool               // and found right

	ctx    context.Context
	cancel context.CancelFunc
}

// authentic reports whether the caller has shown who they are.
func (c *caller) authentic() bool { return c.ok }

// bounded returns the context of whatever has to be waited for.
func (c *caller) bounded() context.Context {
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithTimeout(c.request.Context(), patience)
	}
	return c.ctx
}

func (c *caller) release() {
	if c.cancel != nil {
		c.cancel()
	}
}

// authenticate holds a call to its signature. All that can be wrong is one
// answer after the same work; it fails closed.
func (s *Server) authenticate(w http.ResponseWriter, c *caller) error {
	r := c.request
	body, err := web.RawBody(w, r)
	if err != nil {
		return err
	}
	apiKey, one := single(r.Header["Api-Key"])
	timestamp, two := single(r.Header["Timestamp"])
	signature, three := single(r.Header["Hash-Signature"])
	secret := nobodysSecret
	k, ring, err := s.keys.ByAPIKey(r.Context(), apiKey)
	switch {
	case err == nil:
		c.ring, c.key, c.live = ring, k, k.Live(c.at)
		secret = k.GatewaySecret.Reveal()
	case !fault.Is(err, fault.NotFound):
		return err
	}
	c.why = diagnostic.Refused{Secret: secret, Method: r.Method, Target: r.RequestURI, Timestamp: timestamp, Signature: signature,
		Body: body, Check: sign.CheckTimestamp(timestamp, c.at, s.options.Skew), Repeated: !(one && two && three)}
	right := sign.VerifyV5(secret, r.Method, r.RequestURI, timestamp, "", body, signature)
	c.ok = right && c.ring != nil && c.live && c.why.Check.Freshness == sign.Fresh && !c.why.Repeated
	if c.ok {
		return nil
	}
	if s.options.Failures != nil {
		if over, after := s.options.Failures.Failed(web.From(r.Context()).Client); over {
			return &fault.Error{Kind: fault.Exhausted, Code: "rate_limited", Message: "too many calls from this address failed to authenticate, try again later", RetryAfter: after}
		}
	}
	return errUnauthorized
}

// single returns the value of a header that was sent exactly once.
func single(values []string) (string, bool) {
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// maxUserAgent bounds what one call takes of the memory of those that wait to
// be written.
const maxUserAgent = 255

// note takes note of a call that named a key of a project.
func (s *Server) note(c *caller, status int, code ErrorErrorCode) {
	if s.options.Diagnostics == nil || c.ring == nil {
		return
	}
	r := c.request
	call := diagnostic.Call{RequestID: web.From(r.Context()).ID, ProjectID: c.key.ProjectID, ReceivedAt: c.at,
		Method: r.Method, Path: r.URL.Path, Status: status, Code: string(code), Micros: s.now().Sub(c.at).Microseconds(),
		KeySlot: string(c.key.Slot), AuthResult: diagnostic.OK, UserAgent: r.UserAgent()}
	if len(call.UserAgent) > maxUserAgent {
		call.UserAgent = strings.Clone(call.UserAgent[:maxUserAgent])
	}
	if c.why.Check.Freshness != sign.Malformed {
		call.ClockSkew = c.why.Check.SkewSeconds
		call.Dated = true
	}
	if !c.live {
		call.KeySlot = string(key.Retired)
	}
	if c.ok {
		s.options.Diagnostics.Record(call)
		return
	}
	switch {
	case !c.live:
		call.AuthResult = diagnostic.RetiredKey
	case c.why.Check.Freshness != sign.Fresh:
		call.AuthResult = diagnostic.StaleTimestamp
	default:
		call.AuthResult = diagnostic.BadSignature
	}
	s.options.Diagnostics.RecordRefused(call, c.why)
}
