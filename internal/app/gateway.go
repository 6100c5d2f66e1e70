package app

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/api/v5"
	"parley/internal/cluster"
	"parley/internal/config"
	"parley/internal/counter"
	"parley/internal/requestlog"
	"parley/internal/usage"
	"parley/internal/validate"
)

// gateway holds the data of version 5 that is buffered in memory and flushed
// periodically.
type gateway struct {
	counter  callCounter
	recorder *requestlog.Recorder
}

// callCounter counts version 5 calls. Run flushes the counts periodically.
type callCounter interface {
	v5.CallCounter
	Run(ctx context.Context, failed func(error))
}

// newCallCounter returns a counter of this process, or with Redis one that all
// nodes share.
func (a *App) newCallCounter(now func() time.Time) callCounter {
	if a.redis == nil {
		return counter.New(a.db, now)
	}
	return cluster.NewCounter(a.db, a.redis, now)
}

// wireGateway builds the handler of version 5.
func (a *App) wireGateway(provider usage.Provider, limits rateLimits, now func() time.Time) (http.Handler, error) {
	a.gateway = gateway{counter: a.newCallCounter(now), recorder: requestlog.NewRecorder(a.db, now)}
	a.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "parley_diagnostics_dropped_total",
		Help: "Records of version 5 calls that were dropped because the buffer was full.",
	}, func() float64 { return float64(a.gateway.recorder.Dropped()) }))
	options := v5.Options{Disabled: !a.cfg.GatewayEnabled, Skew: a.cfg.ClockSkew.Std()}
	if a.cfg.DiagnosticsEnabled {
		options.RequestLog = a.gateway.recorder
	}
	if limits.reads != nil {
		options.Rate, options.Failures = limits.reads, limits.failures
	}
	return v5.NewHandler(a.keys, usage.NewService(a.db, provider, now), a.gateway.counter, now, options)
}

// planProvider returns the provider of plans that --plan-provider selects.
func planProvider(cfg config.Config) (usage.Provider, error) {
	if cfg.PlanProvider == config.PlanProviderNone {
		return usage.NoProvider{}, nil
	}
	configured, err := cfg.Plans()
	if err != nil {
		return nil, err
	}
	plans := make([]usage.Plan, 0, len(configured))
	for _, c := range configured {
		plans = append(plans, usage.Plan{
			Name:            c.Name,
			MaxParticipants: valueOr(c.MaxParticipants, validate.MaxParticipants),
			RoomDuration:    valueOr(c.RoomDuration, validate.MaxRoomDuration),
			BreakoutRooms:   valueOr(c.BreakoutRooms, validate.MaxBreakoutRooms),
			IncludedMinutes: c.IncludedMinutes,
		})
	}
	return usage.NewBuiltinProvider(plans), nil
}

func valueOr(p *int, fallback int) int {
	if p == nil {
		return fallback
	}
	return *p
}

// run flushes counts and records until ctx ends, and once more then.
func (g gateway) run(ctx context.Context, log *slog.Logger) {
	var work sync.WaitGroup
	work.Go(func() {
		g.counter.Run(ctx, func(err error) { log.Error("flush call counters failed, will retry", "error", err) })
	})
	work.Go(func() {
		g.recorder.Run(ctx, func(err error) { log.Error("flush request log failed, will retry", "error", err) })
	})
	work.Wait()
}
