package room

import (
	"testing"
	"time"
)

// Rooms are handed over evenly, the last one at the end of the time.
func TestDrainBatch(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for _, c := range []struct {
		done, left     int
		elapsed, whole time.Duration
		want           int
	}{
		{0, 0, 0, time.Minute, 0},
		{0, 600, 0, time.Minute, 10},
		{10, 590, second, time.Minute, 10},
		{0, 5, second, 10 * time.Minute, 0},
		{0, 5, 2 * time.Minute, 10 * time.Minute, 1},
		{4, 1, 9 * time.Minute, 10 * time.Minute, 0},
		{4, 1, 10*time.Minute - second, 10 * time.Minute, 1},
		{0, 3, 0, 0, 3},
		{0, 3, time.Hour, time.Minute, 3},
		{9, 1, second, time.Minute, 0},
	} {
		if got := drainBatch(c.done, c.left, c.elapsed, c.whole); got != c.want {
			t.Errorf("%d of %d rooms after %s of %s: got %d now, want %d", c.done, c.done+c.left, c.elapsed, c.whole, got,
				c.want)
		}
	}
}
