// Package httpx is the transport that all HTTP packages share: reading bodies,
// request ids, the access log, recovery from panics, reading and writing JSON.
// It imports only fault, the standard library and a JSON tokenizer, and depends
// on no API version and no domain package.
package httpx

import (
	"bufio"
	"context"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/internal/fault"
)

// MaxBodySize is the largest request body that any API accepts, in bytes.
const MaxBodySize = 64 << 10

// RequestInfo is what the transport and an API learn about a request.
type RequestInfo struct {
	ID        string      // identifies the request in responses and logs; not secret
	Client    netip.Addr  // the caller's address, from the forwarding headers of trusted proxies
	StartedAt time.Time   // when the headers had been read
	LogAttrs  []slog.Attr // further attributes of the access log, such as the cause of an error

	// The following is empty until an API sets it.
	Caller Caller
	Route  string // the path with the names of its parameters, such as /rooms/{room_id}
	// Cause is why the request was rejected: the code of its error, or for a wrong signature
	// what is wrong with it. The caller may not learn it.
	Cause string
	// Hint says in a sentence what is wrong with a request whose credential is valid. Explain may have a better one.
	Hint string
	// Explain returns the mistake of the client as a sentence, or an empty string, and a
	// cause that is more exact than Cause, if there is one. It is called after the response
	// was sent. It is nil if there is nothing to explain.
	Explain func(ctx context.Context) (cause, hint string)
	// Intended says that the operator wants a status of 5xx, as while a node is draining. Then it is no error in
	// the access log.
	Intended bool

	// Status is that of the response, and Duration the time until it was written. Both
	// are set when the handler has returned.
	Status   int
	Duration time.Duration

	clientText string    // of Client; empty until it is used
	idHeader   [1]string // see IDHeader
}

// Caller is who made a request, as far as an API has found out.
type Caller struct {
	ProjectID string // of the credential that the request names; empty if no project has it
	// KeySlot is the slot of that credential, such as "current". It is "token" for a
	// management token.
	KeySlot string
	TokenID string // of the management token
	// ClockSkew is the caller's clock minus the server's clock in seconds. It is valid only
	// if HasTimestamp.
	ClockSkew    int64
	HasTimestamp bool
}

// IDHeader returns the value of a header with ID.
func (i *RequestInfo) IDHeader() []string {
	i.idHeader[0] = i.ID
	return i.idHeader[:]
}

// ClientText returns Client as a text.
func (i *RequestInfo) ClientText() string {
	if i.clientText == "" {
		i.clientText = i.Client.String()
	}
	return i.clientText
}

type requestInfoKey struct{}

// NewContext returns a context with another RequestInfo, for a request that is part of
// another one.
func NewContext(ctx context.Context, info *RequestInfo) context.Context {
	return context.WithValue(ctx, requestInfoKey{}, info)
}

// FromContext returns the RequestInfo of a request that came through Middleware,
// else an empty one.
func FromContext(ctx context.Context) *RequestInfo {
	if r, ok := ctx.Value(requestInfoKey{}).(*RequestInfo); ok {
		return r
	}
	return &RequestInfo{}
}

// LogError adds the cause of an error to the request's line in the access log.
// The caller of the API never sees it.
func LogError(r *http.Request, err error) {
	if err != nil {
		info := FromContext(r.Context())
		info.LogAttrs = append(info.LogAttrs, slog.String("error", err.Error()))
	}
}

// LogFault records why a request was rejected, in the access log and for the request log.
// A more exact cause that is already set stays.
func LogFault(r *http.Request, f *fault.Error) {
	LogError(r, f.Err)
	info := FromContext(r.Context())
	if info.Cause == "" {
		info.Cause = f.Code
	}
	switch f.Kind {
	case fault.Invalid, fault.Conflict, fault.Mismatch, fault.Gone, fault.NotFound, fault.Forbidden:
		info.Hint = f.Rule()
	}
}

