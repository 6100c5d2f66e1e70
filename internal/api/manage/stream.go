package manage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/operator"
)

const (
	maxStreamPaths         = 8
	maxStreamPathSize      = 2048 // bytes
	maxStreamBody          = 1 << 20
	maxStreams             = 256 // on this node
	maxStreamsOfCaller     = 16
	maxStreamsOfIntegrator = 3
	// reservedStreams is the number of streams on this node that integrators cannot use.
	reservedStreams = 64
	streamInterval  = 2 * time.Second
	// ticksPerComment is the number of intervals between two comment lines, which keep
	// proxies from closing the connection: 14 seconds.
	ticksPerComment = 7
)

// StreamPath is the path of streams, which last as long as a page is open.
const StreamPath = "/api/manage/stream"

// unfollowablePaths are the paths that a stream cannot follow: its own, and that of an operation
// which reads the whole audit log.
var unfollowablePaths = []string{"/stream", "/audit/verify"}

// StreamResults performs GET operations again and again and sends the results that differ
// from the last ones. It authenticates the caller each time.
func (s *server) StreamResults(w http.ResponseWriter, r *http.Request) {
	paths, err := parseStreamPaths(r.URL.RawQuery)
	if err != nil {
		writeError(w, r, err)
		return
	}
	leave, err := s.streams.enter(caller(r))
	if err != nil {
		writeError(w, r, err)
		return
	}
	defer leave()
	for range paths { // each first result costs as much as a call
		if err := s.limit(caller(r)); err != nil {
			writeError(w, r, err)
			return
		}
	}
	f := &stream{server: s, request: r, paths: paths, sent: make([][sha256.Size]byte, len(paths))}
	events, err := f.repeat()
	if err != nil {
		writeError(w, r, err)
		return
	}
	allowLongRequest(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for nginx
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	f.run(w, events)
}

// parseStreamPaths returns the different values of the parameter path.
func parseStreamPaths(rawQuery string) ([]string, error) {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, fault.Invalidf("path in the query is not percent-encoded correctly")
	}
	var paths []string
	for _, path := range query["path"] {
		u, err := url.ParseRequestURI(path)
		switch {
		case len(path) > maxStreamPathSize:
			return nil, fault.Invalidf("path must have at most %d bytes", maxStreamPathSize)
		case err != nil || !strings.HasPrefix(path, "/"):
			return nil, fault.Invalidf("path must be a path of this API such as /rooms?state=active, not %q", path)
		case slices.Contains(unfollowablePaths, u.Path):
			return nil, fault.Invalidf("path must not be %s, which cannot be followed", u.Path)
		case !slices.Contains(paths, path):
			paths = append(paths, path)
		}
	}
	if len(paths) < 1 || len(paths) > maxStreamPaths {
		return nil, fault.Invalidf("path is required in the query, 1 to %d different ones, not %d", maxStreamPaths,
			len(paths))
	}
	return paths, nil
}

// streams counts the streams of this node.
type streams struct {
	mu       sync.Mutex
	all      int
	byCaller map[string]int
}

// enter counts a stream of a caller until leave, or returns Exhausted at a limit.
func (s *streams) enter(by operator.Caller) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	caller, ofCaller, ofAll := by.ID, maxStreamsOfCaller, maxStreams
	if by.Role == operator.Integrator {
		ofCaller, ofAll = maxStreamsOfIntegrator, maxStreams-reservedStreams
	}
	tooMany := &fault.Error{Kind: fault.Exhausted, Code: "too_many_streams", RetryAfter: streamInterval}
	switch {
	case s.byCaller[caller] >= ofCaller:
		tooMany.Message = fmt.Sprintf("you have %d streams open already: close pages that are not needed",
			ofCaller)
		return nil, tooMany
	case s.all >= ofAll:
		tooMany.Message = fmt.Sprintf("this node serves %d streams already: load the page again later", s.all)
		return nil, tooMany
	}
	if s.byCaller == nil {
		s.byCaller = map[string]int{}
	}
	s.all++
	s.byCaller[caller]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.byCaller[caller]--; s.byCaller[caller] == 0 {
			delete(s.byCaller, caller)
		}
	}, nil
}

// stream is one call of StreamResults.
type stream struct {
	server  *server
	request *http.Request // as the caller sent it
	paths   []string
	sent    [][sha256.Size]byte // digest of the last result that was sent, for each path
}

// run sends events until the caller leaves, is no longer authenticated, or the service
// stops.
func (f *stream) run(w http.ResponseWriter, events []byte) {
	connection := http.NewResponseController(w)
	for tick := 1; ; tick++ {
		if tick%ticksPerComment == 0 {
			events = append(events, ": still here\n\n"...)
		}
		if _, err := w.Write(events); err != nil || connection.Flush() != nil {
			return
		}
		var err error
		select {
		case <-f.request.Context().Done():
			return
		case <-f.server.Stopping:
			err = fault.New(fault.Unavailable, "stopping", "the service stops: connect again")
		case <-f.server.After(streamInterval):
			events, err = f.repeat()
		}
		if err != nil {
			ended := fault.From(err)
			_, _ = w.Write(serverEvent("ended", streamEnd{ended.Code, ended.Message}))
			_ = connection.Flush()
			return
		}
	}
}

