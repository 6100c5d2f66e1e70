package measure

import (
	"context"
	"time"
)

// Pairs are slices of two servers; those with the same index follow each other in time.
type Pairs struct{ A, B []Slice }

// Compare loads a in turn with each of the others, pair by pair in the order A B B A, so that
// a drift (of the machine's temperature or the size of the database) affects both equally. The
// comparisons alternate too. If a is among the others, that comparison is the control: the
// same server with itself, by the same procedure.
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

// CPU returns the ratio of A's to B's processor time per request.
func (p Pairs) CPU() float64 {
	return p.ratio(func(s Slice) float64 { return float64(s.CPU) / float64(s.Requests) })
}

// Rate returns the ratio of A's to B's responses per second.
func (p Pairs) Rate() float64 { return p.ratio(Slice.PerSecond) }

// Latency returns the ratio of A's to B's median response times.
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

// Medians contains the median of each figure over slices.
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
