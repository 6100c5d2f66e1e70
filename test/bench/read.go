package main

import (
	"context"
	"fmt"
	"path/filepath"

	"parley/test/bench/measure"
)

const (
	readConnections = 16 // connections that read
	// accessLogGoal is the largest share of a read's processor time that its line of the
	// access log may take.
	accessLogGoal = 0.1
)

// read measures the signed reads of version 5, including the request log and the counter,
// beside a bare server that receives a plain GET. The same server without the access log
// shows what a line costs.
func (b *bench) read(ctx context.Context) ([]figure, error) {
	p, err := b.startParley(ctx, filepath.Join(b.dir, "read"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	unlogged, err := b.startParley(ctx, filepath.Join(b.dir, "read-unlogged"), "", "--log-level", "warn")
	if err != nil {
		return nil, err
	}
	defer unlogged.quit()
	figures, err := b.readKeys(ctx, p, unlogged)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"limits", "usage"} {
		more, _, err := b.compareRead(ctx, p, name)
		if err != nil {
			return nil, err
		}
		figures = append(figures, more...)
	}
	if err := unlogged.end(); err != nil {
		return nil, err
	}
	return figures, p.end()
}

// readKeys measures the read of the keys, and its line of the access log beside a server
// that logs only warnings.
func (b *bench) readKeys(ctx context.Context, p, unlogged *parley) ([]figure, error) {
	u, err := dialRead("Parley without the access log", unlogged, "keys")
	if err != nil {
		return nil, err
	}
	defer u.Close()
	figures, results, err := b.compareRead(ctx, p, "keys", u)
	if err != nil {
		return nil, err
	}
	control, log := results[0].CPU(), results[1]
	logged, without := measure.MediansOf(log.A), measure.MediansOf(log.B)
	return append(figures, figure{Of: figures[0].Of, Name: "access log, share of cpu", Value: 1 - 1/log.CPU(),
		Comment: fmt.Sprintf("%.1f µs a request, without it %.1f µs", micros(logged.CPUPerRequest),
			micros(without.CPUPerRequest))}.
		atMost(accessLogGoal).withControl(control)), nil
}

// compareRead compares a read of version 5 with a bare server, and by the same procedure with
// itself and with each of the others. See compareWithBare.
func (b *bench) compareRead(ctx context.Context, p *parley, name string, others ...*measure.Load) (
	[]figure, []measure.Pairs, error,
) {
	a, err := dialRead("Parley", p, name)
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	return b.compareWithBare(ctx, bareComparison{
		of:       "signed read of " + name + ", 16 connections",
		load:     a,
		request:  plainGet(readTarget(name)),
		cpuGoal:  1.9,
		rateGoal: 0.60,
	}, others...)
}

func dialRead(server string, p *parley, name string) (*measure.Load, error) {
	return measure.Dial(measure.Target{Name: server, Address: p.Address, CPU: p.cpu(),
		Request: signedRequest(p.serverInfo, "GET", readTarget(name), nil)}, readConnections)
}

func readTarget(name string) string { return "/api/v5/" + name }
