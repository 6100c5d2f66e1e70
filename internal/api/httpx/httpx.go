// Package httpx is the transport that all HTTP packages share: reading bodies,
// request ids, the access log, recovery from panics, reading and writing JSON.
// It imports only fault, the standard library and a JSON tokenizer, and depends
// on no API version and no domain package.
package httpx

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"
)

// MaxBodySize is the largest request body that any API accepts, in bytes.
const MaxBodySize = 64 << 10

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
