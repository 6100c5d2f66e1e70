package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/internal/store/filltest"
	"parley/test/bench/measure"
)

const (
	growthStarts     = 5
	growthIdle       = 5 * time.Second
	growthReadSlice  = 100 * time.Millisecond
	growthWriteSlice = 500 * time.Millisecond
	growthWriters    = 16 // concurrent connections that write
	growthGoal       = 1.5
	privateGoal      = 120 // MB
	idleGoal         = 90  // MB
)

// growthDatabases are the values of the flag -databases.
var growthDatabases = []string{"sqlite", "postgres"}

// growth measures what the service costs with different numbers of past meetings. The
// installations of one database run side by side and take turns.
func (b *bench) growth(ctx context.Context) ([]figure, error) {
	var figures []figure
	if slices.Contains(b.databases, "sqlite") {
		var err error
		if figures, err = b.growthOn(ctx, "SQLite", nil); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(b.databases, "postgres") {
		return figures, nil
	}
	if _, err := postgresBin(); err != nil {
		return figures, fmt.Errorf("%w: %w", errUnavailable, err)
	}
	c, err := startCluster(ctx, b.dir, "growth-postgres")
	if err != nil {
		return figures, err
	}
	defer c.end()
	more, err := b.growthOn(ctx, "PostgreSQL", c)
	return append(figures, more...), err
}

// growthOn measures one database: the installations are filled one after another, and then
// run at the same time. c is nil for SQLite.
func (b *bench) growthOn(ctx context.Context, database string, c *cluster) ([]figure, error) {
	var all []*installation
	defer func() {
		for _, i := range all {
			i.quit()
		}
	}()
	for _, meetings := range b.meetings {
		fmt.Fprintf(os.Stderr, "filling %s with %s meetings\n", database, thousands(meetings))
		i, err := b.install(ctx, database, c, meetings)
		if err != nil {
			return nil, fmt.Errorf("%s, %d meetings: %w", database, meetings, err)
		}
		all = append(all, i)
	}
	var sizes []string
	for _, i := range all {
		sizes = append(sizes, thousands(i.meetings))
	}
	g := &growthReport{all: all, of: fmt.Sprintf("growth, %s, %s meetings over %d months, largest / smallest",
		database, strings.Join(sizes, " · "), 12*b.years)}
	g.recordSizes()
	for _, i := range all {
		if err := b.startInstallation(ctx, i, c); err != nil {
			return nil, err
		}
	}
	if err := g.recordIdle(ctx); err != nil {
		return nil, err
	}
	for n, o := range growthOperations {
		if o.writes && (n == 0 || !growthOperations[n-1].writes) {
			if err := g.recordMemory("memory after the lists were read", false); err != nil {
				return nil, err
			}
		}
		err := g.compare(ctx, o, b.pairs)
		var refused *measure.StatusError
		if errors.As(err, &refused) { // for example a query that is too slow for the timeout
			g.figures = append(g.figures, figure{
				Of:      g.of,
				Name:    o.name,
				Goal:    fmt.Sprintf("≤ %g", growthGoal),
				Outcome: outcomeMiss,
				Comment: "not measured: status " + refused.Status,
			})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
	}
	for _, i := range all {
		if err := i.end(); err != nil {
			return nil, err
		}
	}
	if err := g.recordSweeps(ctx); err != nil {
		return nil, err
	}
	if err := g.recordCreationDuringSweep(ctx, b); err != nil {
		return nil, err
	}
	return g.figures, nil
}

// growthReport collects the figures of one database.
type growthReport struct {
	all     []*installation // the smallest first
	of      string
	figures []figure
}

// add adds the ratio of a value between the largest and the smallest installation. The
// comment has the value of each.
func (g *growthReport) add(name, unit string, of func(*installation) float64) {
	g.figures = append(g.figures, figure{
		Of:      g.of,
		Name:    name,
		Value:   of(g.all[len(g.all)-1]) / of(g.all[0]),
		Comment: g.values(of) + " " + unit,
	})
}

// addRatio is add with the goal of all ratios.
func (g *growthReport) addRatio(name, unit string, of func(*installation) float64) {
	g.add(name, unit, of)
	last := len(g.figures) - 1
	g.figures[last] = g.figures[last].atMost(growthGoal)
}

// addLargest adds a value of the largest installation that has a goal of its own. The
// comment has the values of all.
func (g *growthReport) addLargest(name, unit string, goal float64, of func(*installation) float64) {
	g.addValue(name, unit, of)
	last := len(g.figures) - 1
	g.figures[last] = g.figures[last].atMost(goal)
}

// addValue is addLargest without a goal.
func (g *growthReport) addValue(name, unit string, of func(*installation) float64) {
	g.figures = append(g.figures, figure{
		Of:      g.of,
		Name:    name,
		Value:   of(g.all[len(g.all)-1]),
		Unit:    unit,
		Comment: g.values(of) + " " + unit,
	})
}

// values formats the value of each installation.
func (g *growthReport) values(of func(*installation) float64) string {
	var values []string
	for _, i := range g.all {
		values = append(values, number(of(i), ""))
	}
	return strings.Join(values, " · ")
}

// recordSizes adds what was measured while the installations were filled.
func (g *growthReport) recordSizes() {
	g.addLargest("database, for a meeting without webhooks", "B", 6000,
		func(i *installation) float64 { return i.meetingBytes })
	g.add("database, with webhooks of a month, calls of a week, audit log and small projects", "MB", func(i *installation) float64 { return float64(i.filledBytes) / 1e6 })
	g.add("fill", "meetings/s", func(i *installation) float64 { return i.fillRate })
	g.add("first rollup of usage, for a meeting", "µs", func(i *installation) float64 {
		return micros(i.rollupTime) / float64(i.meetings)
	})
	janitor := fmt.Sprintf("janitor, for an organization, with an hour of %d meetings to roll up",
		recentMeetings/recentHours)
	g.addRatio(janitor, "µs", func(i *installation) float64 {
		return micros(i.sweepTime) / float64(1+i.smallProjects()/filltest.ProjectsPerOrganization)
	})
}

// recordIdle adds what was measured at the starts, and what the running servers cost when
// nobody uses them.
func (g *growthReport) recordIdle(ctx context.Context) error {
	g.addLargest("start to healthy", "s", 0.5, func(i *installation) float64 { return i.startupTime.Seconds() })
	before := map[*installation]time.Duration{}
	for _, i := range g.all {
		var err error
		if before[i], err = i.cpu()(); err != nil {
			return err
		}
	}
	began := time.Now()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(growthIdle):
	}
	load := map[*installation]float64{}
	for _, i := range g.all {
		after, err := i.cpu()()
		if err != nil {
			return err
		}
		load[i] = millis(after-before[i]) / time.Since(began).Seconds()
	}
	if err := g.recordMemory("idle memory", true); err != nil {
		return err
	}
	g.addValue("idle processor time of the server, for a second", "ms", func(i *installation) float64 { return load[i] })
	return nil
}

// recordMemory adds the memory of the running servers under a name, and what it consists of.
// Shared pages count once (PSS).
func (g *growthReport) recordMemory(name string, idle bool) error {
	memory := map[*installation]measure.Memory{}
	for _, i := range g.all {
		var err error
		if memory[i], err = measure.ProcessTreeMemory(i.pid()); err != nil {
			return err
		}
	}
	part := func(of func(measure.Memory) int64) func(*installation) float64 {
		return func(i *installation) float64 { return float64(of(memory[i])) / 1e6 }
	}
	g.addLargest(name+", private: heap, stacks and caches", "MB", privateGoal,
		part(func(m measure.Memory) int64 { return m.Private }))
	g.addValue(name+", mapped database", "MB", part(func(m measure.Memory) int64 { return m.Database }))
	g.addValue(name+", mapped program", "MB", part(func(m measure.Memory) int64 { return m.Program }))
	g.addValue(name+", of all the supervisor", "MB", part(func(m measure.Memory) int64 { return m.Parent }))
	all := part(func(m measure.Memory) int64 { return m.Proportional })
	if idle {
		g.addLargest(name+", all", "MB", idleGoal, all)
	} else {
		g.addValue(name+", all", "MB", all)
	}
	return nil
}

// compare measures one operation on all installations, in turns, and on the largest once
// more as the control.
func (g *growthReport) compare(ctx context.Context, o growthOperation, pairs int) error {
	largest := g.all[len(g.all)-1]
	var loads []*measure.Load
	defer func() {
		for _, l := range loads {
			l.Close()
		}
	}()
	for _, i := range append(g.all, largest) {
		request, err := o.request(ctx, i)
		if err != nil {
			return err
		}
		l, err := measure.Dial(measure.Target{Name: thousands(i.meetings) + " meetings", Address: i.Address,
			CPU: i.totalCPU, Request: request}, o.connections())
		if err != nil {
			return err
		}
		loads = append(loads, l)
	}
	costs := make([][]time.Duration, len(loads))
	for round := range pairs + 1 {
		for n := range loads {
			if round%2 == 1 {
				n = len(loads) - 1 - n
			}
			s, err := loads[n].Slice(ctx, o.slice())
			if err != nil {
				return err
			}
			if round > 0 { // the first warms up
				costs[n] = append(costs[n], o.cost(s))
			}
		}
	}
	medians := map[*installation]float64{}
	for n, i := range g.all {
		medians[i] = micros(measure.Median(costs[n]))
	}
	g.addRatio(o.name, "µs", func(i *installation) float64 { return medians[i] })
	control := micros(measure.Median(costs[len(loads)-1])) / medians[largest]
	last := len(g.figures) - 1
	g.figures[last] = g.figures[last].withGrowthControl(control)
	return nil
}

// withGrowthControl is withControl with wider bounds, because the goal of a growth ratio is
// far from 1.
func (f figure) withGrowthControl(control float64) figure {
	if control < 0.8 || control > 1.25 {
		f.Outcome = outcomeInconclusive
		f.Comment += fmt.Sprintf("; inconclusive: largest against itself was %.2f", control)
	}
	return f
}

// parseMeetings parses the flag -meetings.
func parseMeetings(list string) ([]int, error) {
	var sizes []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 100 || n > 10_000_000 || len(sizes) > 0 && n <= sizes[len(sizes)-1] {
			return nil, errors.New("-meetings must be increasing numbers from 100 to 10000000, such as 1000,100000")
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// thousands formats a number with separators.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
