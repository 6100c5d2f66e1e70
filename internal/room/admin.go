package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// What operators, and clients in their own projects, do with rooms: look, and
// end.

// How many rooms a list has at most, and when nothing is said.
const (
	MaxListLimit     = 100
	DefaultListLimit = 50
)

// ListQuery chooses rooms for a list. A text that is empty leaves none out.
type ListQuery struct {
	ID        string
	ProjectID string
	State     State
	Before    string // only rooms older than the one of this id
	Limit     int    // 1 to MaxListLimit
}

// Summary is a room as lists show it.
type Summary struct {
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
func (s *Service) List(ctx context.Context, q ListQuery) (rooms []Summary, more bool, err error) {
	switch q.State {
	case "", Scheduled, Open, Active, Ended, Cancelled, Expired:
	default:
		return nil, false, fault.Invalidf("state must be scheduled, open, active, ended, cancelled or expired, not %q", q.State)
	}
	if err := validate.Range("limit", q.Limit, 1, MaxListLimit); err != nil {
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

// GetSummary returns one room as lists show it, or NotFound.
func (s *Service) GetSummary(ctx context.Context, id string) (Summary, error) {
	rooms, err := s.store.List(ctx, ListQuery{ID: id, Limit: 1})
	if err != nil {
		return Summary{}, err
	}
	if len(rooms) == 0 {
		return Summary{}, errRoomNotFound
	}
	return rooms[0], nil
}

// End ends a room now; one that is not open yet is cancelled. Whoever is in it
// is told, and their number is returned. Refusals: NotFound, Conflict when the
// room is over already.
func (s *Service) End(ctx context.Context, id string, reason EndReason) (sentOut int, err error) {
	err = s.updateRoom(ctx, id, func(ctx context.Context, r *Room, _ time.Time) error {
		if r.Over() {
			return errRoomOver(r)
		}
		o, err := s.store.Occupancy(ctx, r.ID)
		if err != nil {
			return err
		}
		sentOut = o.Joined
		r.requestEnd(reason)
		return nil
	})
	return sentOut, err
}

// EndByAPI ends a room of the project as End does, on its client's word.
func (s *Service) EndByAPI(ctx context.Context, p project.Project, id string) error {
	if _, err := s.GetInProject(ctx, p, id); err != nil {
		return err
	}
	_, err := s.End(ctx, id, EndedAPI)
	return err
}

// EndRunningRooms ends every open or active room of a project and returns how many
// there were. Scheduled ones stay. Called again, it takes up what an earlier
// call could not finish.
func (s *Service) EndRunningRooms(ctx context.Context, projectID string, reason EndReason) (ended int, err error) {
	for _, state := range []State{Active, Open} {
		for more := true; more; {
			var rooms []Summary
			if rooms, more, err = s.List(ctx, ListQuery{ProjectID: projectID, State: state, Limit: MaxListLimit}); err != nil {
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
