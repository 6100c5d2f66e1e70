package refusal

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus" // the metrics library that LiveKit uses
	"github.com/prometheus/client_golang/prometheus/promauto"
)

const (
	// maxLogLines is how many lines of one kind are logged in each window.
	maxLogLines = 10
	window      = 10 * time.Second
)

// Recorder counts refusals and logs them, at most ten lines of a kind in ten
// seconds. The first line of the next window has the number of suppressed lines.
type Recorder struct {
	log      *slog.Logger
	now      func() time.Time
	counters [kindCount]prometheus.Counter
	lines    *LogLimiter[Kind]
}

// logWindow counts the lines of one kind in the current window.
type logWindow struct {
	since      time.Time
	logged     int
	suppressed int
}

// NewRecorder returns a Recorder that logs to log. It registers the metric
// parley_refusals_total with registry, unless that is nil.
func NewRecorder(registry prometheus.Registerer, log *slog.Logger, now func() time.Time) *Recorder {
	r := &Recorder{log: log, now: now, lines: NewLogLimiter[Kind](maxLogLines, int(kindCount))}
	total := promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "parley_refusals_total", Help: "What was refused to protect the service, by kind.",
	}, []string{"kind"})
	// Count takes no lock, and every kind is exported before its first refusal.
	for kind := range r.counters {
		r.counters[kind] = total.WithLabelValues(Kind(kind).String())
	}
	return r
}

// Count adds one refusal of a kind to the metric.
func (r *Recorder) Count(kind Kind) { r.counters[kind].Inc() }

// Record counts one refusal and logs it with its reason and the attributes,
// unless the kind has used up its lines. The attributes must not contain secrets
// or names; the caller truncates long values.
func (r *Recorder) Record(kind Kind, reason string, attributes ...any) {
	r.Count(kind)
	suppressed, ok := r.lines.Allow(kind, r.now())
	if !ok {
		return
	}
	all := append([]any{"kind", kind.String(), "reason", reason}, attributes...)
	if suppressed > 0 {
		all = append(all, "suppressed", suppressed)
	}
	r.log.Warn("refused", all...)
}
