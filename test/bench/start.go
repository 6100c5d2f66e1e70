package main

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"parley/test/bench/measure"
)

const (
	starts   = 10
	idleTime = 10 * time.Second
)

// start measures the time from exec until the server is healthy, on a database with rooms.
func (b *bench) start(ctx context.Context) ([]figure, error) {
	dir := filepath.Join(b.dir, "start")
	p, err := b.startParley(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	a, err := newRoomLoad("Parley", p.serverInfo, p.cpu(), writeConnections)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if _, err := a.Slice(ctx, time.Second); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	var took []time.Duration
	for range starts {
		p, err := b.startParley(ctx, dir, "")
		if err != nil {
			return nil, err
		}
		if err := p.end(); err != nil {
			return nil, err
		}
		took = append(took, p.startupTime)
	}
	const of = "start to healthy on an existing database, 10 starts"
	return []figure{
		figure{Of: of, Name: "median", Value: measure.Median(took).Seconds(), Unit: "s"}.atMost(0.5),
		{Of: of, Name: "longest", Value: slices.Max(took).Seconds(), Unit: "s"},
	}, nil
}

// idle measures the memory of the supervisor and of the service process of an idle server.
// The goal is for the memory that both occupy together, because they share most pages of
// the program, and the kernel decides how many of those it maps for the supervisor.
func (b *bench) idle(ctx context.Context) ([]figure, error) {
	p, err := b.startParley(ctx, filepath.Join(b.dir, "idle"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(idleTime):
	}
	memory, err := measure.ProcessTreeMemory(p.pid())
	if err != nil {
		return nil, err
	}
	const of, megabyte = "memory of both processes, 10 s after healthy with nobody in", 1e6
	return []figure{
		figure{Of: of, Name: "shared pages counted once (PSS)",
			Value: float64(memory.Proportional) / megabyte, Unit: "MB"}.atMost(90),
		{Of: of, Name: "shared pages counted twice (RSS)", Value: float64(memory.Resident) / megabyte, Unit: "MB"},
	}, p.end()
}
