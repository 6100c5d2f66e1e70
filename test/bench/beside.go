package main

import (
	"context"
	"fmt"
	"path/filepath"

	"parley/test/bench/measure"
)

// besideReads compares the signed reads with those of the program of -beside.
func (b *bench) besideReads(ctx context.Context) ([]figure, error) {
	return b.comparePrograms(ctx, func(p, q *parley) (figures []figure, err error) {
		for _, name := range readNames {
			compared, err := b.compareLoads(ctx, "signed read of "+name, p, q, func(p *parley) (*measure.Load, error) {
				return dialRead("Parley", p, name)
			})
			if err != nil {
				return nil, err
			}
			figures = append(figures, compared...)
		}
		return figures, nil
	})
}

// besideSQLite compares room creations on SQLite with those of the program of -beside.
func (b *bench) besideSQLite(ctx context.Context) ([]figure, error) {
	return b.comparePrograms(ctx, func(p, q *parley) ([]figure, error) {
		return b.compareLoads(ctx, "room creation, SQLite", p, q, func(p *parley) (*measure.Load, error) {
			return newRoomLoad("Parley on SQLite", p.serverInfo, p.cpu(), writeConnections)
		})
	})
}

// comparePrograms starts the program and that of -beside, and passes both to compare.
func (b *bench) comparePrograms(ctx context.Context, compare func(p, q *parley) ([]figure, error)) ([]figure, error) {
	if b.beside == "" {
		return nil, fmt.Errorf("a program to compare with (-beside) is %w", errUnavailable)
	}
	p, err := b.startParley(ctx, filepath.Join(b.dir, "program"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	other := *b
	other.binary = b.beside
	q, err := other.startParley(ctx, filepath.Join(b.dir, "beside"), "")
	if err != nil {
		return nil, err
	}
	defer q.quit()
	figures, err := compare(p, q)
	if err != nil {
		return nil, err
	}
	if err := q.end(); err != nil {
		return nil, err
	}
	return figures, p.end()
}

// compareLoads loads two servers in turn. Each has two turns in a pass, so that both databases grow alike, and the two
// turns of the first server are the control.
func (b *bench) compareLoads(
	ctx context.Context, of string, p, q *parley, dial func(*parley) (*measure.Load, error),
) ([]figure, error) {
	var loads []*measure.Load
	for _, server := range []*parley{p, q} {
		l, err := dial(server)
		if err != nil {
			return nil, err
		}
		defer l.Close()
		if _, err := l.Slice(ctx, warmUp); err != nil {
			return nil, err
		}
		loads = append(loads, l)
	}
	turns, err := measure.Rotate(ctx, append(loads, loads...), b.pairs, b.slice)
	if err != nil {
		return nil, err
	}
	pairs := measure.Pairs{A: append(turns[0], turns[2]...), B: append(turns[1], turns[3]...)}
	control := measure.Pairs{A: turns[0], B: turns[2]}
	first, other := measure.MediansOf(pairs.A), measure.MediansOf(pairs.B)
	cpuComment := fmt.Sprintf("%.1f µs a request, other %.1f µs", micros(first.CPUPerRequest), micros(other.CPUPerRequest))
	const that = "that of the other program = 1"
	return []figure{
		figure{
			Of:      of,
			Name:    "cpu, " + that,
			Value:   pairs.CPU(),
			Comment: cpuComment,
		}.withControl(control.CPU()),
		figure{
			Of:      of,
			Name:    "rps, " + that,
			Value:   pairs.Rate(),
			Comment: fmt.Sprintf("%.0f /s, other %.0f /s", first.PerSecond, other.PerSecond),
		}.withControl(control.Rate()),
		{Of: of, Name: "control, cpu", Value: control.CPU(), Comment: "A against A, valid within 0.95 to 1.05"},
		{Of: of, Name: "control, rps", Value: control.Rate()},
	}, nil
}
