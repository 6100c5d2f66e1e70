package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/config"
)

// Whatever is logged, the line is that of package slog.
func TestLogger_WritesWhatSlogWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[a-z0-9/_.:-]{0,12}`), rapid.String())
		value := rapid.Custom(func(rt *rapid.T) slog.Value {
			switch rapid.IntRange(0, 6).Draw(rt, "kind") {
			case 0, 1, 2:
				return slog.StringValue(text.Draw(rt, "text"))
			case 3:
				return slog.Int64Value(rapid.Int64().Draw(rt, "int"))
			case 4:
				return slog.Float64Value(float64(rapid.Int64Range(0, 1<<40).Draw(rt, "µs")) / 1000)
			case 5:
				return slog.Float64Value(rapid.Float64().Draw(rt, "float"))
			}
			return rapid.SampledFrom([]slog.Value{{}, slog.BoolValue(true), slog.DurationValue(time.Second),
				slog.GroupValue(slog.Int("a", 1)), slog.AnyValue(io.EOF)}).Draw(rt, "other")
		})
		zone := rapid.SampledFrom([]*time.Location{time.UTC, time.FixedZone("", 5*3600+1800), time.FixedZone("", -3600)})
		at := time.Unix(0, rapid.Int64Range(0, 1<<62).Draw(rt, "at")).In(zone.Draw(rt, "zone"))
		if rapid.IntRange(0, 9).Draw(rt, "no time") == 0 {
			at = time.Time{}
		}
		level := rapid.SampledFrom([]slog.Level{slog.LevelInfo, slog.LevelInfo + 2, slog.LevelError}).Draw(rt, "level")
		record := slog.NewRecord(at, level, text.Draw(rt, "message"), 0)
		for range rapid.IntRange(0, 12).Draw(rt, "attributes") {
			record.AddAttrs(slog.Attr{Key: text.Draw(rt, "key"), Value: value.Draw(rt, "value")})
		}
		for _, format := range []string{config.LogFormatJSON, config.LogFormatText} {
			compareWithSlog(rt, format, record, rapid.Bool().Draw(rt, "in a group"))
		}
	})
}

// compareWithSlog fails if the line of a record differs from that of package slog.
func compareWithSlog(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, format string, record slog.Record, inGroup bool) {
	t.Helper()
	var got, direct, want bytes.Buffer
	w, directWriter := &logWriter{out: &got}, &logWriter{out: &direct}
	h := newLogger(config.Config{LogFormat: format}, w).Handler()
	d := newLogger(config.Config{LogFormat: format}, directWriter).Handler()
	var standard slog.Handler = slog.NewTextHandler(&want, nil)
	if format == config.LogFormatJSON {
		standard = slog.NewJSONHandler(&want, nil)
	}
	if inGroup {
		more := []slog.Attr{slog.Int("more", 1)}
		h, d = h.WithAttrs(more).WithGroup("g"), d.WithAttrs(more).WithGroup("g")
		standard = standard.WithAttrs(more).WithGroup("g")
	}
	var attrs []slog.Attr
	record.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	ctx := context.Background()
	err := errors.Join(h.Handle(ctx, record), standard.Handle(ctx, record),
		d.(outageHandler).HandleAttrs(ctx, record.Time, record.Level, record.Message, attrs))
	if err != nil {
		t.Fatalf("write %s: %v", format, err)
	}
	w.flush()
	directWriter.flush()
	if got.String() != want.String() || direct.String() != want.String() {
		t.Fatalf("%s: got\n%sand from the attributes\n%swant\n%s", format, got.String(), direct.String(), want.String())
	}
}

// The durations of requests that are longer than a quarter of an hour have an exponent.
func TestLogger_Numbers(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{0, math.Copysign(0, -1), 0.0001, 0.00099, 0.001, 0.083, 12, 999_999.999, 1e6,
		1_234_567.5, 1e9, 1e21, -1, math.Inf(1), math.NaN()} {
		for _, format := range []string{config.LogFormatJSON, config.LogFormatText} {
			record := slog.NewRecord(time.Unix(1_800_000_000, 0), slog.LevelInfo, "request", 0)
			record.AddAttrs(slog.Float64("duration_ms", f))
			compareWithSlog(t, format, record, false)
		}
	}
}

func BenchmarkLogger(b *testing.B) {
	h := newLogger(config.Config{}, &logWriter{out: io.Discard}).Handler().(flushOnWarnHandler)
	at := time.Unix(1_800_000_000, 0)
	attrs := []slog.Attr{slog.String("request_id", "req_01hq3v5kx8m2n4p6r8t0"), slog.String("method", "GET"),
		slog.String("path", "/api/v5/keys"), slog.Int("status", 200), slog.Int64("bytes", 312),
		slog.Float64("duration_ms", 0.083), slog.String("client", "192.0.2.1"),
		slog.String("project_id", "019ac3f0-7d2e-7c55-9a44-0a4b8f1f2f10"), slog.String("key", "current")}
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			record := slog.NewRecord(at, slog.LevelInfo, "request", 0)
			record.AddAttrs(attrs...)
			_ = h.Handle(b.Context(), record)
		}
	})
	b.Run("attributes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = h.HandleAttrs(b.Context(), at, slog.LevelInfo, "request", attrs)
		}
	})
}
