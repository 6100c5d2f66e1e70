package room

import (
	"cmp"
	"context"

	"parley/internal/project"
)

// Stay is one connection of somebody, and who that is.
type Stay struct {
	Attendance
	Name     string
	UserID   string
	Role     Role
	Breakout int // where its holder belongs now; 0 for the room itself
}

// PublicID is how clients know who stayed, as Seat has it.
func (s Stay) PublicID() string { return cmp.Or(s.UserID, s.SeatID) }

// Running is a room that is open or active, and who is in it.
type Running struct {
	Room   *Room
	People []Occupant
}

// Occupant is somebody who is in a room now.
type Occupant struct {
	Stay
	Grants Grants // what a room gives to somebody in that role
}

// RunningOne returns a room of the project that is open or active; NotFound
// when there is none of that id.
func (s *Service) RunningOne(ctx context.Context, p project.Project, roomID string) (Running, error) {
	r, err := s.Of(ctx, p, roomID)
	if err != nil {
		return Running{}, err
	}
	if r.State != Open && r.State != Active {
		return Running{}, errNoRoom
	}
	stays, err := s.store.StaysNow(ctx, p.ID, roomID)
	return running(r, stays), err
}

// RunningAll returns every room of the project that is open or active, the
// oldest first.
func (s *Service) RunningAll(ctx context.Context, p project.Project) ([]Running, error) {
	rooms, err := s.store.RunningRooms(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	stays, err := s.store.StaysNow(ctx, p.ID, "")
	if err != nil {
		return nil, err
	}
	of := map[string][]Stay{}
	for _, stay := range stays {
		of[stay.RoomID] = append(of[stay.RoomID], stay)
	}
	all := make([]Running, 0, len(rooms))
	for _, r := range rooms {
		all = append(all, running(r, of[r.ID]))
	}
	return all, nil
}

// running gathers who is in a room: who has just connected again is there
// once, with the latest connection.
func running(r *Room, stays []Stay) Running {
	out := Running{Room: r}
	at := map[string]int{}
	for _, stay := range stays {
		person := Occupant{Stay: stay, Grants: r.grants(stay.Role)}
		if i, known := at[stay.SeatID]; known {
			out.People[i] = person
			continue
		}
		at[stay.SeatID] = len(out.People)
		out.People = append(out.People, person)
	}
	return out
}
