package v5

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"parley/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/counter"
	"parley/internal/requestlog"
	"parley/internal/seal"
	"parley/internal/usage"
)

// discardWriter is an answer that nobody reads.
type discardWriter struct {
	header http.Header
	status int
}

func (n *discardWriter) Header() http.Header         { return n.header }
func (n *discardWriter) WriteHeader(status int)      { n.status = status }
func (n *discardWriter) Write(b []byte) (int, error) { return len(b), nil }
func (n *discardWriter) FlushError() error           { return nil }

// benchmarkCall measures one call, made again and again, with everything that is written
// behind it.
func benchmarkCall(b *testing.B, header func(*fixture) http.Header, status int) {
	set := setup(b, func(s *fixture) {
		s.now = time.Now()
		s.counter = counter.New(s.db, time.Now)
		s.recorder = requestlog.NewRecorder(s.db, time.Now)
		s.options.RequestLog = s.recorder
	})
	api, err := NewHandler(set.keys, usage.NewService(set.db, usage.NewBuiltinProvider(nil), time.Now), set.counter, time.Now, set.options)
	must(b, err)
	// The log is written as it is by default, to nowhere.
	handler := httpx.Middleware(api, nil, slog.New(slog.NewTextHandler(io.Discard, nil)), WriteInternalError)
	r, err := http.NewRequest(http.MethodGet, prefix+"keys", nil)
	must(b, err)
	r.RequestURI, r.RemoteAddr, r.Header = prefix+"keys", "127.0.0.1:4000", header(set)
	out := &discardWriter{header: http.Header{}}
	handler.ServeHTTP(out, r)
	if out.status != status {
		b.Fatalf("%d", out.status)
	}
	ctx, stop := context.WithCancel(context.Background())
	written := make(chan struct{})
	go func() {
		set.recorder.Run(ctx, func(err error) { b.Error(err) })
		close(written)
	}()
	b.ReportAllocs()
	for b.Loop() {
		clear(out.header)
		handler.ServeHTTP(out, r)
	}
	stop()
	<-written
}

// BenchmarkKeys is a signed read with its count and its record.
func BenchmarkKeys(b *testing.B) {
	benchmarkCall(b, func(s *fixture) http.Header { return s.signedHeaders("GET", prefix+"keys", nil) }, http.StatusOK)
}

// BenchmarkRefused compares calls that are refused: their costs before the
// answer must not tell whether there is such a key.
func BenchmarkRefused(b *testing.B) {
	for name, header := range map[string]func(*fixture) http.Header{
		"known": func(s *fixture) http.Header {
			return signHeaders(s.issued.APIKey, "gs_other", "GET", prefix+"keys", sign.FormatTimestamp(s.now), nil)
		},
		"unknown": func(s *fixture) http.Header {
			return signHeaders(seal.NewAPIKey(), "gs_other", "GET", prefix+"keys", sign.FormatTimestamp(s.now), nil)
		},
	} {
		b.Run(name, func(b *testing.B) { benchmarkCall(b, header, http.StatusUnauthorized) })
	}
}

// BenchmarkAuthenticate is what a refusal costs before its answer is sent.
func BenchmarkAuthenticate(b *testing.B) {
	for _, name := range []string{"known", "retired", "unknown"} {
		b.Run(name, func(b *testing.B) {
			set := setup(b, nil)
			s := &Server{keys: set.keys, now: time.Now, options: set.options}
			apiKey := set.issued.APIKey
			if name == "unknown" {
				apiKey = seal.NewAPIKey()
			}
			if name == "retired" {
				retireKey(b, set)
			}
			r, err := http.NewRequest(http.MethodGet, prefix+"keys", nil)
			must(b, err)
			r.RequestURI, r.Header = prefix+"keys", signHeaders(apiKey, "gs_other", "GET", prefix+"keys", sign.FormatTimestamp(set.now), nil)
			b.ReportAllocs()
			for b.Loop() {
				if err := s.authenticate(nil, &call{request: r, receivedAt: set.now}); err != errUnauthorized {
					b.Fatal(err)
				}
			}
		})
	}
}
