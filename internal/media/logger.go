package media

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/livekit/livekit-server/pkg/rtc"
	"github.com/livekit/protocol/logger"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"parley/internal/refusal"
)

// currentLogTarget is where LiveKit's lines go now. LiveKit has one logger for the
// whole process and copies it into everything it makes, so the logger given
// to it stays and only the sink behind it changes with the Engine.
var (
	currentLogTarget atomic.Pointer[logTarget]
	logOnce          sync.Once
)

type logTarget struct {
	handler slog.Handler
	secret  string
	limiter logLimiter
}

// routeLogs sends LiveKit's log lines to log. LiveKit's own set-up functions
// are avoided on purpose: they would take over slog.Default and with it Go's
// standard log.
func routeLogs(log *slog.Logger, secret string) {
	currentLogTarget.Store(&logTarget{handler: log.Handler(), secret: secret})
	logOnce.Do(func() { logger.SetLogger(&livekitLogger{}, "livekit") })
}

// livekitLogger is LiveKit's logger interface on top of slog. Its lines are
// for people who look into the engine: warnings and errors always, the rest
// when our own level is debug.
//
// It is a logger.ZapLogger for one reason: only then does LiveKit ask for the
// level before it formats each of pion's trace messages.
type livekitLogger struct {
	component string
	values    []any
	deferred  []*deferredValues
}

var _ logger.ZapLogger = (*livekitLogger)(nil)

func (l *livekitLogger) Debugw(msg string, kv ...any) { l.write(slog.LevelDebug, msg, nil, kv) }

func (l *livekitLogger) Infow(msg string, kv ...any) { l.write(slog.LevelInfo, msg, nil, kv) }

func (l *livekitLogger) Warnw(msg string, err error, kv ...any) {
	l.write(slog.LevelWarn, msg, err, kv)
}

func (l *livekitLogger) Errorw(msg string, err error, kv ...any) {
	l.write(slog.LevelError, msg, err, kv)
}

func (l *livekitLogger) WithValues(kv ...any) logger.Logger {
	dup := *l
	dup.values = append(l.values[:len(l.values):len(l.values)], kv...)
	return &dup
}

func (l *livekitLogger) WithUnlikelyValues(kv ...any) logger.UnlikelyLogger {
	return logger.NewUnlikelyLogger(l, kv...)
}

func (l *livekitLogger) WithName(string) logger.Logger { return l }

func (l *livekitLogger) WithComponent(component string) logger.Logger {
	dup := *l
	if dup.component != "" {
		component = dup.component + "." + component
	}
	dup.component = component
	return &dup
}

func (l *livekitLogger) WithCallDepth(int) logger.Logger { return l }

func (l *livekitLogger) WithItemSampler() logger.Logger { return l }

func (l *livekitLogger) WithoutSampler() logger.Logger { return l }

func (l *livekitLogger) WithDeferredValues() (logger.Logger, logger.DeferredFieldResolver) {
	dup, later := *l, &deferredValues{}
	dup.deferred = append(l.deferred[:len(l.deferred):len(l.deferred)], later)
	return &dup, later
}

func (l *livekitLogger) ToZap() *zap.SugaredLogger { return zap.NewNop().Sugar() }

func (l *livekitLogger) WithMinLevel(zapcore.LevelEnabler) logger.Logger { return l }

func (l *livekitLogger) ComponentLeveler() logger.ZapComponentLeveler { return componentLeveler{} }

type componentLeveler struct{}

func (componentLeveler) ComponentLevel(component string) zapcore.LevelEnabler {
	return zap.LevelEnablerFunc(func(at zapcore.Level) bool {
		s := currentLogTarget.Load()
		return s != nil && s.enabled(component, slogLevel(at))
	})
}

