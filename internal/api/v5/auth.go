package v5

import (
	"context"
	"net/http"
	"strings"
	"time"

	"parley/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/requestlog"
)

// A secret nobody has. Calls with unknown keys are checked against it, so that
// they cost what calls with known ones cost.
const dummySecret = "gs_0000000000000000000000000000000000000000000"

// call is one call on its way, and what is known of who makes it.
type call struct {
	request    *http.Request
	receivedAt time.Time

	keyring       *key.Keyring // nil unless the key that was named is or was a project's
	key           key.APIKey
	keyLive       bool                   // the key may be used
	authDetails   requestlog.RefusedCall // what was checked
	authenticated bool                   // and found right

	ctx    context.Context
	cancel context.CancelFunc
}

// isAuthenticated reports whether the caller has shown who they are.
func (c *call) isAuthenticated() bool { return c.authenticated }

// timeoutContext returns the context of whatever has to be waited for.
func (c *call) timeoutContext() context.Context {
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithTimeout(c.request.Context(), callTimeout)
	}
	return c.ctx
}

func (c *call) release() {
	if c.cancel != nil {
		c.cancel()
	}
}

// authenticate holds a call to its signature. All that can be wrong is one
// answer after the same work; it fails closed.
func (s *Server) authenticate(w http.ResponseWriter, c *call) error {
	r := c.request
	body, err := httpx.ReadOptionalBody(w, r)
	if err != nil {
		return err
	}
	apiKey, one := singleValue(r.Header["Api-Key"])
	timestamp, two := singleValue(r.Header["Timestamp"])
	signature, three := singleValue(r.Header["Hash-Signature"])
	secret := dummySecret
	k, ring, err := s.keys.ByAPIKey(r.Context(), apiKey)
	switch {
	case err == nil:
		c.keyring, c.key, c.keyLive = ring, k, k.Live(c.receivedAt)
		secret = k.GatewaySecret.Reveal()
	case !fault.Is(err, fault.NotFound):
		return err
	}
	c.authDetails = requestlog.RefusedCall{Secret: secret, Method: r.Method, Target: r.RequestURI, Timestamp: timestamp, Signature: signature,
		Body: body, Check: sign.CheckTimestamp(timestamp, c.receivedAt, s.options.Skew), Repeated: !(one && two && three)}
	right := sign.VerifyV5(secret, r.Method, r.RequestURI, timestamp, "", body, signature)
	c.authenticated = right && c.keyring != nil && c.keyLive && c.authDetails.Check.Freshness == sign.Fresh && !c.authDetails.Repeated
	if c.authenticated {
		return nil
	}
	if s.options.Failures != nil {
		if over, after := s.options.Failures.RecordAttempt(httpx.FromContext(r.Context()).Client); over {
			return &fault.Error{Kind: fault.Exhausted, Code: "rate_limited", Message: "too many calls from this address failed to authenticate, try again later", RetryAfter: after}
		}
	}
	return errUnauthorized
}

// singleValue returns the value of a header that was sent exactly once.
func singleValue(values []string) (string, bool) {
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// maxUserAgent bounds what one call takes of the memory of those that wait to
// be written.
const maxUserAgent = 255

// recordCall takes note of a call that named a key of a project.
func (s *Server) recordCall(c *call, status int, code ErrorErrorCode) {
	if s.options.RequestLog == nil || c.keyring == nil {
		return
	}
	r := c.request
	call := requestlog.Call{RequestID: httpx.FromContext(r.Context()).ID, ProjectID: c.key.ProjectID, ReceivedAt: c.receivedAt,
		Method: r.Method, Path: r.URL.Path, Status: status, Code: string(code), Micros: s.now().Sub(c.receivedAt).Microseconds(),
		KeySlot: string(c.key.Slot), AuthResult: requestlog.OK, UserAgent: r.UserAgent()}
	if len(call.UserAgent) > maxUserAgent {
		call.UserAgent = strings.Clone(call.UserAgent[:maxUserAgent])
	}
	if c.authDetails.Check.Freshness != sign.Malformed {
		call.ClockSkew = c.authDetails.Check.SkewSeconds
		call.HasTimestamp = true
	}
	if !c.keyLive {
		call.KeySlot = string(key.Retired)
	}
	if c.authenticated {
		s.options.RequestLog.Record(call)
		return
	}
	switch {
	case !c.keyLive:
		call.AuthResult = requestlog.RetiredKey
	case c.authDetails.Check.Freshness != sign.Fresh:
		call.AuthResult = requestlog.StaleTimestamp
	default:
		call.AuthResult = requestlog.BadSignature
	}
	s.options.RequestLog.RecordRefused(call, c.authDetails)
}