// Options are what Middleware does beside calling the handler.
type Options struct {
	Trusted []netip.Prefix // proxies whose forwarding headers are believed
	Log     *slog.Logger   // of the access log
	// Fail writes the response if a handler panicked before it wrote anything.
	Fail http.HandlerFunc
	// LongPath returns what is handled in the place of a request whose path has more than maxPathBytes. If LongPath
	// or its result is nil, the response is a 414.
	LongPath func(r *http.Request) *http.Request
	// Done is called after each response was written. It must not block. Nil does nothing.
	Done func(r *http.Request, info *RequestInfo)
	Now  func() time.Time // nil is time.Now
	// LogPath returns the path that the access log has for a path. Nil logs the path itself.
	LogPath func(path string) string
	// LimitLog reports whether the access log gets a line for a request, and how many lines like it
	// were left out before. Nil logs every request.
	LimitLog func(r *http.Request, info *RequestInfo) (suppressed int, ok bool)
}

// Middleware gives every request an id, sets the security headers, recovers
// from panics and writes the access log: method, path, status, size, duration, and what
// the API found out about the caller. The log omits the query because it may contain a
// token.
func Middleware(next http.Handler, options Options) http.Handler {
	log, now := options.Log, options.Now
	if now == nil {
		now = time.Now
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &statusRecorder{ResponseWriter: w, info: RequestInfo{
			Client: clientAddr(r, options.Trusted), StartedAt: now()}}
		info := &rec.info
		info.ID = newRequestID(info.StartedAt)
		r = r.WithContext(context.WithValue(r.Context(), requestInfoKey{}, info))
		setSecurityHeaders(w, r)
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler {
				log.Error("handler panicked", "request_id", info.ID, "panic", v, "stack", string(debug.Stack()))
				if rec.status == 0 {
					options.Fail(rec, r)
				}
			}
			end := now()
			info.Status, info.Duration = rec.status, end.Sub(info.StartedAt)
			if info.Cause != "" {
				// The following takes longer for some causes. A client that has the response
				// cannot measure it.
				_ = http.NewResponseController(rec).Flush()
			}
			if options.Done != nil {
				options.Done(r, info)
			}
			level := slog.LevelInfo
			if rec.status >= 500 && !info.Intended {
				level = slog.LevelError
			}
			suppressed, logged := 0, log.Enabled(r.Context(), level)
			if logged && options.LimitLog != nil {
				suppressed, logged = options.LimitLog(r, info)
			}
			if logged {
				writeLog(log.Handler(), r, rec, options.LogPath, end, level, suppressed)
			}
		}()
		if len(r.URL.Path) > maxPathBytes {
			info.Cause = "path_too_long"
			if options.LongPath != nil {
				if short := options.LongPath(r); short != nil {
					next.ServeHTTP(rec, short)
					return
				}
			}
			http.Error(rec, fmt.Sprintf("the path has more than %d bytes", maxPathBytes), http.StatusRequestURITooLong)
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// attrHandler is a slog.Handler that writes the record with a time, a level, a message and attributes without memory
// for a slog.Record.
type attrHandler interface {
	HandleAttrs(ctx context.Context, at time.Time, level slog.Level, message string, attrs []slog.Attr) error
}

// logAttrs are attributes of lines that were written, for the next ones.
var logAttrs = sync.Pool{New: func() any { return new(make([]slog.Attr, 0, 16)) }}

// writeLog writes the line of the access log for a request that ended at a time.
func writeLog(
	h slog.Handler, r *http.Request, rec *statusRecorder, logPath func(string) string, end time.Time, level slog.Level,
	suppressed int,
) {
	info := &rec.info
	path := r.URL.Path[:min(len(r.URL.Path), maxPathBytes)]
	if logPath != nil && path != info.Route { // a route is a text of the program
		path = logPath(path)
	}
	pooled := logAttrs.Get().(*[]slog.Attr)
	attrs := append((*pooled)[:0], slog.String("request_id", info.ID),
		slog.String("method", r.Method[:min(len(r.Method), maxLoggedMethod)]), slog.String("path", path),
		slog.Int("status", rec.status), slog.Int64("bytes", rec.bytes),
		slog.Float64("duration_ms", float64(info.Duration.Microseconds())/1000),
		slog.String("client", info.ClientText()))
	if info.Caller.ProjectID != "" {
		attrs = append(attrs, slog.String("project_id", info.Caller.ProjectID))
	}
	if info.Caller.KeySlot != "" {
		attrs = append(attrs, slog.String("key", info.Caller.KeySlot))
	}
	if info.Cause != "" {
		attrs = append(attrs, slog.String("cause", info.Cause))
	}
	attrs = append(attrs, info.LogAttrs...)
	if suppressed > 0 {
		attrs = append(attrs, slog.Int("suppressed", suppressed))
	}
	// The line goes to the handler directly because the logger would look up its caller on the stack.
	if direct, ok := h.(attrHandler); ok {
		_ = direct.HandleAttrs(r.Context(), end, level, "request", attrs)
	} else {
		line := slog.NewRecord(end, level, "request", 0)
		line.AddAttrs(attrs...)
		_ = h.Handle(r.Context(), line)
	}
	clear(attrs) // release the texts
	*pooled = attrs[:0]
	logAttrs.Put(pooled)
}

const (
	// maxPathBytes is the maximum length of a path; no route comes near it.
	maxPathBytes = 2048
	// maxLoggedMethod is how much of a method the access log has. It is as long as a client wants.
	maxLoggedMethod = 16
)

// Values of the security headers. A page replaces the policy and adds headers that
// only matter for documents. The slices are shared so that a response allocates
// none. A response with more than eight headers costs a tenth more, because a map of
// more than eight entries does.
var (
	noSniff = []string{"nosniff"}
	// denyAllPolicy is the policy of a response that is data: a browser that
	// displays it loads nothing, and no page can embed it.
	denyAllPolicy   = []string{"default-src 'none'; frame-ancestors 'none'"}
	connectionClose = []string{"close"}
	// hstsMaxAge is 30 days, without includeSubDomains, because the operator may
	// serve other sites on subdomains and may want to return to http.
	hstsMaxAge = []string{"max-age=2592000"}
)

// setSecurityHeaders sets the security headers of a response.
func setSecurityHeaders(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["X-Content-Type-Options"] = noSniff
	h["Content-Security-Policy"] = denyAllPolicy
	if len(r.TransferEncoding) > 0 {
		// net/http removes a Content-Length beside chunked encoding, so that the
		// handler cannot detect one. Bytes after such a body may be a smuggled
		// request (RFC 9112, section 6.1), so the connection closes.
		h["Connection"] = connectionClose
	}
}

// WithHSTS adds Strict-Transport-Security to every response, so that browsers
// use only HTTPS. It is for servers whose public URL is https.
func WithHSTS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Strict-Transport-Security"] = hstsMaxAge
		next.ServeHTTP(w, r)
	})
}

