package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// This file contains the operations of operators, and of integrators in their own
// projects: listing and ending rooms.

// The maximum and the default number of rooms in a list.
const (
	MaxListLimit     = 100
	DefaultListLimit = 50
)

// ListQuery selects rooms for a list. Empty fields do not filter.
type ListQuery struct {
	ID        string
	ProjectID string
	State     State
	Before    string // only rooms older than the room with this id
	Limit     int    // 1 to MaxListLimit
}

// Summary is a room as shown in lists.
type Summary struct {
	ID              string
	ProjectID       string
	ClientRoomID    string
	Type            Type
	State           State
	EndReason       EndReason
	Title           string
	Participants    int // connected participants
	MaxParticipants int
	CreatedAt       time.Time
	StartAt         time.Time // zero for a quick room
	OpenedAt        time.Time
	StartedAt       time.Time
	EndedAt         time.Time
}

// List returns rooms, newest first, and whether there are more. Errors: Invalid.
func (s *Service) List(ctx context.Context, q ListQuery) (rooms []Summary, more bool, err error) {
	switch q.State {
	case "", Scheduled, Open, Active, Ended, Cancelled, Expired:
	default:
		return nil, false, fault.Invalidf(
			"state must be scheduled, open, active, ended, cancelled or expired, not %q", q.State)
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

// GetSummary returns the summary of one room, or NotFound.
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

// End ends a room now, or cancels it if it is not open yet. It returns the number of
// participants who were connected; their pages show that the room ended. Errors:
// NotFound, Conflict when the room is already over.
func (s *Service) End(ctx context.Context, id string, reason EndReason) (disconnected int, err error) {
	err = s.updateRoom(ctx, id, func(ctx context.Context, r *Room, _ time.Time) error {
		if r.Over() {
			return errRoomOver(r)
		}
		o, err := s.store.Occupancy(ctx, r.ID)
		if err != nil {
			return err
		}
		disconnected = o.Joined
		r.requestEnd(reason)
		return nil
	})
	return disconnected, err
}

// EndByAPI ends a room of the project, like End.
func (s *Service) EndByAPI(ctx context.Context, p project.Project, id string) error {
	if _, err := s.GetInProject(ctx, p, id); err != nil {
		return err
	}
	_, err := s.End(ctx, id, EndedAPI)
	return err
}

// EndRunningRooms ends all open and active rooms of a project and returns their
// number. It does not change scheduled rooms. After an error it can be called again
// to end the remaining rooms.
func (s *Service) EndRunningRooms(ctx context.Context, projectID string, reason EndReason) (ended int, err error) {
	for _, state := range []State{Active, Open} {
		for more := true; more; {
			var rooms []Summary
			query := ListQuery{ProjectID: projectID, State: state, Limit: MaxListLimit}
			if rooms, more, err = s.List(ctx, query); err != nil {
				return ended, err
			}
			for _, r := range rooms {
				_, err := s.End(ctx, r.ID, reason)
				if fault.Is(err, fault.Conflict) {
					continue // the room has ended meanwhile
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
