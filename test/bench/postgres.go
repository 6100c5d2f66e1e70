package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"parley/test/bench/measure"
)

// postgres measures durable room creation on PostgreSQL, including the database's processor
// time, and compares it with one transaction for each room.
func (b *bench) postgres(ctx context.Context) ([]figure, error) {
	c, err := startCluster(ctx, b.dir, "postgres")
	if err != nil {
		return nil, err
	}
	defer c.end()
	shared, err := c.create(ctx, "shared")
	if err != nil {
		return nil, err
	}
	p, err := b.startParley(ctx, filepath.Join(b.dir, "beside-postgres"), shared)
	if err != nil {
		return nil, err
	}
	defer p.quit()
	a, err := newRoomLoad("Parley on PostgreSQL", p.serverInfo,
		measure.SumCPU(p.cpu(), measure.ProcessTreeCPU(c.pid())), writeConnections)
	if err != nil {
		return nil, err
	}
	defer a.Close()

	own, err := c.create(ctx, "each")
	if err != nil {
		return nil, err
	}
	argument, err := json.Marshal(unsharedArgument{DatabaseURL: own, DataDir: b.dir})
	if err != nil {
		return nil, err
	}
	var h serverInfo
	e, err := startSelf(b.dir, roleUnshared, string(argument), &h)
	if err != nil {
		return nil, err
	}
	defer e.quit()
	alone, err := newRoomLoad("Parley with a transaction each", h, measure.SumCPU(measure.ProcessCPU(e.pid()),
		measure.ProcessTreeCPU(c.pid())), writeConnections)
	if err != nil {
		return nil, err
	}
	defer alone.Close()

	const of = "room creation, PostgreSQL, 64 connections"
	figures, results, err := b.compareWithBare(ctx, bareComparison{of: of, load: a,
		request: createRoom(p.serverInfo), cpuGoal: 6}, alone)
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	control, beside := results[0], results[1]
	other := measure.MediansOf(beside.B)
	figures = append(figures,
		figure{Of: of, Name: "rps, a transaction each = 1", Value: beside.Rate(),
			Comment: fmt.Sprintf("a transaction each, savepoint included: %.0f /s, %.1f µs a request",
				other.PerSecond, micros(other.CPUPerRequest))}.
			atLeast(2).withControl(control.Rate()))
	return figures, checkRoomCount(ctx, "pgx", shared, a.Sent())
}
