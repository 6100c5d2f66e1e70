package v5

import (
	"context"
	_ "embed"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/usage"
)

// Headers of this version, in the canonical form of net/http.
const (
	headerRequestID    = "X-Gateway-Request-Id"
	headerRequestsUsed = "X-Gateway-Requests-Used"
)

const (
	version = "v5" // in the path and in the request log
	prefix  = "/api/" + version + "/"
)

// KeyLookup finds API keys.
type KeyLookup interface {
	// ByAPIKey returns a key and the keyring of its project. The error is
	// NotFound for an unknown key.
	ByAPIKey(ctx context.Context, text string) (key.APIKey, *key.Keyring, error)
}

// UsageReader reads the usage and the plan of an organization.
type UsageReader interface {
	Usage(ctx context.Context, o project.Organization, p project.Project) (usage.Usage, error)
	// PlanOf returns the plan and whether a provider knows it.
	PlanOf(o project.Organization) (usage.Plan, bool)
}

// CallCounter counts calls for each subject and period.
type CallCounter interface {
	// Add counts a call with a key. Count returns the number of calls and the
	// time of the last one.
	Add(subject, period string)
	Count(ctx context.Context, subject, period string) (n int64, last time.Time, err error)
	// Increment counts a call of an organization. It returns the count if that
	// is known immediately. Otherwise AwaitCount, called with the n that
	// Increment returned, waits for the count.
	Increment(subject, period string) (n int64, known bool)
	AwaitCount(ctx context.Context, subject, period string, n int64) (int64, error)
}

// RequestLog reads the recorded calls.
type RequestLog interface {
	List(ctx context.Context, q requestlog.Query) (requestlog.Page, error)
}

// RateLimiter limits the calls of each key.
type RateLimiter interface {
	Allow(caller string) (ok bool, retryAfter time.Duration)
}

// FailureLimiter limits the failed authentications of each client address.
type FailureLimiter interface {
	// RecordAttempt records a failure and reports whether the address has
	// exceeded its limit, and then when it may try again.
	RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration)
}

// Options configures version 5. The nil values turn off the respective part.
type Options struct {
	Disabled   bool           // every request is a 404
	Skew       time.Duration  // the maximum difference between timestamp and clock
	RequestLog RequestLog     // nil if calls are not stored
	Rate       RateLimiter    // nil for no limit
	Failures   FailureLimiter // nil for no limit
}

// Server handles the requests of version 5.
type Server struct {
	keys    KeyLookup
	usage   UsageReader
	counts  CallCounter
	now     func() time.Time
	options Options

	today  atomic.Pointer[date] // of the last call
	limits limitsBodies
}

// The OpenAPI description of this version, as openapi.json and openapi.yaml return it.
var (
	//go:embed openapi.json
	description []byte
	//go:embed openapi.yaml
	descriptionYAML []byte
)

// NewHandler returns the handler for all paths under /api/v5/.
func NewHandler(keys KeyLookup, usageReader UsageReader, counts CallCounter, now func() time.Time,
	options Options) *Server {
	return &Server{
		keys:    keys,
		usage:   usageReader,
		counts:  counts,
		now:     now,
		options: options,
	}
}

// ServeHTTP implements http.Handler. The order of the checks is part of the
// interface: version, route, signature, rate, suspension, parameters and last
// the availability of the data.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info := httpx.FromContext(r.Context())
	w.Header()[headerRequestID] = info.IDHeader()
	if s.options.Disabled {
		writeError(w, r, errDisabled)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, prefix)
	op, route := operationOf(name)
	info.Route = route
	switch {
	case route == "":
		writeError(w, r, errResourceNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header()["Allow"] = []string{"GET, HEAD"}
		writeError(w, r, errMethodNotAllowed)
	case name == "openapi.yaml":
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(descriptionYAML)
	case op == nil:
		writeResponse(w, http.StatusOK, description)
	default:
		s.serveSigned(w, r, op)
	}
}

// operationOf returns the route that has a name below prefix, which is empty if there is none,
// and its operation, which is nil if the route is not signed.
func operationOf(name string) (op operation, route string) {
	switch name {
	case "keys":
		return (*Server).getKeys, prefix + "keys"
	case "usage":
		return (*Server).getUsage, prefix + "usage"
	case "limits":
		return (*Server).getLimits, prefix + "limits"
	case "requests":
		return (*Server).getRequests, prefix + "requests"
	case "openapi.json", "openapi.yaml":
		return nil, prefix + name
	}
	return nil, ""
}

// operation handles an authenticated call and returns the body of the response
// with status 200.
type operation func(s *Server, c *call) ([]byte, error)

// serveSigned handles a route that requires a signature.
func (s *Server) serveSigned(w http.ResponseWriter, r *http.Request, op operation) {
	c := call{request: r, receivedAt: s.now(), timeout: timeout{parent: r.Context()}}
	defer c.release()
	body, err := s.perform(w, &c, op)
	if err != nil {
		writeError(w, r, err)
		return
	}
	c.headers[1] = strconv.Itoa(len(body))
	writeBody(w, http.StatusOK, body, c.headers[1:])
}

// perform runs the checks and the operation of a signed route, and counts the
// call.
func (s *Server) perform(w http.ResponseWriter, c *call, op operation) ([]byte, error) {
	if err := s.authenticate(w, c); err != nil {
		return nil, err
	}
	today := s.utcDay(c.receivedAt)
	used, known := s.counts.Increment(c.keyring.Organization.ID, today)
	s.counts.Add(c.key.ID, string(c.key.Slot))
	if s.options.Rate != nil {
		if ok, after := s.options.Rate.Allow(c.key.ID); !ok {
			return nil, &fault.Error{Kind: fault.Exhausted, Code: "rate_limited",
				Message: "too many calls with this API key, try again later", RetryAfter: after}
		}
	}
	if c.keyring.Project.Suspended() {
		return nil, errSuspended
	}
	if !known {
		var err error
		used, err = s.counts.AwaitCount(&c.timeout, c.keyring.Organization.ID, today, used)
		known = err == nil
	}
	body, err := op(s, c)
	if err != nil {
		return nil, err
	}
	text := "unavailable"
	if known {
		text = strconv.FormatInt(used, 10)
	}
	c.headers[0] = text
	w.Header()[headerRequestsUsed] = c.headers[:1:1]
	return body, nil
}

var (
	jsonType = []string{"application/json"}
	noStore  = []string{"no-store"}
)

func writeResponse(w http.ResponseWriter, status int, body []byte) {
	writeBody(w, status, body, []string{strconv.Itoa(len(body))})
}

// writeBody is writeResponse with the value of Content-Length.
func writeBody(w http.ResponseWriter, status int, body []byte, length []string) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	h["Content-Length"] = length
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
