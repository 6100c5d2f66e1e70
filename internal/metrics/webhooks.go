package metrics

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The outcomes of an attempt to deliver a webhook.
const (
	AttemptDelivered = "delivered"
	AttemptRetried   = "retried" // it failed, and the delivery will be tried again
	AttemptFailed    = "failed"  // it was the last one
	AttemptGone      = "gone"    // the receiver answered 410
)

// Webhooks count the attempts of this process, and show the backlog of the installation.
type Webhooks struct {
	attempts counterSet
	duration prometheus.Histogram

	pending, oldestPending, overdue, paused prometheus.Gauge
}

func newWebhooks(registry prometheus.Registerer) *Webhooks {
	auto := promauto.With(registry)
	gauge := func(name, help string) prometheus.Gauge {
		return auto.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	w := &Webhooks{
		attempts: newCounterSet(registry, prometheus.CounterOpts{
			Name: "parley_webhook_attempts_total", Help: "Attempts to deliver a webhook, by outcome.",
		}, "outcome", AttemptDelivered, AttemptRetried, AttemptFailed, AttemptGone),
		duration: auto.NewHistogram(prometheus.HistogramOpts{
			Name:    "parley_webhook_attempt_duration_seconds",
			Help:    "Time of an attempt to deliver a webhook, from the connection to the response.",
			Buckets: secondsBuckets(0.01, 25),
		}),
		pending: gauge("parley_webhook_pending_deliveries",
			"Webhook deliveries that are pending in the whole installation; 10000 also stands for more."),
		oldestPending: gauge("parley_webhook_oldest_pending_seconds",
			"Age of the oldest pending webhook delivery of the whole installation; 0 if none is pending."),
		overdue: gauge("parley_webhook_overdue_seconds",
			"Time for which the next attempt of a webhook delivery has been due in the whole installation."),
		paused: gauge("parley_webhook_paused_targets",
			"URLs in the whole installation to which no webhooks are sent, because attempts kept failing, "+
				"the receiver answered 410, or somebody paused them."),
	}
	w.SetBacklogUnknown()
	return w
}

// Attempted counts an attempt with its outcome and its duration.
func (w *Webhooks) Attempted(outcome string, took time.Duration) {
	w.attempts.inc(outcome)
	w.duration.Observe(took.Seconds())
}

// SetBacklog shows the state of all deliveries of the installation: their number, the age of
// the oldest, how long the next attempt has been due, and the number of paused targets.
func (w *Webhooks) SetBacklog(pending int, oldest, overdue time.Duration, pausedTargets int) {
	w.pending.Set(float64(pending))
	w.oldestPending.Set(oldest.Seconds())
	w.overdue.Set(overdue.Seconds())
	w.paused.Set(float64(pausedTargets))
}

// SetBacklogUnknown shows that the database could not be read. A comparison with NaN is false,
// so that no alert fires for an old value.
func (w *Webhooks) SetBacklogUnknown() {
	for _, g := range []prometheus.Gauge{w.pending, w.oldestPending, w.overdue, w.paused} {
		g.Set(math.NaN())
	}
}
