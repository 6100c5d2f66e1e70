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
	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/logger"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"parley/internal/refusal"
)

// currentLogTarget receives LiveKit's log lines. LiveKit has one logger for the whole
// process and copies it into every object, so that logger stays and only the target
// behind it changes with the Engine.
var (
	currentLogTarget atomic.Pointer[logTarget]
	logOnce          sync.Once
)

type logTarget struct {
	handler  slog.Handler
	secret   string
	limiter  *refusal.LogLimiter[string] // by message without its digits
	refusals *refusal.Recorder
	// onDataChannel is called for each data channel that a participant has opened.
	onDataChannel func(livekit.ParticipantID)
}

// The engine limits how often it logs the same text, because participants cause most of these
// lines.
const (
	// maxLogLines is the maximum number of lines with the same text in ten seconds.
	maxLogLines = 20
	// maxLogMessages is the maximum number of texts with a limit of their own; all
	// further texts share one limit.
	maxLogMessages = 500
)

// routeLogs sends LiveKit's log lines to the log of the configuration. It does not use
// LiveKit's own setup functions, because they replace slog.Default and with it Go's
// standard log.
func routeLogs(cfg Config, onDataChannel func(livekit.ParticipantID)) {
	currentLogTarget.Store(&logTarget{
		handler:       cfg.Log.Handler(),
		secret:        cfg.SigningSecret,
		limiter:       refusal.NewLogLimiter[string](maxLogLines, maxLogMessages),
		refusals:      cfg.Refusals,
		onDataChannel: onDataChannel,
	})
	logOnce.Do(func() { logger.SetLogger(&livekitLogger{}, "livekit") })
}

// livekitLogger implements LiveKit's logger interface with slog. It always writes
// warnings and errors, and the other lines only if the level of the target is debug.
//
// It is a logger.ZapLogger because only then LiveKit checks the level before it formats
// each of pion's trace messages.
type livekitLogger struct {
	component string
	values    []any
	deferred  []*deferredValues
}

var _ logger.ZapLogger = (*livekitLogger)(nil)

func (l *livekitLogger) Debugw(msg string, kv ...any) {
	if strings.HasSuffix(msg, dataChannelMessage) {
		l.reportDataChannel()
	}
	l.write(slog.LevelDebug, msg, nil, kv)
}

// dataChannelMessage ends the line that LiveKit logs when a participant has opened a data
// channel. The line is the only sign of it, because LiveKit keeps the WebRTC connections of
// participants to itself.
const dataChannelMessage = " data channel open"

// reportDataChannel reports a data channel of the participant that this logger names.
func (l *livekitLogger) reportDataChannel() {
	target := currentLogTarget.Load()
	for i := 0; i+1 < len(l.values) && target != nil; i += 2 {
		if sid, ok := l.values[i+1].(livekit.ParticipantID); ok && l.values[i] == "participantID" {
			target.onDataChannel(sid)
			return
		}
	}
}

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
	dup, resolver := *l, &deferredValues{}
	dup.deferred = append(l.deferred[:len(l.deferred):len(l.deferred)], resolver)
	return &dup, resolver
}

func (l *livekitLogger) ToZap() *zap.SugaredLogger { return zap.NewNop().Sugar() }

func (l *livekitLogger) WithMinLevel(zapcore.LevelEnabler) logger.Logger { return l }

func (l *livekitLogger) ComponentLeveler() logger.ZapComponentLeveler { return componentLeveler{} }

type componentLeveler struct{}

func (componentLeveler) ComponentLevel(component string) zapcore.LevelEnabler {
	return zap.LevelEnablerFunc(func(level zapcore.Level) bool {
		target := currentLogTarget.Load()
		return target != nil && target.enabled(component, slogLevel(level))
	})
}

func slogLevel(level zapcore.Level) slog.Level {
	switch {
	case level >= zapcore.ErrorLevel:
		return slog.LevelError
	case level == zapcore.WarnLevel:
		return slog.LevelWarn
	case level == zapcore.InfoLevel:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// enabled reports whether lines of the component and level are written. Of pion, the
// WebRTC stack, only errors are written, because at every other level it reports each
// lost packet and each address that did not answer.
func (t *logTarget) enabled(component string, level slog.Level) bool {
	if level < slog.LevelError && strings.HasPrefix(component, "pion") {
		return false
	}
	if level < slog.LevelWarn && !t.handler.Enabled(context.Background(), slog.LevelDebug) {
		return false
	}
	return t.handler.Enabled(context.Background(), level)
}

// routineMessages are the warnings and errors of LiveKit that do not indicate a problem of
// the server: for example, a browser was closed while a message was on its way to it, or
// a participant requested an operation that is not permitted.
var routineMessages = map[string]bool{
	"could not match local candidate":       true,
	"could not update metadata":             true,
	"error handling request":                true,
	"error reading data channel":            true,
	"error reading from websocket":          true,
	"error writing to websocket":            true,
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
	target := currentLogTarget.Load()
	if target == nil || !target.enabled(l.component, level) {
		return
	}
	now := time.Now()
	suppressed, ok := target.limiter.Allow(withoutDigits(msg), now)
	if !ok {
		target.refusals.Count(refusal.EngineLog)
		return
	}
	record := slog.NewRecord(now, level, "media engine: "+redact(truncate(msg), target.secret), 0)
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
			record.AddAttrs(slog.Attr{Key: key, Value: logValue(kv[i+1], target.secret)})
		}
	}
	add(kv)
	if err != nil {
		add([]any{"error", err})
	}
	for _, deferred := range l.deferred {
		add(deferred.get())
	}
	add(l.values)
	// The error is ignored because there is no other place to report it.
	_ = target.handler.Handle(context.Background(), record)
}

// withoutDigits returns a message without the numbers in it. Otherwise each number would make
// another message, and a participant chooses some of them.
func withoutDigits(msg string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, msg)
}

// logValue returns the slog value of a value that LiveKit logs, without secrets and with
// at most maxLogValue bytes. It converts each value that is not a bool, a number or a time
// to text first, so that secrets in nested values are redacted too.
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

// textValue returns the redacted and truncated text. It redacts first, because redact would
// not recognize a truncated secret.
func textValue(v, secret string) slog.Value { return slog.StringValue(truncate(redact(v, secret))) }

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// deferredValues are values that LiveKit learns after it has created the logger. Lines
// that are written before do not contain them.
type deferredValues struct{ values atomic.Pointer[[]any] }

func (d *deferredValues) Resolve(args ...any) {
	if old := d.get(); old != nil {
		args = append(args[:len(args):len(args)], old...) // the first value of a key wins
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
