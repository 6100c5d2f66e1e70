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

// call is the state of one request: the request, its key and the result of the
// authentication.
type call struct {
	request    *http.Request
	receivedAt time.Time

	keyring       *key.Keyring // nil if the key is unknown
	key           key.APIKey
	keyLive       bool                   // the key is current or overlapping
	authDetails   requestlog.RefusedCall // the checked values, for the request log
	authenticated bool                   // all checks passed

	ctx    context.Context
	cancel context.CancelFunc
}

// timeoutContext returns the context for everything that the call waits for. It
// ends fault.UnavailableAfter after the first use.
func (c *call) timeoutContext() context.Context {
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithTimeout(c.request.Context(), fault.UnavailableAfter)
	}
	return c.ctx
}

// release frees the resources of timeoutContext.
func (c *call) release() {
	if c.cancel != nil {
		c.cancel()
	}
}

// authenticate checks the key, the timestamp and the signature of a call. Every
// failure returns the same error after the same work, so that a caller cannot
// learn which check failed.
func (s *Server) authenticate(w http.ResponseWriter, c *call) error {
	r := c.request
	body, err := httpx.ReadOptionalBody(w, r)
	if err != nil {
		return err
	}
	apiKey, hasKey := singleValue(r.Header["Api-Key"])
	timestamp, hasTimestamp := singleValue(r.Header["Timestamp"])
	signature, hasSignature := singleValue(r.Header["Hash-Signature"])
	secret := key.DummyGatewaySecret
	k, keyring, err := s.keys.ByAPIKey(r.Context(), apiKey)
	switch {
	case err == nil:
		c.keyring, c.key, c.keyLive = keyring, k, k.Live(c.receivedAt)
		secret = k.GatewaySecret.Reveal()
	case !fault.Is(err, fault.NotFound):
		return err
	}
	c.authDetails = requestlog.RefusedCall{Secret: secret, Method: r.Method, Target: r.RequestURI, Timestamp: timestamp,
		Signature: signature, Body: body, Check: sign.CheckTimestamp(timestamp, c.receivedAt, s.options.Skew),
		HeadersWrong: !(hasKey && hasTimestamp && hasSignature)}
	valid := sign.VerifyV5(secret, r.Method, r.RequestURI, timestamp, "", body, signature)
	c.authenticated = valid && c.keyring != nil && c.keyLive && c.authDetails.Check.Freshness == sign.Fresh &&
		!c.authDetails.HeadersWrong
	if c.authenticated {
		return nil
	}
	if s.options.Failures != nil {
		if over, after := s.options.Failures.RecordAttempt(httpx.FromContext(r.Context()).Client); over {
			return &fault.Error{Kind: fault.Exhausted, Code: "rate_limited",
				Message: "too many calls from this address failed to authenticate, try again later", RetryAfter: after}
		}
	}
	return errUnauthorized
}

// singleValue returns the value of a header, and whether the header was sent
// exactly once.
func singleValue(values []string) (string, bool) {
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// maxUserAgent is the maximum length of a recorded User-Agent in bytes. It limits
// the memory of the calls that wait to be written.
const maxUserAgent = 255

// recordCall adds a call to the request log if it named a key of a project.
func (s *Server) recordCall(c *call, status int, code ErrorErrorCode) {
	if s.options.RequestLog == nil || c.keyring == nil {
		return
	}
	r := c.request
	call := requestlog.Call{RequestID: httpx.FromContext(r.Context()).ID, ProjectID: c.key.ProjectID,
		ReceivedAt: c.receivedAt,
		Method:     r.Method, Path: r.URL.Path, Status: status, Code: string(code),
		Micros:  s.now().Sub(c.receivedAt).Microseconds(),
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
