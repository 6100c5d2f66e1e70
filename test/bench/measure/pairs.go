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
			slices, err := Rotate(ctx, []*Load{a, b}, 2, length)
			if err != nil {
				return nil, err
			}
			results[i].A = append(results[i].A, slices[0]...)
			results[i].B = append(results[i].B, slices[1]...)
		}
	}
	return results, nil
}

// Rotate loads all servers in turn, in the order of the list and then in the reverse order, for a
// number of passes that must be even. It returns the slices of each load, one for each pass, so
// that a drift affects all equally, and any two loads make Pairs. A load that is in the list
// twice makes a control.
func Rotate(ctx context.Context, loads []*Load, passes int, length time.Duration) ([][]Slice, error) {
	results := make([][]Slice, len(loads))
	for pass := range passes {
		for i := range loads {
			if pass%2 == 1 {
				i = len(loads) - 1 - i
			}
			s, err := loads[i].Slice(ctx, length)
			if err != nil {
				return nil, err
			}
			results[i] = append(results[i], s)
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
