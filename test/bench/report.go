package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// report contains all results of one run.
type report struct {
	Machine machine  `json:"machine"`
	Pairs   int      `json:"pairs"`
	Slice   string   `json:"slice"`
	Figures []figure `json:"figures"`
	// Unmeasured lists the experiments that could not be measured, with the reasons.
	Unmeasured []string `json:"unmeasured,omitempty"`
}

func (r report) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r report) text(out io.Writer) error {
	fmt.Fprintf(out, "%s\n%d pairs of slices of %s, medians\n", r.Machine, r.Pairs, r.Slice)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	of := ""
	for _, f := range r.Figures {
		if f.Of != of {
			of = f.Of
			fmt.Fprintf(w, "\n%s\n", of)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", f.Name, number(f.Value, f.Unit), f.Goal, f.Outcome, f.Comment)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, u := range r.Unmeasured {
		fmt.Fprintf(out, "\nnot measured: %s\n", u)
	}
	return nil
}

// number formats a value with its significant digits and its unit.
func number(v float64, unit string) string {
	digits := 2
	switch {
	case v == math.Trunc(v) || math.Abs(v) >= 1000:
		digits = 0
	case math.Abs(v) >= 20:
		digits = 1
	}
	if unit == "" {
		return fmt.Sprintf("%.*f", digits, v)
	}
	return fmt.Sprintf("%.*f %s", digits, v, unit)
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
