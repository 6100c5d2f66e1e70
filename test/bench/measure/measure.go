// Package measure compares servers on a small machine that also runs the load. It loads the
// servers in turn, in slices in the order A B B A, and computes the medians of the ratios
// pair by pair. Ratios are comparable between machines, absolute figures are not.
//
// The package knows processes and HTTP/1.1, and must not depend on the measured servers.
package measure

import (
	"cmp"
	"slices"
)

// Median returns the middle of the values, or the mean of the two in the
// middle. Without values it is zero.
func Median[T ~int64 | ~float64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// percentile sorts values and returns the one that q of them do not exceed.
func percentile[T cmp.Ordered](values []T, q float64) T {
	slices.Sort(values)
	return values[min(len(values)-1, int(q*float64(len(values))))]
}
