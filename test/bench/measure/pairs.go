package measure

import (
	"context"
	"time"
)

// Pairs are slices of two servers; those of one index were neighbours in time.
type Pairs struct{ A, B []Slice }

// Compare loads a in turn with each of the others, pair by pair in the order
// A B B A, so that what drifts (a warming machine, a growing database) meets
// both alike. The comparisons take turns too. An a among the others is the
// control: the same server against itself, by the same procedure.
func Compare(ctx context.Context, a *Load, others []*Load, pairs int, length time.Duration) ([]Pairs, error) {
	results := make([]Pairs, len(others))
	for done := 0; done < pairs; done += 2 {
		for i, b := range others {
			var slices [4]Slice
			for j, l := range []*Load{a, b, b, a} {
				var err error
				if slices[j], err = l.Slice(ctx, length); err != nil {
					return nil, err
				}
			}
			results[i].A = append(results[i].A, slices[0], slices[3])
			results[i].B = append(results[i].B, slices[1], slices[2])
		}
	}
	return results, nil
}

// CPU is how many times the processor time of one of B's requests one of A's
// takes.
func (p Pairs) CPU() float64 {
	return p.ratio(func(s Slice) float64 { return float64(s.CPU) / float64(s.Requests) })
}

// Rate is how many times B's requests a second A answers.
func (p Pairs) Rate() float64 { return p.ratio(Slice.PerSecond) }

// Latency is how many times as long as one of B's answers one of A's takes to
// come, at the median.
func (p Pairs) Latency() float64 {
	return p.ratio(func(s Slice) float64 { return float64(s.P50) })
}

func (p Pairs) ratio(of func(Slice) float64) float64 {
	var ratios []float64
	for i := range p.A {
		ratios = append(ratios, of(p.A[i])/of(p.B[i]))
	}
	return Median(ratios)
}

// Medians is the median of each figure over some slices.
type Medians struct {
	PerSecond     float64
	CPUPerRequest time.Duration
	P99           time.Duration
}

// MediansOf returns the medians over slices.
func MediansOf(slices []Slice) Medians {
	var rates []float64
	var cpu, p99 []time.Duration
	for _, s := range slices {
		rates, cpu, p99 = append(rates, s.PerSecond()), append(cpu, s.CPUPerRequest()), append(p99, s.P99)
	}
	return Medians{PerSecond: Median(rates), CPUPerRequest: Median(cpu), P99: Median(p99)}
}
