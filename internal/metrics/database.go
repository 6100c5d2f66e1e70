package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parley/internal/fault"
)

// Database are the writes of this process. It implements db.WriteObserver.
type Database struct {
	committed, rejected, unavailable prometheus.Observer // durations by outcome
	batches                          prometheus.Histogram
}

func newDatabase(registry prometheus.Registerer) *Database {
	auto := promauto.With(registry)
	writes := auto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "parley_database_write_duration_seconds",
		Help: "Time from the request of a write until its transaction was committed or rolled back, by outcome.",
		// A caller waits for at most a second, apart from a few background operations.
		Buckets: secondsBuckets(0.00025, 5),
	}, []string{"outcome"})
	return &Database{
		committed: writes.WithLabelValues("committed"), rejected: writes.WithLabelValues("rejected"),
		unavailable: writes.WithLabelValues("unavailable"),
		batches: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "parley_database_batch_size", Help: "Writes that shared one transaction.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 8),
		}),
	}
}

// ObserveWrite records the write of one caller. An error of another kind than Unavailable is a
// decision of the caller's work, such as a conflict.
func (d *Database) ObserveWrite(took time.Duration, err error) {
	outcome := d.rejected
	switch {
	case err == nil:
		outcome = d.committed
	case fault.Is(err, fault.Unavailable):
		outcome = d.unavailable
	}
	outcome.Observe(took.Seconds())
}

// ObserveCommit records a transaction that a number of callers shared.
func (d *Database) ObserveCommit(callers int) { d.batches.Observe(float64(callers)) }