// statusRecorder records the status and the size of the response. It also holds the
// RequestInfo, which saves an allocation.
type statusRecorder struct {
	http.ResponseWriter
	info   RequestInfo
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (r *statusRecorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *statusRecorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Hijack implements http.Hijacker so that a WebSocket can take over the
// connection.
func (r *statusRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil && r.status == 0 {
		r.status = http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *statusRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

var requestIDEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

const (
	requestIDPrefix = "req_"
	requestIDBytes  = 12 // 6 of the time in Unix milliseconds, and 6 random ones
)

// newRequestID returns the ID of a request that began at a time. IDs begin with the time, so that a request is
// found by its ID without an index of all IDs.
func newRequestID(at time.Time) string {
	var raw [8 + requestIDBytes - 6]byte
	binary.BigEndian.PutUint64(raw[:], uint64(at.UnixMilli()))
	// IDs are no secrets, so they need no random numbers of package crypto/rand, which cost more than the rest.
	random := rand.Uint64()
	for i := range raw[8:] {
		raw[8+i] = byte(random >> (8 * i))
	}
	var id [len(requestIDPrefix) + (8*requestIDBytes+4)/5]byte
	requestIDEncoding.Encode(id[copy(id[:], requestIDPrefix):], raw[2:])
	return string(id[:])
}

// RequestTime returns the time at which the request with an ID began, rounded down to the millisecond, and
// whether the text is a request ID.
func RequestTime(id string) (time.Time, bool) {
	text, _ := strings.CutPrefix(id, requestIDPrefix)
	raw, err := requestIDEncoding.DecodeString(text)
	if err != nil || len(raw) != requestIDBytes || len(id) == len(text) {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(append([]byte{0, 0}, raw[:6]...)))), true
}

// clientAddr returns the nearest address that is not a trusted proxy. If the
// peer is not a trusted proxy, it returns the peer and ignores the headers.
func clientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap()
	if len(trusted) == 0 || !inPrefixes(addr, trusted) {
		return addr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := strings.TrimSpace(hops[i])
		if hop == "" {
			continue // RFC 9110, section 5.6.1: empty elements of a list count for nothing
		}
		a, err := parseHop(hop)
		if err != nil {
			return addr
		}
		addr = a
		if !inPrefixes(addr, trusted) {
			return addr
		}
	}
	return addr
}

// HasUntrustedProxy reports whether a request came through a proxy that is not trusted, so that the
// server takes the proxy for its client.
func HasUntrustedProxy(r *http.Request, trusted []netip.Prefix) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && r.Header.Get("X-Forwarded-For") != "" && !inPrefixes(peer.Addr().Unmap(), trusted)
}

func inPrefixes(a netip.Addr, prefixes []netip.Prefix) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

var jsonType = []string{"application/json"}

// WriteJSON writes a response with the status and v as JSON.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable because the callers pass only types of this module
	}
	body = append(body, '\n')
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))} // because Middleware flushes some responses
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Mux routes the requests of one API. For unknown paths and methods it calls
// that API's own handlers, so that the error has the form of that API.
type Mux struct {
	mux        *http.ServeMux
	methods    map[string][]string // path → methods
	notFound   http.HandlerFunc
	notAllowed http.HandlerFunc
}

