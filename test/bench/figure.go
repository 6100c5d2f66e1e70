package main

import (
	"fmt"
	"strings"

	"parley/test/bench/measure"
)

// figure is one measured value with its goal.
type figure struct {
	Of      string  `json:"of"` // the measured operation
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Goal    string  `json:"goal,omitempty"`
	Outcome string  `json:"verdict,omitempty"`
	Comment string  `json:"note,omitempty"`
}

// These are the outcomes of a figure that has a goal.
const (
	outcomeOK           = "ok"
	outcomeMiss         = "miss"
	outcomeInconclusive = "inconclusive" // the control is outside 0.95 to 1.05
)

// atMost returns the figure with a maximum as its goal.
func (f figure) atMost(goal float64) figure {
	return f.withOutcome(fmt.Sprintf("≤ %g", goal), f.Value <= goal)
}

// atLeast returns the figure with a minimum as its goal.
func (f figure) atLeast(goal float64) figure {
	return f.withOutcome(fmt.Sprintf("≥ %g", goal), f.Value >= goal)
}

func (f figure) withOutcome(goal string, met bool) figure {
	f.Goal, f.Outcome = goal, outcomeMiss
	if met {
		f.Outcome = outcomeOK
	}
	return f
}

// withControl makes the outcome inconclusive if the same server, compared with itself by the
// same procedure, has a ratio that is not close to 1.
func (f figure) withControl(control float64) figure {
	if !isControlValid(control) {
		f.Outcome = outcomeInconclusive
		reason := fmt.Sprintf("; this run is inconclusive: A against A was %.3f, not 0.95 to 1.05", control)
		f.Comment = strings.TrimPrefix(f.Comment+reason, "; ")
	}
	return f
}

func isControlValid(control float64) bool { return control >= 0.95 && control <= 1.05 }

// bareFigures returns the figures of a server compared with the bare one. A rateGoal of zero
// means no goal.
func bareFigures(of string, pairs, control measure.Pairs, cpuGoal, rateGoal float64) []figure {
	a, b := measure.MediansOf(pairs.A), measure.MediansOf(pairs.B)
	cpu, rate := control.CPU(), control.Rate()
	rps := figure{Of: of, Name: "rps×", Value: pairs.Rate()}
	if rateGoal > 0 {
		rps = rps.atLeast(rateGoal)
	}
	cpuComment := fmt.Sprintf("%.1f µs a request, bare %.1f µs", micros(a.CPUPerRequest), micros(b.CPUPerRequest))
	return []figure{
		figure{Of: of, Name: "cpu×", Value: pairs.CPU(), Comment: cpuComment}.atMost(cpuGoal).withControl(cpu),
		rps.withControl(rate),
		{Of: of, Name: "requests", Value: a.PerSecond, Unit: "/s", Comment: fmt.Sprintf("bare %.0f /s", b.PerSecond)},
		{Of: of, Name: "p99", Value: millis(a.P99), Unit: "ms", Comment: fmt.Sprintf("bare %.1f ms", millis(b.P99))},
		{Of: of, Name: "control, cpu×", Value: cpu, Comment: "A against A, valid within 0.95 to 1.05"},
		{Of: of, Name: "control, rps×", Value: rate},
	}
}
