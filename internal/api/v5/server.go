package v5

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/usage"
)

// The headers of this version, as net/http spells them.
const (
	headerRequestID    = "X-Gateway-Request-Id"
	headerRequestsUsed = "X-Gateway-Requests-Used"
)

const prefix = "/api/v5/"

// callTimeout is how long one call waits for what it needs, all in all.
const callTimeout = 900 * time.Millisecond

// KeyLookup finds who calls.
type KeyLookup interface {
	ByAPIKey(ctx context.Context, text string) (key.APIKey, *key.Keyring, error)
}

// UsageReader says what an organization has used and may use.
type UsageReader interface {
	Usage(ctx context.Context, o project.Organization) (usage.Usage, error)
	PlanOf(o project.Organization) (usage.Plan, bool)
}

// CallCounter counts calls.
type CallCounter interface {
	// Add counts a call with a key, and Count says how many there were.
	Add(subject, period string)
	Count(ctx context.Context, subject, period string) (n int64, last time.Time, err error)
	// Next counts a call of an organization. It says which one it is if that
	// is known at once; Number asks further, with what Next returned.
	Increment(subject, period string) (n int64, known bool)
	AwaitCount(ctx context.Context, subject, period string, n int64) (int64, error)
}

// RequestLog remembers calls, without holding them up.
type RequestLog interface {
	Record(requestlog.Call)
	RecordRefused(requestlog.Call, requestlog.RefusedCall)
	List(ctx context.Context, projectID string, below int64, limit int) (calls []requestlog.NumberedCall, more bool, err error)
}

// RateLimiter bounds how often one key may call.
type RateLimiter interface {
	Allow(caller string) (ok bool, retryAfter time.Duration)
}

// FailureLimiter bounds how often one address may fail to show who it is.
type FailureLimiter interface {
	RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration)
}

// Options is how this version behaves here, and what it may do without.
type Options struct {
	Disabled   bool // everything is 404
	Skew       time.Duration
	RequestLog RequestLog     // nil where calls are not remembered
	Rate       RateLimiter    // nil without a limit
	Failures   FailureLimiter // nil without a limit
}

// Server answers the operations of version 5.
type Server struct {
	keys        KeyLookup
	usage       UsageReader
	counts      CallCounter
	now         func() time.Time
	options     Options
	description []byte
}

// NewHandler returns the handler of everything under /api/v5/.
func NewHandler(keys KeyLookup, ledger UsageReader, counts CallCounter, now func() time.Time, options Options) (http.Handler, error) {
	text, err := descriptionJSON()
	if err != nil {
		return nil, err
	}
	return &Server{keys: keys, usage: ledger, counts: counts, now: now, options: options, description: text}, nil
}

// ServeHTTP implements http.Handler. The order of the checks is part of the
// interface: version, route, signature, rate, suspension, and last what the
// answer needs.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header()[headerRequestID] = []string{httpx.FromContext(r.Context()).ID}
	if s.options.Disabled {
		writeError(w, r, errDisabled)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, prefix)
	answer := s.operation(name)
	switch {
	case answer == nil && name != "openapi.json":
		writeError(w, r, errResourceNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header()["Allow"] = []string{"GET, HEAD"}
		writeError(w, r, errMethodNotAllowed)
	case answer == nil:
		writeResponse(w, http.StatusOK, s.description)
	default:
		s.serveSigned(w, r, answer)
	}
}

// operation returns what answers a signed route; nil when there is none of
// that name.
func (s *Server) operation(name string) operation {
	switch name {
	case "keys":
		return s.getKeys
	case "usage":
		return s.getUsage
	case "limits":
		return s.getLimits
	case "requests":
		return s.getRequests
	}
	return nil
}

// operation answers a caller with the body of a 200.
type operation func(c *call) ([]byte, error)

// serveSigned answers a route that needs a signature, and takes note of the call
// once the answer is on its way.
func (s *Server) serveSigned(w http.ResponseWriter, r *http.Request, answer operation) {
	c := call{request: r, receivedAt: s.now()}
	defer c.release()
	body, err := s.perform(w, &c, answer)
	status, code := http.StatusOK, ErrorErrorCode("")
	if err == nil {
		writeResponse(w, status, body)
	} else {
		status, code = writeError(w, r, err)
	}
	if !c.isAuthenticated() {
		// What follows depends on whether there is such a key: nobody can
		// measure it behind an answer that is already sent.
		_ = http.NewResponseController(w).Flush()
	}
	s.recordCall(&c, status, code)
}

func (s *Server) perform(w http.ResponseWriter, c *call, answer operation) ([]byte, error) {
	if err := s.authenticate(w, c); err != nil {
		return nil, err
	}
	today := utcDay(c.receivedAt)
	used, known := s.counts.Increment(c.keyring.Organization.ID, today)
	s.counts.Add(c.key.ID, string(c.key.Slot))
	if s.options.Rate != nil {
		if ok, after := s.options.Rate.Allow(c.key.ID); !ok {
			return nil, &fault.Error{Kind: fault.Exhausted, Code: "rate_limited", Message: "too many calls with this API key, try again later", RetryAfter: after}
		}
	}
	if c.keyring.Project.Suspended() {
		return nil, errSuspended
	}
	if !known {
		var err error
		used, err = s.counts.AwaitCount(c.timeoutContext(), c.keyring.Organization.ID, today, used)
		known = err == nil
	}
	body, err := answer(c)
	if err != nil {
		return nil, err
	}
	text := "unavailable"
	if known {
		text = strconv.FormatInt(used, 10)
	}
	w.Header()[headerRequestsUsed] = []string{text}
	return body, nil
}

var (
	jsonType = []string{"application/json"}
	noStore  = []string{"no-store"}
)

func writeResponse(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