// NewMux returns an empty Mux. notFound handles unknown paths. notAllowed
// handles known paths with another method; the header Allow is already set.
func NewMux(notFound, notAllowed http.HandlerFunc) *Mux {
	m := &Mux{mux: http.NewServeMux(), methods: map[string][]string{}, notFound: notFound, notAllowed: notAllowed}
	m.mux.HandleFunc("/", notFound)
	return m
}

// HandleFunc registers a handler for a pattern "METHOD /path". GET includes HEAD.
func (m *Mux) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	method, route, _ := strings.Cut(pattern, " ")
	if len(m.methods[route]) == 0 {
		m.mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			allow := slices.Sorted(slices.Values(m.methods[route]))
			w.Header().Set("Allow", strings.Join(allow, ", "))
			m.notAllowed(w, r)
		})
	}
	m.methods[route] = append(m.methods[route], method)
	if method == http.MethodGet {
		m.methods[route] = append(m.methods[route], http.MethodHead)
	}
	m.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		FromContext(r.Context()).Route = route
		handler(w, r)
	})
}

// Handle registers a handler for each pattern "METHOD /path" of routes.
func (m *Mux) Handle(routes map[string]http.HandlerFunc) {
	for pattern, handler := range routes {
		m.HandleFunc(pattern, handler)
	}
}

// ServeHTTP implements http.Handler.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path.Clean(r.URL.Path) != r.URL.Path {
		m.notFound(w, r) // because http.ServeMux would redirect, and the signature covers the path
		return
	}
	m.mux.ServeHTTP(w, r)
}

const headerRequestID = "X-Request-Id" // in the canonical form of net/http

// WithRequestID sets the header X-Request-ID of every response.
func WithRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()[headerRequestID] = FromContext(r.Context()).IDHeader()
		next.ServeHTTP(w, r)
	})
}

// ReadOnly responds with 405 to methods other than GET and HEAD.
func ReadOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			WriteJSON(w, http.StatusMethodNotAllowed, struct {
				Error string `json:"error"`
			}{"this path takes GET, HEAD, not " + r.Method})
			return
		}
		next.ServeHTTP(w, r)
	})
}
