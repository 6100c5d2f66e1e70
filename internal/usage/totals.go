package usage

import (
	"context"
	"slices"
	"time"
)

// periodTotals returns the totals of a scope for consecutive periods: the first one is from
// bounds[0] to bounds[1]. It reads the rollups, and moves only of the time that is not
// rolled up. With more than one period, all bounds but the last one must be full hours.
func periodTotals(ctx context.Context, l Ledger, s Scope, bounds ...time.Time) ([]Totals, error) {
	progress, err := l.UsageProgress(ctx, s.OrganizationID)
	if err != nil {
		return nil, err
	}
	return totalsAt(ctx, l, progress, s, bounds...)
}

// totalsAt is periodTotals for a progress of the organization, which need not be the latest.
func totalsAt(ctx context.Context, l Ledger, progress Progress, s Scope, bounds ...time.Time) ([]Totals, error) {
	h, err := readHistory(ctx, l, progress, s, bounds)
	if err != nil {
		return nil, err
	}
	return h.totals(bounds), nil
}

// history is what the totals of a scope are added up from.
type history struct {
	from     time.Time // start of the first part
	base     Level     // connections then
	rolledUp time.Time // the moves since then are the last part
	parts    []historyPart
}

// historyPart is a part of a history: first intervals and then the moves after them, both in
// order of time. The parts are in order of time, too.
type historyPart struct {
	intervals []Interval
	moves     []Move
}

// readHistory reads the history for consecutive periods; see periodTotals.
func readHistory(ctx context.Context, l Ledger, progress Progress, s Scope, bounds []time.Time) (history, error) {
	start, end := bounds[0], bounds[len(bounds)-1]
	rolledUp := earlier(progress.Until, end).Truncate(time.Hour)
	byMoves := map[time.Time]bool{} // hours that are read from their moves
	if aligned := start.Truncate(time.Hour); !aligned.Equal(start) {
		byMoves[aligned] = true
	}
	from := earlier(start.Truncate(time.Hour), rolledUp)
	for _, late := range progress.Late {
		if late.Before(rolledUp) {
			byMoves[late] = true
			from = earlier(from, late) // the hours after it may have a wrong Base
		}
	}
	base, err := l.LatestUsageHour(ctx, s, from)
	if err != nil {
		return history{}, err
	}
	h := history{from: from, base: base.AtEnd(), rolledUp: rolledUp}
	split := map[time.Time]bool{midnight(from): !midnight(from).Equal(from)}
	for hour := range byMoves {
		split[midnight(hour)] = true
	}
	for _, bound := range bounds {
		if day := midnight(bound); !day.Equal(bound) {
			split[day] = true
		}
	}
	stored, err := readIntervals(ctx, l, s, from, rolledUp, progress.DaysUntil, split)
	if err != nil {
		return history{}, err
	}
	stored = slices.DeleteFunc(stored, func(i Interval) bool { return byMoves[i.Start] })
	addPart := func(intervals []Interval, moves []Move) {
		h.parts = append(h.parts, historyPart{intervals, moves})
	}
	hours := slices.DeleteFunc(sortedTimes(byMoves), func(hour time.Time) bool {
		return !hour.Before(rolledUp) // it is in the last part
	})
	for len(hours) > 0 {
		if err := ctx.Err(); err != nil { // SQLite would read on
			return history{}, err
		}
		n := hoursOfDay(hours)
		moves, err := readMoves(ctx, l, s, hours[0], hours[n-1].Add(time.Hour))
		if err != nil {
			return history{}, err
		}
		for _, hour := range hours[:n] {
			before, _ := slices.BinarySearchFunc(stored, hour, compareStart)
			first, _ := slices.BinarySearchFunc(moves, hour, compareMove)
			next, _ := slices.BinarySearchFunc(moves, hour.Add(time.Hour), compareMove)
			addPart(stored[:before], moves[first:next])
			stored = stored[before:]
		}
		hours = hours[n:]
	}
	moves, err := readMoves(ctx, l, s, rolledUp, end)
	addPart(stored, moves)
	return h, err
}

// hoursOfDay returns how many of some hours, which are in order, are of the same day as the first one.
func hoursOfDay(hours []time.Time) int {
	next := midnight(hours[0]).Add(DayLength)
	n, _ := slices.BinarySearchFunc(hours, next, time.Time.Compare)
	return n
}

func compareStart(i Interval, at time.Time) int { return i.Start.Compare(at) }

func compareMove(m Move, at time.Time) int { return m.At.Compare(at) }

// readMoves returns the moves of a scope, without those of test projects, in order of time.
func readMoves(ctx context.Context, l Ledger, s Scope, from, to time.Time) ([]Move, error) {
	moves, err := l.UsageMoves(ctx, s, from, to)
	return slices.DeleteFunc(moves, func(m Move) bool { return m.Test }), err
}

// totals returns the totals of consecutive periods. The bounds are those of readHistory, but the last one may be
// earlier, down to h.rolledUp.
func (h history) totals(bounds []time.Time) []Totals {
	t := newTimelines(bounds, h.from, h.base)
	end := bounds[len(bounds)-1]
	for _, part := range h.parts {
		for i := range part.intervals {
			t.periodOf(part.intervals[i].Start).addInterval(&part.intervals[i])
		}
		for _, m := range part.moves {
			if m.At.Before(end) {
				t.periodOf(m.At).addMove(m)
			}
		}
	}
	return t.totals()
}

// readIntervals returns the rollups of a scope from one full hour to another, in order of time.
// It reads the folded days that are not in split, and the hours of all other days.
func readIntervals(
	ctx context.Context, l Ledger, s Scope, from, to, daysUntil time.Time, split map[time.Time]bool,
) ([]Interval, error) {
	daysUntil = later(from, earlier(daysUntil, midnight(to)))
	var all []Interval
	if from.Before(daysUntil) {
		days, err := l.UsageDays(ctx, s, from, daysUntil)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(days, func(i Interval) bool { return split[i.Start] })
	}
	addHours := func(from, to time.Time) error {
		if !from.Before(to) {
			return nil
		}
		hours, err := l.UsageHours(ctx, s, from, to)
		all = append(all, hours...)
		return err
	}
	for _, day := range sortedTimes(split) {
		begin, end := later(from, day), earlier(daysUntil, day.Add(DayLength))
		if err := addHours(begin, end); err != nil {
			return nil, err
		}
	}
	if err := addHours(daysUntil, to); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Interval) int { return a.Start.Compare(b.Start) })
	return all, nil
}

// sortedTimes returns the members of a set in order.
func sortedTimes(set map[time.Time]bool) []time.Time {
	var times []time.Time
	for t, member := range set {
		if member {
			times = append(times, t)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}
