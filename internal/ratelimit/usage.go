package ratelimit

import "time"

// Exchange makes one limit hold on several nodes. A Limiter decides by its own
// memory, so no call waits for an exchange.
type Exchange interface {
	// Enqueue schedules an exchange with the other nodes, which passes on
	// Usage.TakeCalls and gives the result to Usage.Merge. It does not block.
	Enqueue(u Usage)
}

// Usage is the calls of one caller that the other nodes do not know yet.
type Usage struct {
	Caller  string
	limiter *Limiter
	bucket  *bucket
}

// Interval returns the time that one call costs.
func (u Usage) Interval() time.Duration { return u.limiter.interval }

// TakeCalls returns how many calls the other nodes do not know yet, and sets
// that number to zero.
func (u Usage) TakeCalls() int64 { return u.bucket.unpublished.Swap(0) }

// Merge applies the time until which the calls on all nodes use up the
// caller's rate, and adds the calls that this node has allowed since TakeCalls.
// It never moves that time back.
func (u Usage) Merge(until time.Time) {
	for {
		before := u.bucket.theoreticalArrival.Load()
		after := u.limiter.at(until) + u.bucket.unpublished.Load()*int64(u.limiter.interval)
		if after <= before || u.bucket.theoreticalArrival.CompareAndSwap(before, after) {
			return
		}
	}
}
