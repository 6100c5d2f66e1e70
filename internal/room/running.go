package room

import (
	"cmp"
	"context"

	"parley/internal/fault"
	"parley/internal/project"
)

// AttendanceRecord is one connection with the data of its participant.
type AttendanceRecord struct {
	Attendance
	Name     string
	UserID   string
	Role     Role
	Breakout int // breakout room that the participant is assigned to now; 0 for the room itself
}

// PublicID returns the participant's id in the API, like Seat.PublicID.
func (a AttendanceRecord) PublicID() string { return cmp.Or(a.UserID, a.SeatID) }

// RunningRoom is an open or active room with its connected participants.
type RunningRoom struct {
	Room   *Room
	People []Occupant
}

// Occupant is a participant who is connected to a room.
type Occupant struct {
	AttendanceRecord
	Grants Grants
}

// RunningRoom returns an open or active room of the project, or NotFound, with the state of a room that is neither.
func (s *Bookings) RunningRoom(ctx context.Context, p project.Project, roomID string) (RunningRoom, error) {
	r, err := s.GetInProject(ctx, p, roomID)
	if err != nil {
		return RunningRoom{}, err
	}
	if r.State != Open && r.State != Active {
		return RunningRoom{}, fault.New(fault.NotFound, "room_not_open", "the room is %s, so nobody is in it", r.State)
	}
	records, err := s.store.CurrentAttendanceRecords(ctx, p.ID, roomID)
	return newRunningRoom(r, records), err
}

// RunningRooms returns all open and active rooms of the project, oldest first.
func (s *Bookings) RunningRooms(ctx context.Context, p project.Project) ([]RunningRoom, error) {
	rooms, err := s.store.RunningRooms(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	records, err := s.store.CurrentAttendanceRecords(ctx, p.ID, "")
	if err != nil {
		return nil, err
	}
	byRoom := map[string][]AttendanceRecord{}
	for _, record := range records {
		byRoom[record.RoomID] = append(byRoom[record.RoomID], record)
	}
	all := make([]RunningRoom, 0, len(rooms))
	for _, r := range rooms {
		all = append(all, newRunningRoom(r, byRoom[r.ID]))
	}
	return all, nil
}

// newRunningRoom returns a room with its participants. A participant with several
// connections is listed once, with the latest one.
func newRunningRoom(r *Room, records []AttendanceRecord) RunningRoom {
	out := RunningRoom{Room: r}
	index := map[string]int{} // by seat
	for _, record := range records {
		occupant := Occupant{AttendanceRecord: record, Grants: r.grants(record.Role)}
		if i, known := index[record.SeatID]; known {
			out.People[i] = occupant
			continue
		}
		index[record.SeatID] = len(out.People)
		out.People = append(out.People, occupant)
	}
	return out
}
