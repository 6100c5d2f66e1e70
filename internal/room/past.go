package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/field"
	"parley/internal/project"
)

// How many rooms that are over a list has at most, and when nothing is said.
const (
	MaxPast     = 100
	DefaultPast = 20
)

// PastQuery chooses rooms that are over, in the order of their ends.
type PastQuery struct {
	IDs       []string // these alone; nil is all
	From      int      // how many to leave out at the beginning
	Limit     int      // 1 to MaxPast
	Ascending bool     // the first to end comes first
}

// Past is a room that is over.
type Past struct {
	ID         string
	Session    int // number of its latest live period; 0 when nobody came
	Title      string
	WebhookURL string
	CreatedAt  time.Time
	EndedAt    time.Time
	Joined     int // people who were in, hidden ones aside
}

// PastRooms returns rooms of the project that are over, and how many there are
// in all. Refusals: Invalid with the field and the bound.
func (s *Service) PastRooms(ctx context.Context, p project.Project, q PastQuery) ([]Past, int, error) {
	if len(q.IDs) > MaxPast {
		return nil, 0, fault.Invalidf("room_ids must have at most %d entries, not %d", MaxPast, len(q.IDs))
	}
	if err := firstError(field.Range("from", q.From, 0, maxFrom), field.Range("limit", q.Limit, 1, MaxPast)); err != nil {
		return nil, 0, err
	}
	return s.store.PastRooms(ctx, p.ID, q)
}

// maxFrom is further than any list goes.
const maxFrom = 1_000_000_000
