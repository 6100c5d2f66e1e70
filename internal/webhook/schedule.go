package webhook

import (
	"math/rand/v2"
	"time"
)

// schedule is how long after the one before each attempt is made: three days
// in all.
var schedule = [...]time.Duration{0, 5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

const (
	// attemptLimit is the time that one attempt has, all in all.
	attemptLimit = 15 * time.Second
	// leaseFor is how long a claim holds: an attempt, and writing down what
	// became of it.
	leaseFor = 30 * time.Second
	// maxRetryAfter bounds what a receiver may ask for.
	maxRetryAfter = 24 * time.Hour

	// A target is paused after so many failures in a row over so long.
	pauseAfter    = 20
	pauseAfterFor = time.Hour
	// probeEvery is how often a paused target is tried.
	probeEvery = 10 * time.Minute
	// lookAgain is when deliveries to a target that is not tried by itself
	// come up again, to find that it still is not.
	lookAgain = 24 * time.Hour

	// keepFor is how long deliveries are kept, and may be replayed.
	keepFor = 30 * 24 * time.Hour
)

// outcome is what an answer means for its delivery.
type outcome struct {
	state State
	due   time.Time // when to try again; zero where that is not to be
}

// judge decides what becomes of a delivery by the answer to an attempt. A
// probe of a paused target does not count: what waits for one waits for as
// long as deliveries are kept.
func judge(d Delivery, a Answer, probe bool, now time.Time) outcome {
	switch {
	case a.Status >= 200 && a.Status < 300:
		return outcome{state: Delivered}
	case a.Status == 410:
		return outcome{state: Gone}
	case probe:
		return outcome{state: Pending, due: now.Add(probeEvery)}
	case d.Step+1 >= len(schedule):
		return outcome{state: Failed}
	}
	return outcome{state: Pending, due: now.Add(max(jittered(schedule[d.Step+1]), min(a.RetryAfter, maxRetryAfter)))}
}

// jittered spreads a time by a tenth either way, so that what failed together
// does not come back together.
func jittered(d time.Duration) time.Duration {
	if d == 0 {
		return 0
	}
	return d + time.Duration((rand.Float64()*0.2-0.1)*float64(d))
}
