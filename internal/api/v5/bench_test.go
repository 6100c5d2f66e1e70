package v5

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/api/record"
	"parley/internal/counter"
	"parley/internal/requestlog"
	"parley/internal/seal"
	"parley/internal/usage"
)

// discardWriter is an http.ResponseWriter that discards the body.
type discardWriter struct {
	header http.Header
	status int
}

func (n *discardWriter) Header() http.Header         { return n.header }
func (n *discardWriter) WriteHeader(status int)      { n.status = status }
func (n *discardWriter) Write(b []byte) (int, error) { return len(b), nil }
func (n *discardWriter) FlushError() error           { return nil }

// benchmarkCall measures one repeated call, including the log and the records that
// are written in the background.
func benchmarkCall(b *testing.B, name string, header func(*fixture) http.Header, status int) {
	fix := setup(b, func(s *fixture) {
		s.now = time.Now()
		s.counter = counter.New(s.db, time.Now)
		s.recorder = requestlog.NewRecorder(s.db, time.Now)
		s.options.RequestLog = s.recorder
	})
	api := NewHandler(fix.keys, usage.NewService(fix.db, usage.NewBuiltinProvider(nil), time.Now), fix.counter,
		time.Now, fix.options)
	// The log has its default format, but is discarded.
	options := httpx.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Fail: WriteInternalError}
	if fix.options.RequestLog != nil {
		options.Done = func(r *http.Request, info *httpx.RequestInfo) { record.Call(fix.recorder, version, r, info) }
	}
	handler := httpx.Middleware(api, options)
	r, err := http.NewRequest(http.MethodGet, prefix+name, nil)
	must(b, err)
	r.RequestURI, r.RemoteAddr, r.Header = prefix+name, "127.0.0.1:4000", header(fix)
	out := &discardWriter{header: http.Header{}}
	handler.ServeHTTP(out, r)
	if out.status != status {
		b.Fatalf("got status %d, want %d", out.status, status)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		report := func(err error) {
			if err != nil {
				b.Error(err)
			}
		}
		fix.recorder.Run(ctx, []string{version}, report, report)
		close(done)
	}()
	b.ReportAllocs()
	for b.Loop() {
		clear(out.header)
		handler.ServeHTTP(out, r)
	}
	stop()
	<-done
}

// BenchmarkReads measures signed reads, their counts and their records.
func BenchmarkReads(b *testing.B) {
	for _, name := range []string{"keys", "limits", "usage"} {
		b.Run(name, func(b *testing.B) {
			benchmarkCall(b, name, func(s *fixture) http.Header { return s.signedHeaders("GET", prefix+name, nil) },
				http.StatusOK)
		})
	}
}

// BenchmarkRefused compares rejected calls with known and unknown keys. Their
// duration before the response must not reveal whether a key exists.
func BenchmarkRefused(b *testing.B) {
	for name, header := range map[string]func(*fixture) http.Header{
		"known": func(s *fixture) http.Header {
			return signHeaders(s.issued.APIKey, "gs_other", "GET", prefix+"keys", sign.FormatTimestamp(s.now), nil)
		},
		"unknown": func(s *fixture) http.Header {
			return signHeaders(seal.NewAPIKey(false), "gs_other", "GET", prefix+"keys", sign.FormatTimestamp(s.now), nil)
		},
	} {
		b.Run(name, func(b *testing.B) { benchmarkCall(b, "keys", header, http.StatusUnauthorized) })
	}
}

// BenchmarkAuthenticate measures a rejected call until its response is sent.
func BenchmarkAuthenticate(b *testing.B) {
	for _, name := range []string{"known", "retired", "unknown"} {
		b.Run(name, func(b *testing.B) {
			fix := setup(b, nil)
			s := &Server{keys: fix.keys, now: time.Now, options: fix.options}
			apiKey := fix.issued.APIKey
			if name == "unknown" {
				apiKey = seal.NewAPIKey(false)
			}
			if name == "retired" {
				retireKey(b, fix)
			}
			r, err := http.NewRequest(http.MethodGet, prefix+"keys", nil)
			must(b, err)
			r.RequestURI, r.Header = prefix+"keys",
				signHeaders(apiKey, "gs_other", "GET", prefix+"keys", sign.FormatTimestamp(fix.now), nil)
			b.ReportAllocs()
			for b.Loop() {
				if err := s.authenticate(nil, &call{request: r, receivedAt: fix.now}); err != errUnauthorized {
					b.Fatal(err)
				}
			}
		})
	}
}
