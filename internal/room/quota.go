package room

import (
	"context"
	"fmt"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

// Quotas are how many of something a plan allows a project on one day in UTC; 0 is any number.
type Quotas struct {
	Rooms, Links, JoinEvents int
}

// QuotaSubject names what a quota limits.
type QuotaSubject string

// The subjects of quotas.
const (
	QuotaRooms      QuotaSubject = "rooms"
	QuotaLinks      QuotaSubject = "links"
	QuotaJoinEvents QuotaSubject = "join events"
)

// useQuota counts one more of a subject, in the transaction that creates it. It returns Exhausted
// (quota_exceeded) if the plan allows no more on this day. A limit of 0 counts nothing.
func (s *Bookings) useQuota(
	ctx context.Context, p project.Project, subject QuotaSubject, limit int, now time.Time,
) error {
	if limit == 0 {
		return nil
	}
	used, err := s.store.UseQuota(ctx, p.ID, subject, now)
	if err != nil || used <= limit {
		return err
	}
	tomorrow := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	return &fault.Error{Kind: fault.Exhausted, Code: "quota_exceeded", RetryAfter: tomorrow.Sub(now),
		Message: fmt.Sprintf("the plan allows %d %s a day: the next day begins at 00:00 UTC", limit, subject)}
}
