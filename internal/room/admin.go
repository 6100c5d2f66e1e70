package room

import (
	"context"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// This file contains the operations of operators, and of integrators in their own
// projects: listing and ending rooms, and removing participants.

// ListQuery selects rooms for a list. Empty fields do not filter.
type ListQuery struct {
	ID           string
	ProjectID    string
	ClientRoomID string
	State        State
	Before       string    // only rooms older than the room with this id
	CreatedUntil time.Time // ignored unless ProjectID is set
	Limit        int       // 1 to validate.MaxPage
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

func (q ListQuery) validate() error {
	switch q.State {
	case "", Scheduled, Open, Active, Ended, Cancelled, Expired:
	default:
		return fault.Invalidf("state must be scheduled, open, active, ended, cancelled or expired, not %q", q.State)
	}
	return validate.Range("limit", q.Limit, 1, validate.MaxPage)
}

// List returns rooms, newest first, and whether there are more. Errors: Invalid.
func (s *Bookings) List(ctx context.Context, q ListQuery) (rooms []Summary, more bool, err error) {
	if err := q.validate(); err != nil {
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
func (s *Bookings) GetSummary(ctx context.Context, id string) (Summary, error) {
	rooms, err := s.store.List(ctx, ListQuery{ID: id, Limit: 1})
	if err != nil {
		return Summary{}, err
	}
	if len(rooms) == 0 {
		return Summary{}, ErrNotFound
	}
	return rooms[0], nil
}

// End ends a room now, or cancels it if it is not open yet. It returns the number of
// participants who were connected; their pages show that the room ended. Errors:
// NotFound, Conflict when the room is already over.
func (s *Bookings) End(ctx context.Context, id string, reason EndReason) (disconnected int, err error) {
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

// RemoveBySeat removes a participant, like Remove, for an operator. It can also remove a
// host or a hidden participant. It reports whether the participant was connected. Errors:
// NotFound, Conflict (over).
func (s *Bookings) RemoveBySeat(ctx context.Context, roomID, seatID string) (connected bool, err error) {
	return s.remove(ctx, roomID, seatID, func(ctx context.Context, r *Room) (HostActor, Seat, error) {
		if r.Over() {
			return HostActor{}, Seat{}, errRoomOver(r)
		}
		seat, err := s.store.Seat(ctx, r.ID, seatID)
		if fault.Is(err, fault.NotFound) {
			err = errNoSuchSeat
		}
		return HostActor{Role: Management}, seat, err
	})
}

var errNoSuchSeat = fault.New(fault.NotFound, "seat_not_found", "no participant of this room has this seat_id")

// recordRemoval records the removal of a participant in the audit log, unless the
// participant was removed before. audit.Record does nothing unless an operator is the
// origin of ctx.
func (s *core) recordRemoval(ctx context.Context, r *Room, seat Seat, connected bool, now time.Time) error {
	if !seat.RemovedAt.IsZero() && !connected {
		return nil
	}
	return audit.Record(ctx, s.store, now, audit.Change{
		Action:    audit.ParticipantRemoved,
		Subject:   seat.ID,
		ProjectID: r.ProjectID,
		Before:    audit.Fields{"connected": connected, "removed": !seat.RemovedAt.IsZero()},
		After:     audit.Fields{"connected": false, "removed": true, "room_id": r.ID},
	})
}

// EndByAPI ends a room of the project, like End.
func (s *Bookings) EndByAPI(ctx context.Context, p project.Project, id string) error {
	if _, err := s.GetInProject(ctx, p, id); err != nil {
		return err
	}
	_, err := s.End(ctx, id, EndedAPI)
	return err
}

// EndRunningRooms ends all open and active rooms of a project and returns their
// number. It does not change scheduled rooms. After an error it can be called again
// to end the remaining rooms.
func (s *Bookings) EndRunningRooms(ctx context.Context, projectID string, reason EndReason) (ended int, err error) {
	return s.endRooms(ctx, projectID, reason, Active, Open)
}

// EndAllRooms ends all rooms of a project that are not over, because the project is
// deleted. It cancels scheduled rooms. After an error it can be called again.
func (s *Bookings) EndAllRooms(ctx context.Context, projectID string) error {
	_, err := s.endRooms(ctx, projectID, EndedSuspended, Active, Open, Scheduled)
	return err
}

func (s *Bookings) endRooms(ctx context.Context, projectID string, reason EndReason, states ...State) (
	ended int, err error,
) {
	for _, state := range states {
		for more := true; more; {
			var rooms []Summary
			query := ListQuery{ProjectID: projectID, State: state, Limit: validate.MaxPage}
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
