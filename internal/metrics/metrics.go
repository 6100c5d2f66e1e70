// Package metrics defines the metrics that the parts of the service update while they work:
// requests, joins, webhooks and the database. Every label value comes from a closed set, so
// that no client can add a series. The series are resolved in advance, because some of the
// updates are on the hottest paths.
package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus" // the metrics library that LiveKit uses
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the metrics of one process.
type Metrics struct {
	Requests    *Requests
	Seats       *Seats
	Media       *Media
	Webhooks    *Webhooks
	Database    *Database
	Connections *Connections
}

// Build describes the program.
type Build struct{ Version, Revision, GoVersion string }

// New returns the metrics, registered with registry. Nil registers them nowhere.
func New(registry prometheus.Registerer, build Build) *Metrics {
	promauto.With(registry).NewGauge(prometheus.GaugeOpts{
		Name: "parley_build_info", Help: "1, with the version, the revision and the Go version of the program as labels.",
		ConstLabels: prometheus.Labels{"version": build.Version, "revision": build.Revision,
			"goversion": build.GoVersion},
	}).Set(1)
	return &Metrics{
		Requests:    newRequests(registry),
		Seats:       newSeats(registry),
		Media:       NewMedia(registry),
		Webhooks:    newWebhooks(registry),
		Database:    newDatabase(registry),
		Connections: newConnections(registry),
	}
}

// otherValue is the label value of everything that has none of its own.
const otherValue = "other"

// counterSet are the counters of one metric with one label, resolved in advance. So each is
// exported as 0 before it counts, and rate() sees the first increase.
type counterSet map[string]prometheus.Counter

// newCounterSet returns a counter for each value of label, and one for all others.
func newCounterSet(registry prometheus.Registerer, options prometheus.CounterOpts, label string,
	values ...string) counterSet {
	vec := promauto.With(registry).NewCounterVec(options, []string{label})
	set := counterSet{otherValue: vec.WithLabelValues(otherValue)}
	for _, v := range values {
		set[v] = vec.WithLabelValues(v)
	}
	return set
}

func (s counterSet) inc(value string) {
	c, ok := s[value]
	if !ok {
		c = s[otherValue]
	}
	c.Inc()
}

// secondsBuckets returns the upper bounds of a histogram of durations between least and most,
// in seconds: 1, 2.5 and 5 times each power of ten.
func secondsBuckets(least, most float64) []float64 {
	all := []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25}
	return slices.DeleteFunc(all, func(b float64) bool { return b < least || b > most })
}
