package v5

import (
	"context"
	"net/http"
	"sync"
	"time"

	"parley.example/client/sign"
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

	keyring *key.Keyring // of the key that signed; set by authenticate
	key     key.APIKey

	timeout timeout // of everything that the call waits for

	buffer  *[]byte   // of the body; nil until setBody
	headers [2]string // values of headers
}

// bodies are the buffers of bodies that were written.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// setBody sets the body of the response to what appendTo appends, and returns it. It is valid until release.
func (c *call) setBody(appendTo func(b []byte) []byte) []byte {
	c.buffer = bodies.Get().(*[]byte)
	*c.buffer = appendTo((*c.buffer)[:0])
	return *c.buffer
}

// release frees the resources of the timeout and of the body, which was written.
func (c *call) release() {
	if c.buffer != nil {
		bodies.Put(c.buffer)
	}
	c.timeout.stop()
}

// authenticate checks the key, the timestamp and the signature of a call, and records who
// makes it.
func (s *Server) authenticate(w http.ResponseWriter, c *call) error {
	body, err := httpx.ReadOptionalBody(w, c.request)
	if err != nil {
		return err
	}
	_, err = s.verify(c, body)
	return err
}

// CheckSignature checks the key, the timestamp and the signature of a request that is not
// executed, as those of a real one. Who signed it and what is wrong is in the RequestInfo of
// its context. The error is Exhausted beyond the limit of failures.
func (s *Server) CheckSignature(r *http.Request, _ string, body []byte) (requestlog.SignatureCheck, error) {
	c := &call{request: r, receivedAt: s.now()}
	matches, err := s.verify(c, body)
	if err == errUnauthorized {
		err = nil
	}
	timestamp, _ := singleValue(r.Header["Timestamp"])
	text := requestlog.SignedCall{Method: r.Method, Target: r.RequestURI, Timestamp: timestamp, Body: body}.Text()
	return requestlog.SignatureCheck{Text: text, Matches: matches}, err
}

// verify is the check of authenticate. Every failure returns the same error after the same
// work, so that a caller cannot learn which check failed. The limit of failures does not apply
// to a call that is only too old or too new; it tells a caller above the limit no more than a
// correctly signed call in time does.
func (s *Server) verify(c *call, body []byte) (matches bool, err error) {
	r := c.request
	apiKey, hasKey := singleValue(r.Header["Api-Key"])
	timestamp, hasTimestamp := singleValue(r.Header["Timestamp"])
	signature, hasSignature := singleValue(r.Header["Hash-Signature"])
	headersComplete := hasKey && hasTimestamp && hasSignature
	secret, live := key.DummyGatewaySecret, false
	k, keyring, err := s.keys.ByAPIKey(r.Context(), apiKey)
	known := err == nil
	switch {
	case known:
		secret, live = k.GatewaySecret.Reveal(), k.Live(c.receivedAt)
	case !fault.Is(err, fault.NotFound):
		return false, err
	}
	check := sign.CheckTimestamp(timestamp, c.receivedAt, s.options.Skew)
	valid := sign.VerifyV5(secret, r.Method, r.RequestURI, timestamp, "", body, signature) && headersComplete
	info := httpx.FromContext(r.Context())
	if known {
		info.Caller = httpx.Caller{ProjectID: k.ProjectID, KeySlot: string(key.Retired)}
		if live {
			info.Caller.KeySlot = string(k.Slot)
		}
		if check.Freshness != sign.Malformed {
			info.Caller.ClockSkew, info.Caller.HasTimestamp = check.SkewSeconds, true
		}
	}
	switch {
	case !known:
		info.Cause = requestlog.CauseUnknownKey
	case !live:
		info.Cause = requestlog.CauseRetiredKey
	case check.Freshness != sign.Fresh:
		info.Cause = requestlog.CauseStaleTimestamp
	case !valid:
		info.Cause = requestlog.CauseBadSignature
	default:
		c.keyring, c.key = keyring, k
		return true, nil
	}
	call := requestlog.SignedCall{
		Secret:             secret,
		Method:             r.Method,
		Target:             r.RequestURI,
		Timestamp:          timestamp,
		SentIdempotencyKey: r.Header.Get("Idempotency-Key"),
		Host:               r.Host,
		Signature:          signature,
		Body:               body,
		Check:              check,
		HeadersWrong:       !headersComplete,
	}
	receivedAt := c.receivedAt
	info.Explain = func(ctx context.Context) (cause, hint string) {
		if known {
			call.APIKeys = keyring.LiveAPIKeys(receivedAt)
			call.GatewaySecrets = keyring.LiveGatewaySecrets(receivedAt)
			call.ProjectSecrets = keyring.LiveProjectSecrets(receivedAt)
		}
		return call.Explain(ctx)
	}
	if valid && live {
		return true, errUnauthorized // not a failed authentication: the holder of the key has a wrong clock
	}
	if s.options.Failures != nil {
		if over, after := s.options.Failures.RecordAttempt(info.Client); over {
			return false, &fault.Error{Kind: fault.Exhausted, Code: "rate_limited",
				Message: "too many calls from this address failed to authenticate, try again later", RetryAfter: after}
		}
	}
	return false, errUnauthorized
}

// singleValue returns the value of a header, and whether the header was sent
// exactly once.
func singleValue(values []string) (string, bool) {
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}
