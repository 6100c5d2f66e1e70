package supervise

import "time"

const (
	// firstDelay is the delay before the second restart in a row; the first one
	// is immediate. Each further delay is twice as long.
	firstDelay = 250 * time.Millisecond
	// maxDelay limits the delay, because a guest who can crash the service
	// should not be able to keep it away for longer than the restart needs.
	maxDelay = 5 * time.Second
	// quietPeriod is how long a child has to run for its crash to count as the first.
	quietPeriod = 30 * time.Second
	// crashLoopThreshold is how many crashes in a row are a crash loop.
	crashLoopThreshold = 3
)

// crashes is what is known about the crashes so far. A child gets it in the
// environment.
type crashes struct {
	Restarts int       `json:"restarts"` // in all
	InARow   int       `json:"in_a_row"` // without a quiet period between them
	LastAt   time.Time `json:"last_at"`
}

// record notes a crash of a child that ran for some time after it was ready, and
// returns the delay before the next start.
func (c *crashes) record(now time.Time, ran time.Duration) (delay time.Duration) {
	if ran >= quietPeriod {
		c.InARow = 0
	}
	c.Restarts, c.InARow, c.LastAt = c.Restarts+1, c.InARow+1, now
	if c.InARow == 1 {
		return 0
	}
	delay = firstDelay
	for n := 2; n < c.InARow && delay < maxDelay; n++ {
		delay *= 2
	}
	return min(delay, maxDelay)
}

// isLoop reports whether the last crashes were a crash loop.
func (c *crashes) isLoop() bool { return c.InARow >= crashLoopThreshold }
