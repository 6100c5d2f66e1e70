package room

import (
	"context"
	"time"

	"parley/internal/project"
)

// Analytics is who was in a room, and for how long: the same rows that usage
// is summed from. Hidden participants are left out of both.
type Analytics struct {
	Room    *Room
	AsOf    time.Time // until when who is still in is counted
	People  []Attendee
	Records []AttendanceRecord // each connection, in order
	Total   time.Duration
}

// Attendee is one person, over all of their connections.
type Attendee struct {
	Identity    string
	Name        string
	Role        Role
	JoinedAt    time.Time // the first time
	LeftAt      time.Time // the last time; zero while they are in
	Duration    time.Duration
	Connections int
}

// Analytics returns who was in a room of the project, or NotFound.
func (s *Service) Analytics(ctx context.Context, p project.Project, roomID string) (Analytics, error) {
	r, err := s.GetInProject(ctx, p, roomID)
	if err != nil {
		return Analytics{}, err
	}
	stays, err := s.store.AttendanceRecords(ctx, roomID)
	if err != nil {
		return Analytics{}, err
	}
	return analyze(r, stays, s.now()), nil
}

func analyze(r *Room, stays []AttendanceRecord, asOf time.Time) Analytics {
	out := Analytics{Room: r, AsOf: asOf, Records: stays}
	at := map[string]int{}
	for _, stay := range stays {
		i, known := at[stay.PublicID()]
		if !known {
			i = len(out.People)
			at[stay.PublicID()] = i
			out.People = append(out.People, Attendee{Identity: stay.PublicID(), Name: stay.Name, Role: stay.Role, JoinedAt: stay.JoinedAt, LeftAt: stay.LeftAt})
		}
		person, lasted := &out.People[i], stay.Duration(asOf)
		person.Duration += lasted
		person.Connections++
		out.Total += lasted
		if stay.LeftAt.IsZero() || !person.LeftAt.IsZero() && stay.LeftAt.After(person.LeftAt) {
			person.LeftAt = stay.LeftAt
		}
	}
	return out
}

// Duration is how long a connection has gone on by then.
func (s AttendanceRecord) Duration(asOf time.Time) time.Duration {
	end := s.LeftAt
	if end.IsZero() {
		end = asOf.Truncate(time.Millisecond) // as moments are kept
	}
	return max(0, end.Sub(s.JoinedAt))
}
