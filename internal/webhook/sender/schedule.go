package sender

import (
	"math/rand/v2"
	"time"

	"parley/internal/webhook"
)

// retrySchedule is the wait before each attempt, counted from the attempt
// before: three days in total.
var retrySchedule = [...]time.Duration{0, 5 * time.Second, time.Minute,
	5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

const (
	// attemptTimeout bounds one attempt, from the connection to the response.
	attemptTimeout = 15 * time.Second
	// leaseDuration is how long a lease holds: enough for an attempt and for
	// recording its result.
	leaseDuration = 30 * time.Second
	// maxRetryAfter bounds the Retry-After of a receiver.
	maxRetryAfter = 24 * time.Hour

	// A target is paused after pauseAfterFailures failures in a row, if the first of
	// them was at least pauseAfterDuration ago.
	pauseAfterFailures = 20
	pauseAfterDuration = time.Hour
	// probeInterval is the time between two probes of a paused target.
	probeInterval = 10 * time.Minute
	// pausedRetryInterval is how long deliveries are postponed if their target is
	// paused and not probed automatically.
	pausedRetryInterval = 24 * time.Hour
)

// outcome is the effect of an attempt on its delivery.
type outcome struct {
	state   webhook.State
	retryAt time.Time // time of the next attempt; zero for none
}

// decideOutcome decides the outcome of an attempt by its response. A probe of a
// paused target does not use up a step of the schedule, so a delivery waits for
// its target as long as deliveries are kept.
func decideOutcome(d webhook.Delivery, r Response, probe bool, now time.Time) outcome {
	switch {
	case r.Status >= 200 && r.Status < 300:
		return outcome{state: webhook.Delivered}
	case r.Status == 410:
		return outcome{state: webhook.Gone}
	case probe:
		return outcome{state: webhook.Pending, retryAt: now.Add(probeInterval)}
	case d.Step+1 >= len(retrySchedule):
		return outcome{state: webhook.Failed}
	}
	wait := max(withJitter(retrySchedule[d.Step+1]), min(r.RetryAfter, maxRetryAfter))
	return outcome{state: webhook.Pending, retryAt: now.Add(wait)}
}

// withJitter returns d with up to 10 % added or subtracted at random, so that
// deliveries that failed together are not retried together.
func withJitter(d time.Duration) time.Duration {
	if d == 0 {
		return 0
	}
	return d + time.Duration((rand.Float64()*0.2-0.1)*float64(d))
}
