package app

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/api/httpx"
	"parley/internal/api/record"
	"parley/internal/api/v5"
	"parley/internal/cluster"
	"parley/internal/counter"
	"parley/internal/requestlog"
)

// callStats are the statistics of API calls. They are buffered in memory, and run
// flushes them.
type callStats struct {
	apis       []string             // whose calls are recorded: the versions and the management API
	counter    callCounter          // of the calls of versions 3, 4 and 5
	requestLog *requestlog.Recorder // nil if calls are not recorded
}

// callCounter counts calls. Run flushes the counts periodically until ctx ends, and
// once more then.
type callCounter interface {
	v5.CallCounter
	Run(ctx context.Context, report func(error))
}

// wireCallStats creates the call statistics and registers their metric.
func (a *App) wireCallStats(now func() time.Time) {
	a.callStats = callStats{counter: a.newCallCounter(now)}
	if !a.cfg.DiagnosticsEnabled {
		return
	}
	a.callStats.requestLog = requestlog.NewRecorder(a.db, now)
	a.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "parley_diagnostics_dropped_total",
		Help: "Records of API calls that were dropped because the buffer was full.",
	}, func() float64 { return float64(a.callStats.requestLog.Dropped()) }))
}

// newCallCounter returns a counter of this process, or with Redis one that all
// nodes share.
func (a *App) newCallCounter(now func() time.Time) callCounter {
	if a.redis == nil {
		return counter.New(a.db, now)
	}
	return cluster.NewCounter(a.db, a.redis, now)
}

// run flushes the counts and the request log until ctx ends, and once more then.
func (s callStats) run(ctx context.Context, t *tasks) {
	// store runs a task, whose last flushes are after the end of ctx.
	store := func(of task, run func(report func(error))) {
		var last error
		run(func(err error) {
			last = err
			t.ended(ctx, of, err)
		})
		if last != nil {
			t.log.Error(of.verb+" failed, and the process stops: what it has not stored is lost", "error", last)
		}
	}
	var work sync.WaitGroup
	work.Go(func() { store(taskCallCounts, func(report func(error)) { s.counter.Run(ctx, report) }) })
	if s.requestLog != nil {
		trimmed := func(err error) { t.ended(ctx, taskSurplus, err) }
		work.Go(func() {
			store(taskCalls, func(report func(error)) { s.requestLog.Run(ctx, s.apis, report, trimmed) })
		})
	}
	work.Wait()
}

// record records a call of an API in the request log, if there is one.
func (s callStats) record(api string, r *http.Request, info *httpx.RequestInfo) {
	if s.requestLog != nil {
		record.Call(s.requestLog, api, r, info)
	}
}
