package app

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reportRestarts adds to a health report what the supervisor knows about
// crashes; nothing without a supervisor. The status stays as it is, because a
// service that serves again is healthy.
func (a *App) reportRestarts(report map[string]string) {
	if a.supervisor == nil {
		return
	}
	report["supervisor"] = "ok"
	if a.supervisor.CrashLoop(time.Now()) {
		report["supervisor"] = "crash loop"
	}
	report["restarts"] = strconv.Itoa(a.supervisor.Restarts())
	if a.supervisor.Restarts() > 0 {
		report["last_crash_at"] = a.supervisor.CrashedAt().UTC().Format("2006-01-02T15:04:05.000Z")
	}
}

// restartMetrics tell the same, and stay at zero without a supervisor.
func (a *App) restartMetrics() []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "parley_restarts_total", Help: "Restarts of the service process after a crash.",
		}, func() float64 { return float64(a.supervisor.Restarts()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "parley_crash_loop", Help: "1 after several crashes in a row, until the service has run quietly for a while.",
		}, func() float64 {
			if a.supervisor.CrashLoop(time.Now()) {
				return 1
			}
			return 0
		}),
	}
}
