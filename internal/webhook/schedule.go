package webhook

import (
	"math/rand/v2"
	"time"
)

// retrySchedule is how long after the one before each attempt is made: three days
// in all.
var retrySchedule = [...]time.Duration{0, 5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

const (
	// attemptTimeout is the time that one attempt has, all in all.
	attemptTimeout = 15 * time.Second
	// leaseDuration is how long a claim holds: an attempt, and writing down what
	// became of it.
	leaseDuration = 30 * time.Second
	// maxRetryAfter bounds what a receiver may ask for.
	maxRetryAfter = 24 * time.Hour

	// A target is paused after so many failures in a row over so long.
	pauseAfterFailures = 20
	pauseAfterDuration = time.Hour
	// probeInterval is how often a paused target is tried.
	probeInterval = 10 * time.Minute
	// pausedRetryInterval is when deliveries to a target that is not tried by itself
	// come up again, to find that it still is not.
	pausedRetryInterval = 24 * time.Hour

	// deliveryRetention is how long deliveries are kept, and may be replayed.
	deliveryRetention = 30 * 24 * time.Hour
)

// outcome is what an answer means for its delivery.
type outcome struct {
	state   State
	retryAt time.Time // when to try again; zero where that is not to be
}

// decideOutcome decides what becomes of a delivery by the answer to an attempt. A
// probe of a paused target does not count: what waits for one waits for as
// long as deliveries are kept.
func decideOutcome(d Delivery, a Response, probe bool, now time.Time) outcome {
	switch {
	case a.Status >= 200 && a.Status < 300:
		return outcome{state: Delivered}
	case a.Status == 410:
		return outcome{state: Gone}
	case probe:
		return outcome{state: Pending, retryAt: now.Add(probeInterval)}
	case d.Step+1 >= len(retrySchedule):
		return outcome{state: Failed}
	}
	return outcome{state: Pending, retryAt: now.Add(max(withJitter(retrySchedule[d.Step+1]), min(a.RetryAfter, maxRetryAfter)))}
}

// withJitter spreads a time by a tenth either way, so that what failed together
// does not come back together.
func withJitter(d time.Duration) time.Duration {
	if d == 0 {
		return 0
	}
	return d + time.Duration((rand.Float64()*0.2-0.1)*float64(d))
}
