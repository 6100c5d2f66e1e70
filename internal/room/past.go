package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// The maximum and the default number of rooms in a list of past rooms.
const (
	MaxPastLimit     = 100
	DefaultPastLimit = 20
)

// PastQuery selects rooms that are over, ordered by the time of their end.
type PastQuery struct {
	IDs       []string // only these rooms; nil means all
	Offset    int      // number of rooms to skip
	Limit     int      // 1 to MaxPastLimit
	Ascending bool     // the room that ended first comes first
}

// PastRoom is a room that is over.
type PastRoom struct {
	ID               string
	Session          int // number of its latest session; 0 if no participant joined
	Title            string
	WebhookURL       string
	CreatedAt        time.Time
	EndedAt          time.Time
	ParticipantCount int // participants who were connected, without hidden ones
}

// PastRooms returns rooms of the project that are over, and the total number that
// match the query. Errors: Invalid with the field and the bound.
func (s *Bookings) PastRooms(ctx context.Context, p project.Project, q PastQuery) ([]PastRoom, int, error) {
	if len(q.IDs) > MaxPastLimit {
		return nil, 0, fault.Invalidf("room_ids must have at most %d entries, not %d", MaxPastLimit, len(q.IDs))
	}
	err := firstError(validate.Range("from", q.Offset, 0, maxOffset), validate.Range("limit", q.Limit, 1, MaxPastLimit))
	if err != nil {
		return nil, 0, err
	}
	return s.store.PastRooms(ctx, p.ID, q)
}

// maxOffset is larger than the number of rooms in any list.
const maxOffset = 1_000_000_000

// mergeBatch is the number of counts that one transaction merges.
const mergeBatch = 500

// MergePastRoomCounts merges the counts of the rooms that have ended since the last
// call. No result depends on it, only the cost of PastRooms.
func (s *Bookings) MergePastRoomCounts(ctx context.Context) error {
	for {
		merged := 0
		err := s.store.Write(ctx, func(ctx context.Context) (err error) {
			merged, err = s.store.MergePastRoomCounts(ctx, mergeBatch)
			return err
		})
		if err != nil || merged < mergeBatch {
			return err
		}
	}
}
