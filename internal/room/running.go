package room

import (
	"cmp"
	"context"

	"parley/internal/project"
)

// AttendanceRecord is one connection of somebody, and who that is.
type AttendanceRecord struct {
	Attendance
	Name     string
	UserID   string
	Role     Role
	Breakout int // where its holder belongs now; 0 for the room itself
}

// PublicID is how clients know who stayed, as Seat has it.
func (s AttendanceRecord) PublicID() string { return cmp.Or(s.UserID, s.SeatID) }

// RunningRoom is a room that is open or active, and who is in it.
type RunningRoom struct {
	Room   *Room
	People []Occupant
}

// Occupant is somebody who is in a room now.
type Occupant struct {
	AttendanceRecord
	Grants Grants // what a room gives to somebody in that role
}

// RunningRoom returns a room of the project that is open or active; NotFound
// when there is none of that id.
func (s *Service) RunningRoom(ctx context.Context, p project.Project, roomID string) (RunningRoom, error) {
	r, err := s.GetInProject(ctx, p, roomID)
	if err != nil {
		return RunningRoom{}, err
	}
	if r.State != Open && r.State != Active {
		return RunningRoom{}, errRoomNotFound
	}
	stays, err := s.store.CurrentAttendanceRecords(ctx, p.ID, roomID)
	return newRunningRoom(r, stays), err
}

// RunningRooms returns every room of the project that is open or active, the
// oldest first.
func (s *Service) RunningRooms(ctx context.Context, p project.Project) ([]RunningRoom, error) {
	rooms, err := s.store.RunningRooms(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	stays, err := s.store.CurrentAttendanceRecords(ctx, p.ID, "")
	if err != nil {
		return nil, err
	}
	of := map[string][]AttendanceRecord{}
	for _, stay := range stays {
		of[stay.RoomID] = append(of[stay.RoomID], stay)
	}
	all := make([]RunningRoom, 0, len(rooms))
	for _, r := range rooms {
		all = append(all, newRunningRoom(r, of[r.ID]))
	}
	return all, nil
}

// newRunningRoom gathers who is in a room: who has just connected again is there
// once, with the latest connection.
func newRunningRoom(r *Room, stays []AttendanceRecord) RunningRoom {
	out := RunningRoom{Room: r}
	at := map[string]int{}
	for _, stay := range stays {
		person := Occupant{AttendanceRecord: stay, Grants: r.grants(stay.Role)}
		if i, known := at[stay.SeatID]; known {
			out.People[i] = person
			continue
		}
		at[stay.SeatID] = len(out.People)
		out.People = append(out.People, person)
	}
	return out
}
