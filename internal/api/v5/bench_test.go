package v5

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"parley/client/sign"
	"parley/internal/api/web"
	"parley/internal/diagnostic"
	"parley/internal/live"
	"parley/internal/seal"
	"parley/internal/usage"
)

// nowhere is an answer that nobody reads.
type nowhere struct {
	header http.Header
	status int
}

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) WriteHeader(status int)      { n.status = status }
func (n *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n *nowhere) FlushError() error           { return nil }

// run measures one call, made again and again, with everything that is written
// behind it.
func run(b *testing.B, header func(*bundle) http.Header, status int) {
	set := setup(b, func(s *bundle) {
		s.now = time.Now()
		s.counts = live.NewTally(s.db, time.Now)
		s.recorder = diagnostic.NewRecorder(s.db, time.Now)
		s.options.Diagnostics = s.recorder
	})
	api, err := NewHandler(set.keys, usage.NewService(set.db, usage.Builtin(nil), time.Now), set.counts, time.Now, set.options)
	must(b, err)
	// The log is written as it is by default, to nowhere.
	handler := web.Wrap(api, nil, slog.New(slog.NewTextHandler(io.Discard, nil)), Fail)
	r, err := http.NewRequest(http.MethodGet, prefix+"keys", nil)
	must(b, err)
	r.RequestURI, r.RemoteAddr, r.Header = prefix+"keys", "127.0.0.1:4000", header(set)
	out := &nowhere{header: http.Header{}}
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
	run(b, func(s *bundle) http.Header { return s.signed("GET", prefix+"keys", nil) }, http.StatusOK)
}

// BenchmarkRefused compares calls that are refused: their costs before the
// answer must not tell whether there is such a key.
func BenchmarkRefused(b *testing.B) {
	for name, header := range map[string]func(*bundle) http.Header{
		"known": func(s *bundle) http.Header {
			return signedWith(s.issued.APIKey, "gs_other", "GET", prefix+"keys", sign.FormatTimestamp(s.now), nil)
		},
		"unknown": func(s *bundle) http.Header {
			return signedWith(seal.NewAPIKey(), "gs_other", "GET", prefix+"keys", sign.FormatTimestamp(s.now), nil)
		},
	} {
		b.Run(name, func(b *testing.B) { run(b, header, http.StatusUnauthorized) })
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
				retire(b, set)
			}
			r, err := http.NewRequest(http.MethodGet, prefix+"keys", nil)
			must(b, err)
			r.RequestURI, r.Header = prefix+"keys", signedWith(apiKey, "gs_other", "GET", prefix+"keys", sign.FormatTimestamp(set.now), nil)
			b.ReportAllocs()
			for b.Loop() {
				if err := s.authenticate(nil, &caller{request: r, at: set.now}); err != errUnauthorized {
					b.Fatal(err)
				}
			}
		})
	}
}