// repeat performs the operations and returns an event for each result that has changed. It
// returns no events while the database is unavailable. Errors: those of the authentication, and
// Invalid for an operation that cannot be followed.
func (f *stream) repeat() ([]byte, error) {
	r, err := f.server.authenticate(f.repeated())
	if fault.Is(err, fault.Unavailable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var events []byte
	for i, path := range f.paths {
		if f.sent[i] != ([sha256.Size]byte{}) && f.server.limit(caller(r)) != nil {
			continue // a later repetition sends the result
		}
		info := httpx.FromContext(r.Context())
		logged := len(info.LogAttrs)
		result, err := f.perform(r, path)
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(append(withoutTime(result.Body), byte(result.Status>>8), byte(result.Status)))
		if digest != f.sent[i] {
			f.sent[i] = digest
			if result.Status >= http.StatusInternalServerError {
				f.logFailure(path, result.Status, info.LogAttrs[logged:])
			}
			events = append(events, serverEvent("result", result)...)
		}
	}
	return events, nil
}

// logFailure logs why a result has failed, under the request ID that it names. The access log has no line before the
// stream ends. The query may have names of people.
func (f *stream) logFailure(path string, status int, causes []slog.Attr) {
	path, _, _ = strings.Cut(path, "?")
	attrs := []slog.Attr{slog.String("request_id", httpx.FromContext(f.request.Context()).ID),
		slog.String("path", "/api/manage"+path), slog.Int("status", status)}
	f.server.Log.LogAttrs(f.request.Context(), slog.LevelError, "followed result failed", append(attrs, causes...)...)
}

type repeatedKey struct{}

// isRepeated reports whether a request repeats an operation for a stream.
func isRepeated(ctx context.Context) bool { return ctx.Value(repeatedKey{}) != nil }

// repeated returns a request with the credentials of the caller. The access log and the request
// log do not record it.
func (f *stream) repeated() *http.Request {
	own := httpx.FromContext(f.request.Context())
	ctx := httpx.NewContext(f.request.Context(), &httpx.RequestInfo{ID: own.ID, Client: own.Client})
	return f.request.WithContext(context.WithValue(ctx, repeatedKey{}, true))
}

// streamResult is a StreamResult with the JSON of another response.
type streamResult struct {
	Path   string          `json:"path"`
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

// streamEnd is a StreamEnd, which no operation returns by itself.
type streamEnd struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// perform performs a GET operation with the rights of an authenticated request.
func (f *stream) perform(authenticated *http.Request, path string) (streamResult, error) {
	r := authenticated.Clone(authenticated.Context())
	target, err := url.ParseRequestURI("/api/manage" + path)
	if err != nil {
		return streamResult{}, fault.Invalidf("path must be a path of this API, not %q", path)
	}
	r.Method, r.URL, r.RequestURI, r.Body = http.MethodGet, target, target.RequestURI(), http.NoBody
	w := &bufferedResponse{header: http.Header{}, status: http.StatusOK}
	f.server.mux.ServeHTTP(w, r)
	if w.body.Len() >= maxStreamBody {
		w = &bufferedResponse{header: http.Header{}}
		writeErrorBody(w, http.StatusRequestEntityTooLarge, "body_too_large",
			"this result has 1 MiB or more, so it is not followed: use a smaller limit")
	}
	if !json.Valid(w.body.Bytes()) {
		return streamResult{}, fault.Invalidf("path must be of an operation that returns JSON, not %q", path)
	}
	return streamResult{Path: path, Status: w.status, Body: bytes.TrimSpace(w.body.Bytes())}, nil
}

// withoutTime returns a copy of a body without its first field, if this field is "at". A result
// that differs only in this time has not changed.
func withoutTime(body []byte) []byte {
	if rest, ok := bytes.CutPrefix(body, []byte(`{"at":"`)); ok {
		_, body, _ = bytes.Cut(rest, []byte(`"`))
	}
	return bytes.Clone(body)
}

// serverEvent returns a server-sent event.
func serverEvent(name string, data any) []byte {
	body, err := json.Marshal(data)
	if err != nil {
		panic(err) // unreachable because the callers pass only types of this module
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, body)
}

// bufferedResponse keeps a response in memory.
type bufferedResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (b *bufferedResponse) Header() http.Header { return b.header }

// WriteHeader implements http.ResponseWriter.
func (b *bufferedResponse) WriteHeader(status int) { b.status = status }

// Write implements http.ResponseWriter. It keeps at most maxStreamBody bytes.
func (b *bufferedResponse) Write(p []byte) (int, error) {
	b.body.Write(p[:min(len(p), maxStreamBody-b.body.Len())])
	return len(p), nil
}
