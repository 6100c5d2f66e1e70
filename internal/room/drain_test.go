package room

import (
	"testing"
	"time"
)

// The last room goes at the end of the time, and each look hands over as many as are needed for that.
func TestDrainBatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rooms int
		left  time.Duration
		want  int
	}{
		{0, time.Minute, 0}, {30, time.Minute, 1}, {60, time.Minute, 1}, {61, time.Minute, 2}, {600, time.Minute, 10},
		{7, 2 * time.Second, 4}, {3, time.Second, 3}, {3, 0, 3}, {3, -time.Minute, 3},
	} {
		if got := drainBatch(c.rooms, c.left); got != c.want {
			t.Errorf("%d rooms in %s: got %d now, want %d", c.rooms, c.left, got, c.want)
		}
	}
}
