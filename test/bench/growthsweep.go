package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"parley/internal/retention"
	"parley/internal/store"
	"parley/test/bench/measure"
)

const (
	growthSweeps = 5  // sweeps of each installation
	sweptRooms   = 15 // rooms that each of these sweeps erases and deletes
	sweepWarmUp  = 500 * time.Millisecond
)

// keepEverything are the flags of a server that deletes nothing. The past of the installations
// is older than the default periods.
var keepEverything = []string{"--retention-rooms", "0", "--retention-people", "0"}

// recordSweeps measures the sweep of the oldest rooms. No server may run. The installations
// take turns.
func (g *growthReport) recordSweeps(ctx context.Context) error {
	took := map[*installation][]time.Duration{}
	for range growthSweeps {
		for _, i := range g.all {
			d, err := i.sweep(ctx)
			if err != nil {
				return err
			}
			took[i] = append(took[i], d)
		}
	}
	g.addRatio(fmt.Sprintf("retention sweep of %d rooms, with its pauses", sweptRooms), "ms",
		func(i *installation) float64 { return millis(measure.Median(took[i])) })
	return nil
}

// sweep deletes the rooms that ended first and returns the time that it took.
func (i *installation) sweep(ctx context.Context) (time.Duration, error) {
	s, err := store.Open(ctx, i.databaseURL, i.dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }()
	before, err := i.queryInt(ctx, fmt.Sprintf(
		`SELECT ended_at FROM rooms WHERE ended_at IS NOT NULL ORDER BY ended_at LIMIT 1 OFFSET %d`, sweptRooms))
	if err != nil {
		return 0, err
	}
	count := func() (rooms int64, err error) { return i.queryInt(ctx, `SELECT count(*) FROM rooms`) }
	existing, err := count()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	periods := retention.Periods{Rooms: began.Sub(time.UnixMilli(before))}
	service := retention.NewService(s, periods, nil, nil, func() time.Time { return began },
		slog.New(slog.DiscardHandler))
	if _, err := service.Sweep(ctx); err != nil {
		return 0, err
	}
	took := time.Since(began)
	left, err := count()
	if err == nil && existing-left != sweptRooms {
		err = fmt.Errorf("the sweep has deleted %d rooms, want %d", existing-left, sweptRooms)
	}
	return took, err
}

// recordCreationDuringSweep measures the creation of rooms on the largest installation while the
// server deletes the older half of the past, beside the same server that deletes nothing. The
// two take turns in the order A B B A, and each sweep continues the one before it. No server
// may run.
func (g *growthReport) recordCreationDuringSweep(ctx context.Context, b *bench) error {
	i := g.all[len(g.all)-1]
	days := 365 * b.years / 2
	sweeping := []string{"--retention-rooms", fmt.Sprintf("%dd", days), "--retention-people", "0"}
	// A room is work twice: first its people are erased, then it is deleted.
	work := fmt.Sprintf(`SELECT count(*) + count(CASE WHEN people_erased_at IS NULL THEN 1 END) FROM rooms
		WHERE ended_at < %d`, time.Now().AddDate(0, 0, -days).UnixMilli())
	before, err := i.queryInt(ctx, work)
	if err != nil {
		return err
	}
	var pairs measure.Pairs
	for n := range b.pairs {
		for _, isA := range []bool{n%2 == 0, n%2 == 1} {
			flags, results := keepEverything, &pairs.B
			if isA {
				flags, results = sweeping, &pairs.A
			}
			s, err := b.createRooms(ctx, i, flags)
			if err != nil {
				return err
			}
			*results = append(*results, s)
		}
	}
	after, err := i.queryInt(ctx, work)
	if err != nil {
		return err
	}
	if after == before {
		return errors.New("the server did not sweep")
	}
	during, normal := measure.MediansOf(pairs.A).P99, measure.MediansOf(pairs.B).P99
	f := figure{Of: g.of, Name: "room creation during a retention sweep, p99, normal = 1",
		Value:   float64(during) / float64(normal),
		Comment: fmt.Sprintf("%s meetings: %.1f ms, normal %.1f ms", thousands(i.meetings), millis(during), millis(normal)),
	}.atMost(growthGoal)
	if after == 0 {
		f.Outcome = outcomeInconclusive
		f.Comment += "; inconclusive: the sweep was done before the last slice, use more -meetings"
	}
	g.figures = append(g.figures, f)
	return nil
}

// createRooms starts the server of an installation with flags, and creates rooms for a slice.
func (b *bench) createRooms(ctx context.Context, i *installation, flags []string) (measure.Slice, error) {
	p, err := b.startParley(ctx, i.dir, i.databaseURL, flags...)
	if err != nil {
		return measure.Slice{}, err
	}
	defer p.quit()
	l, err := newRoomLoad("Parley", p.serverInfo, p.cpu(), growthWriters)
	if err != nil {
		return measure.Slice{}, err
	}
	defer l.Close()
	if _, err := l.Slice(ctx, sweepWarmUp); err != nil {
		return measure.Slice{}, err
	}
	s, err := l.Slice(ctx, growthWriteSlice)
	if err != nil {
		return measure.Slice{}, err
	}
	return s, p.end()
}
