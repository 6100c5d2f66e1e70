package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/field"
	"parley/internal/project"
)

// What operators, and clients in their own projects, do with rooms: look, and
// end.

// How many rooms a list has at most, and when nothing is said.
const (
	MaxListed     = 100
	DefaultListed = 50
)

// Query chooses rooms for a list. A text that is empty leaves none out.
type Query struct {
	ID        string
	ProjectID string
	State     State
	Before    string // only rooms older than the one of this id
	Limit     int    // 1 to MaxListed
}

// Listed is a room as lists show it.
type Listed struct {
	ID              string
	ProjectID       string
	ClientRoomID    string
	Type            Type
	State           State
	EndReason       EndReason
	Title           string
	Participants    int // who are in now
	MaxParticipants int
	CreatedAt       time.Time
	StartAt         time.Time // zero for a quick room
	OpenedAt        time.Time
	StartedAt       time.Time
	EndedAt         time.Time
}

// List returns rooms, the newest first, and whether there are older ones.
func (s *Service) List(ctx context.Context, q Query) (rooms []Listed, more bool, err error) {
	switch q.State {
	case "", Scheduled, Open, Active, Ended, Cancelled, Expired:
	default:
		return nil, false, fault.Invalidf("state must be scheduled, open, active, ended, cancelled or expired, not %q", q.State)
	}
	if err := field.Range("limit", q.Limit, 1, MaxListed); err != nil {
		return nil, false, err
	}
	limit := q.Limit
	q.Limit++
	if rooms, err = s.store.List(ctx, q); err != nil {
		return nil, false, err
	}
	if len(rooms) > limit {
		return rooms[:limit], true, nil
	}
	return rooms, false, nil
}

// Look returns one room as lists show it, or NotFound.
func (s *Service) Look(ctx context.Context, id string) (Listed, error) {
	rooms, err := s.store.List(ctx, Query{ID: id, Limit: 1})
	if err != nil {
		return Listed{}, err
	}
	if len(rooms) == 0 {
		return Listed{}, errNoRoom
	}
	return rooms[0], nil
}

// End ends a room now; one that is not open yet is cancelled. Whoever is in it
// is told, and their number is returned. Refusals: NotFound, Conflict when the
// room is over already.
func (s *Service) End(ctx context.Context, id string, reason EndReason) (sentOut int, err error) {
	err = s.change(ctx, id, func(ctx context.Context, r *Room, _ time.Time) error {
		if r.Over() {
			return errOver(r)
		}
		o, err := s.store.Occupancy(ctx, r.ID)
		if err != nil {
			return err
		}
		sentOut = o.Joined
		r.stop(reason)
		return nil
	})
	return sentOut, err
}

// EndOf ends a room of the project as End does, on its client's word.
func (s *Service) EndOf(ctx context.Context, p project.Project, id string) error {
	if _, err := s.Of(ctx, p, id); err != nil {
		return err
	}
	_, err := s.End(ctx, id, EndedAPI)
	return err
}

// EndRunning ends every open or active room of a project and returns how many
// there were. Scheduled ones stay. Called again, it takes up what an earlier
// call could not finish.
func (s *Service) EndRunning(ctx context.Context, projectID string, reason EndReason) (ended int, err error) {
	for _, state := range []State{Active, Open} {
		for more := true; more; {
			var rooms []Listed
			if rooms, more, err = s.List(ctx, Query{ProjectID: projectID, State: state, Limit: MaxListed}); err != nil {
				return ended, err
			}
			for _, r := range rooms {
				_, err := s.End(ctx, r.ID, reason)
				if fault.Is(err, fault.Conflict) {
					continue // it ended by itself meanwhile
				}
				if err != nil {
					return ended, err
				}
				ended++
			}
		}
	}
	return ended, nil
}
