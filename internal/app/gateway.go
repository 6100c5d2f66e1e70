package app

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"parley/internal/api/v5"
	"parley/internal/cluster"
	"parley/internal/config"
	"parley/internal/counter"
	"parley/internal/requestlog"
	"parley/internal/usage"
	"parley/internal/validate"
)

// gateway is what version 5 keeps in memory and writes now and then.
type gateway struct {
	counter  callCounter
	recorder *requestlog.Recorder
}

// callCounter are kept by writing them now and then.
type callCounter interface {
	v5.CallCounter
	Run(ctx context.Context, failed func(error))
}

// newCallCounter returns counts of this process, or of all nodes.
func (a *App) newCallCounter(now func() time.Time) callCounter {
	if a.redis == nil {
		return counter.New(a.db, now)
	}
	return cluster.NewCounter(a.db, a.redis, now)
}

// wireGateway builds version 5.
func (a *App) wireGateway(provider usage.Provider, limits rateLimits, now func() time.Time) (http.Handler, error) {
	a.gateway = gateway{counter: a.newCallCounter(now), recorder: requestlog.NewRecorder(a.db, now)}
	options := v5.Options{Disabled: !a.cfg.GatewayEnabled, Skew: a.cfg.ClockSkew.Std()}
	if a.cfg.DiagnosticsEnabled {
		options.RequestLog = a.gateway.recorder
	}
	if limits.reads != nil {
		options.Rate, options.Failures = limits.reads, limits.failures
	}
	return v5.NewHandler(a.keys, usage.NewService(a.db, provider, now), a.gateway.counter, now, options)
}

// planProvider returns who knows plans here.
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
		p := usage.Plan{Name: c.Name, MaxParticipants: validate.MaxParticipants, RoomDuration: validate.MaxRoomDuration,
			BreakoutRooms: validate.MaxBreakoutRooms, IncludedMinutes: c.IncludedMinutes}
		for to, from := range map[*int]*int{&p.MaxParticipants: c.MaxParticipants, &p.RoomDuration: c.RoomDuration, &p.BreakoutRooms: c.BreakoutRooms} {
			if from != nil {
				*to = *from
			}
		}
		plans = append(plans, p)
	}
	return usage.NewBuiltinProvider(plans), nil
}

// run writes what memory holds until ctx ends, and a last time then.
func (g gateway) run(ctx context.Context, log *slog.Logger) {
	var work sync.WaitGroup
	work.Go(func() {
		g.counter.Run(ctx, func(err error) { log.Error("the counts of calls could not be written; they wait", "error", err) })
	})
	work.Go(func() {
		g.recorder.Run(ctx, func(err error) {
			log.Error("the records of version 5 calls could not be written; they wait", "error", err)
		})
	})
	work.Wait()
}
