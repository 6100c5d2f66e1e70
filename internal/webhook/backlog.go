package webhook

import (
	"context"
	"time"
)

// maxBacklog is the largest number of pending deliveries that Backlog counts, so that its cost
// does not grow with the outage of a receiver.
const maxBacklog = 10_000

// Backlog is the state of the deliveries of all projects.
type Backlog struct {
	Pending int // deliveries, at most maxBacklog
	// OldestPending is when the oldest pending delivery was created; zero if none is pending.
	// Of more than maxBacklog pending deliveries, it is the oldest of those in the oldest
	// streams.
	OldestPending time.Time
	// NextAttempt is when the next attempt of any delivery is due; zero if none is.
	NextAttempt   time.Time
	PausedTargets int
}

// Backlog returns the state of the deliveries of all projects.
func (s *Service) Backlog(ctx context.Context) (Backlog, error) {
	return s.store.WebhookBacklog(ctx, maxBacklog)
}
