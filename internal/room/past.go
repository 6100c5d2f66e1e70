package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// How many rooms that are over a list has at most, and when nothing is said.
const (
	MaxPastLimit     = 100
	DefaultPastLimit = 20
)

// PastQuery chooses rooms that are over, in the order of their ends.
type PastQuery struct {
	IDs       []string // these alone; nil is all
	Offset    int      // how many to leave out at the beginning
	Limit     int      // 1 to MaxPastLimit
	Ascending bool     // the first to end comes first
}

// PastRoom is a room that is over.
type PastRoom struct {
	ID               string
	Session          int // number of its latest live period; 0 when nobody came
	Title            string
	WebhookURL       string
	CreatedAt        time.Time
	EndedAt          time.Time
	ParticipantCount int // people who were in, hidden ones aside
}

// PastRooms returns rooms of the project that are over, and how many there are
// in all. Refusals: Invalid with the field and the bound.
func (s *Service) PastRooms(ctx context.Context, p project.Project, q PastQuery) ([]PastRoom, int, error) {
	if len(q.IDs) > MaxPastLimit {
		return nil, 0, fault.Invalidf("room_ids must have at most %d entries, not %d", MaxPastLimit, len(q.IDs))
	}
	if err := firstError(validate.Range("from", q.Offset, 0, maxOffset), validate.Range("limit", q.Limit, 1, MaxPastLimit)); err != nil {
		return nil, 0, err
	}
	return s.store.PastRooms(ctx, p.ID, q)
}

// maxOffset is further than any list goes.
const maxOffset = 1_000_000_000
