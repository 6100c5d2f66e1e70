package app

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reportSupervisor adds the state of the supervisor to a health report; nothing without a
// supervisor. It does not change the status, because a service that serves again is healthy.
func (a *App) reportSupervisor(report map[string]string) {
	if a.supervisor == nil {
		return
	}
	report["supervisor"] = "ok"
	if a.supervisor.CrashLoop(time.Now()) {
		report["supervisor"] = "crash loop"
	}
}

// reportRestarts adds the crashes that the supervisor has seen to a health report; nothing
// without a supervisor. Only operators may see them, because an attacker would learn whether an
// attack works.
func (a *App) reportRestarts(report map[string]string) {
	if a.supervisor == nil {
		return
	}
	report["restarts"] = strconv.Itoa(a.supervisor.Restarts())
	if a.supervisor.Restarts() > 0 {
		report["last_crash_at"] = a.supervisor.CrashedAt().UTC().Format("2006-01-02T15:04:05.000Z")
	}
}

// registerRestartMetrics registers the same as metrics, which stay at zero without
// a supervisor.
func (a *App) registerRestartMetrics() {
	a.registry.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "parley_restarts_total", Help: "Restarts of the service process after a crash.",
		}, func() float64 { return float64(a.supervisor.Restarts()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "parley_crash_loop",
			Help: "1 after several crashes in a row, until the service has run without a crash for a while.",
		}, func() float64 {
			if a.supervisor.CrashLoop(time.Now()) {
				return 1
			}
			return 0
		}),
	)
}
