package supervise

import "time"

const (
	// firstDelay is the delay before the second restart in a row. The first restart is
	// immediate, and each further delay is twice as long.
	firstDelay = 250 * time.Millisecond
	// maxDelay is the longest delay. It is short because a guest that can crash the
	// service should not be able to stop it for much longer than a restart takes.
	maxDelay = 5 * time.Second
	// quietPeriod is the time that a child has to run before its crash counts as the first.
	quietPeriod = 30 * time.Second
	// crashLoopThreshold is the number of crashes in a row that count as a crash loop.
	crashLoopThreshold = 3
)

// crashes is the history of crashes. A child gets it in its environment.
type crashes struct {
	Restarts int       `json:"restarts"` // in total
	InARow   int       `json:"in_a_row"` // without a quiet period between them
	LastAt   time.Time `json:"last_at"`
}

// record records a crash of a child that ran for the given time after it was ready, and
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
