package roomapi

import (
	"math"
	"testing"
	"time"
)

func TestUnits_NoOverflow(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{
		0: 0, 5: 5 * time.Minute, -5: -5 * time.Minute,
		math.MaxInt: math.MaxInt64 / time.Minute * time.Minute, math.MinInt: -(math.MaxInt64 / time.Minute * time.Minute),
	} {
		if got := Units(n, time.Minute); got != want {
			t.Errorf("%d minutes: got %s, want %s", n, got, want)
		}
	}
}