func slogLevel(at zapcore.Level) slog.Level {
	switch {
	case at >= zapcore.ErrorLevel:
		return slog.LevelError
	case at == zapcore.WarnLevel:
		return slog.LevelWarn
	case at == zapcore.InfoLevel:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// enabled decides by level and component. Of the WebRTC stack only errors are
// of use: at every other level it tells of each lost packet and each address
// that did not answer.
func (s *logTarget) enabled(component string, level slog.Level) bool {
	if level < slog.LevelError && strings.HasPrefix(component, "pion") {
		return false
	}
	if level < slog.LevelWarn && !s.handler.Enabled(context.Background(), slog.LevelDebug) {
		return false
	}
	return s.handler.Enabled(context.Background(), level)
}

// routineMessages are lines LiveKit writes as warnings and errors when nothing is
// wrong with the server: a browser that was closed while something was on its
// way to it, somebody who asked for what they may not do.
var routineMessages = map[string]bool{
	"could not match local candidate":       true,
	"could not update metadata":             true,
	"error handling request":                true,
	"error reading data channel":            true,
	"error reading from websocket":          true,
	"no permission to publish track":        true,
	"could not send message to participant": true,
	"could not send update to participant":  true,
}

func isRoutine(msg string, err error) bool {
	return routineMessages[msg] || errors.Is(err, context.Canceled) || errors.Is(err, rtc.ErrMaxParticipantsExceeded)
}

func (l *livekitLogger) write(level slog.Level, msg string, err error, kv []any) {
	if isRoutine(msg, err) {
		level = slog.LevelDebug
	}
	s := currentLogTarget.Load()
	if s == nil || !s.enabled(l.component, level) {
		return
	}
	now := time.Now()
	suppressed, ok := s.limiter.allow(msg, now)
	if !ok {
		refusal.Count(refusal.EngineLog)
		return
	}
	record := slog.NewRecord(now, level, "media engine: "+redact(truncate(msg), s.secret), 0)
	if suppressed > 0 {
		record.AddAttrs(slog.Int("suppressed", suppressed))
	}
	if l.component != "" {
		record.AddAttrs(slog.String("component", l.component))
	}
	seen := make(map[string]bool)
	add := func(kv []any) {
		for i := 0; i+1 < len(kv); i += 2 {
			key, ok := kv[i].(string)
			if !ok || seen[key] {
				continue
			}
			seen[key] = true
			record.AddAttrs(slog.Attr{Key: key, Value: logValue(kv[i+1], s.secret)})
		}
	}
	add(kv)
	if err != nil {
		add([]any{"error", err})
	}
	for _, later := range l.deferred {
		add(later.get())
	}
	add(l.values)
	// A log that cannot be written has nobody to be told to.
	_ = s.handler.Handle(context.Background(), record)
}

// logValue turns whatever LiveKit logs into something slog prints, without
// the secrets in it, and no longer than maxLogValue. Everything that is not
// plainly a number becomes text first, so that no secret hides in a nested
// value.
func logValue(v any, secret string) slog.Value {
	switch v := v.(type) {
	case nil:
		return slog.StringValue("")
	case bool, int, int32, int64, uint32, uint64, float32, float64, time.Duration, time.Time:
		return slog.AnyValue(v)
	case string:
		return textValue(v, secret)
	case zapcore.ObjectMarshaler:
		enc := zapcore.NewMapObjectEncoder()
		if err := enc.AddObject("v", v); err == nil {
			return textValue(asJSON(enc.Fields["v"]), secret)
		}
	case zapcore.ArrayMarshaler:
		enc := zapcore.NewMapObjectEncoder()
		if err := enc.AddArray("v", v); err == nil {
			return textValue(asJSON(enc.Fields["v"]), secret)
		}
	}
	return textValue(fmt.Sprint(v), secret)
}

// textValue redacts before it truncates: a secret that is cut in two would not be
// recognized.
func textValue(v, secret string) slog.Value { return slog.StringValue(truncate(redact(v, secret))) }

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// deferredValues are values LiveKit learns after it has made the logger.
// Lines written before are not held back for them.
type deferredValues struct{ values atomic.Pointer[[]any] }

func (d *deferredValues) Resolve(args ...any) {
	if old := d.get(); old != nil {
		args = append(args[:len(args):len(args)], old...) // the newer comes first and wins
	}
	d.values.Store(&args)
}

func (d *deferredValues) Reset() { d.values.Store(nil) }

func (d *deferredValues) get() []any {
	if kv := d.values.Load(); kv != nil {
		return *kv
	}
	return nil
}
