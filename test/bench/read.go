package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"parley/test/bench/measure"
)

const readConnections = 16 // connections that read

// errUnavailable means that the measured feature or a program for the measurement is missing,
// which is not a failure of the run.
var errUnavailable = errors.New("not available")

// read measures a signed read of version 5, including its request log and its counter.
func (b *bench) read(ctx context.Context) ([]figure, error) {
	p, err := b.startParley(ctx, filepath.Join(b.dir, "read"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	a, err := measure.Dial(measure.Target{Name: "Parley", Address: p.Address, CPU: p.cpu(),
		Request: readKeys(p.serverInfo)}, readConnections)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var refused *measure.StatusError
	if _, err := a.SendOne(); errors.As(err, &refused) && refused.Status == "404" {
		return nil, fmt.Errorf("%w: the server has no GET %s", errUnavailable, readTarget)
	} else if err != nil {
		return nil, err
	}
	figures, _, err := b.compareWithBare(ctx, "signed read, 16 connections", a, 1.9, 0.60)
	if err != nil {
		return nil, err
	}
	return figures, p.end()
}
