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

// readNames are the reads of version 5 that are measured.
var readNames = []string{"keys", "limits", "usage"}

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
	bare, err := b.startBare(plainGet(readTarget("keys")), readConnections)
	if err != nil {
		return nil, err
	}
	defer bare.quit()
	reads := make([]*measure.Load, len(readNames))
	for i, name := range readNames {
		if reads[i], err = dialRead("Parley", p, name); err != nil {
			return nil, err
		}
		defer reads[i].Close()
	}
	u, err := dialRead("Parley without the access log", unlogged, "keys")
	if err != nil {
		return nil, err
	}
	defer u.Close()
	figures, err := b.compareReads(ctx, bare.load, u, reads)
	if err != nil {
		return nil, err
	}
	if err := unlogged.end(); err != nil {
		return nil, err
	}
	return figures, p.end()
}

// compareReads loads the bare server and each read in turn, so that all ratios have the same
// slices of the bare server. Each read has its turn twice in a pass, as its control. The line of
// the access log is measured with the first read and the same on a server that logs only warnings.
func (b *bench) compareReads(ctx context.Context, bare, unlogged *measure.Load, reads []*measure.Load) (
	[]figure, error,
) {
	warm := append([]*measure.Load{bare, unlogged}, reads...)
	for _, l := range warm {
		if _, err := l.Slice(ctx, warmUp); err != nil {
			return nil, err
		}
	}
	slices, err := measure.Rotate(ctx, append(warm, reads...), b.pairs, b.slice)
	if err != nil {
		return nil, err
	}
	first, second := slices[2:2+len(reads)], slices[2+len(reads):]
	var figures []figure
	for i, name := range readNames {
		control := measure.Pairs{A: first[i], B: second[i]}
		figures = append(figures, bareFigures("signed read of "+name+", 16 connections",
			measure.Pairs{A: first[i], B: slices[0]}, control, 1.9, 0.60)...)
		if i == 0 {
			figures = append(figures, accessLogShare(figures[0].Of, measure.Pairs{A: first[i], B: slices[1]}, control))
		}
	}
	return figures, nil
}

// accessLogShare returns the share of the processor time of A that its access log takes, which B
// does not have.
func accessLogShare(of string, pairs, control measure.Pairs) figure {
	logged, without := measure.MediansOf(pairs.A), measure.MediansOf(pairs.B)
	return figure{Of: of, Name: "access log, share of cpu", Value: 1 - 1/pairs.CPU(),
		Comment: fmt.Sprintf("%.1f µs a request, without it %.1f µs", micros(logged.CPUPerRequest),
			micros(without.CPUPerRequest))}.
		atMost(accessLogGoal).withControl(control.CPU())
}

func dialRead(server string, p *parley, name string) (*measure.Load, error) {
	return measure.Dial(measure.Target{Name: server, Address: p.Address, CPU: p.cpu(),
		Request: signedRequest(p.serverInfo, "GET", readTarget(name), nil)}, readConnections)
}

func readTarget(name string) string { return "/api/v5/" + name }
