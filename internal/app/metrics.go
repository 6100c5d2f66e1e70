package app

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"parley/internal/api/httpx"
	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/metrics"
)

// newRegistry returns the registry of the metrics of this service. It has the metrics of the
// Go runtime and of the process, unless LiveKit's metrics are served too: these are in
// Prometheus's default registry, which has both already.
func newRegistry(cfg config.Config) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	if !cfg.LiveKitMetricsEnabled {
		registry.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	return registry
}

func newMetrics(registry prometheus.Registerer) *metrics.Metrics {
	b := Build()
	return metrics.New(registry, metrics.Build{Version: b.Version, Revision: b.Revision, GoVersion: b.Go})
}

// metricsHandler serves the metrics of this service, and those of LiveKit if they are enabled.
// A scrape reads memory only; see sampleBacklog.
func (a *App) metricsHandler() http.Handler {
	gatherers := prometheus.Gatherers{a.registry}
	if a.cfg.LiveKitMetricsEnabled {
		gatherers = append(gatherers, prometheus.DefaultGatherer)
	}
	return promhttp.HandlerFor(gatherers, promhttp.HandlerOpts{})
}

// reserveSeatRoute is the route with which a page asks for a seat.
const reserveSeatRoute = "/api/join/rooms/{room_id}/seats"

// measure records a request in the metrics after its response. route is the route of an API. For
// other requests, it is the name of the part of the service that answered.
func (a *App) measure(r *http.Request, info *httpx.RequestInfo, route string) {
	if route == manage.StreamPath {
		return // its time is that of an open page
	}
	a.metrics.Requests.Observe(r.Method, route, info.Status, info.Duration)
	if route != reserveSeatRoute {
		return
	}
	switch info.Status {
	case http.StatusOK:
		a.metrics.Seats.Answered(metrics.SeatReserved)
	case http.StatusAccepted:
		a.metrics.Seats.Answered(metrics.SeatWaiting)
	default:
		a.metrics.Seats.Rejected(info.Cause)
	}
}

// registerHealthMetrics registers the state of the parts as metrics. They read memory only: whether
// the database answers is what sampleBacklog has seen last.
func (a *App) registerHealthMetrics() {
	register := func(part string, works func() bool) {
		a.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "parley_health", Help: "Whether a part of the service works, 1 or 0.",
			ConstLabels: prometheus.Labels{"part": part},
		}, func() float64 {
			if works() {
				return 1
			}
			return 0
		}))
	}
	register("database", func() bool { return !a.databaseLost.Load() && a.db.RecentWriteError() == nil })
	register("media", func() bool { return a.engine.Healthy() == nil })
	if a.redis != nil {
		register("redis", a.redis.Available)
	}
}

// registerUsageMetrics registers the progress of the usage rollups as metrics.
func (a *App) registerUsageMetrics() {
	a.registry.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "parley_usage_rollups_total", Help: "Rollups of the usage of an organization that were stored.",
		}, func() float64 {
			stored, _ := a.usage.Rollups()
			return float64(stored)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "parley_usage_rolled_up_timestamp_seconds",
			Help: "Time until which the usage of all organizations is rolled up; 0 until this process has checked.",
		}, func() float64 {
			_, until := a.usage.Rollups()
			if until.IsZero() {
				return 0
			}
			return float64(until.Unix())
		}),
	)
}

const (
	// backlogInterval is the time between two samples of the backlog of webhooks.
	backlogInterval = 15 * time.Second
	// backlogTimeout bounds one sample.
	backlogTimeout = 5 * time.Second
)

// sampleBacklog updates the metrics of the webhook deliveries of the whole installation until
// ctx ends. A scrape would otherwise wait for the database, and every scraper would cost it a
// query. Each node samples, because any of them may stop.
func (a *App) sampleBacklog(ctx context.Context) {
	tick := time.NewTicker(backlogInterval)
	defer tick.Stop()
	for {
		a.updateBacklog(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (a *App) updateBacklog(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, backlogTimeout)
	defer cancel()
	b, err := a.webhooks.Backlog(ctx)
	a.databaseLost.Store(err != nil)
	if err != nil {
		a.metrics.Webhooks.SetBacklogUnknown()
		a.log.Debug("sample webhook backlog failed, will retry", "error", err)
		return
	}
	now := time.Now()
	since := func(t time.Time) time.Duration {
		if t.IsZero() {
			return 0
		}
		return max(0, now.Sub(t))
	}
	a.metrics.Webhooks.SetBacklog(b.Pending, since(b.OldestPending), since(b.NextAttempt), b.PausedTargets)
}
