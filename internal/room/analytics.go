package room

import (
	"context"
	"slices"
	"time"

	"parley/internal/project"
)

// Analytics summarizes the attendance of a room, from the same rows as usage. Both
// exclude hidden participants.
type Analytics struct {
	Room    *Room
	AsOf    time.Time // current connections are counted until then
	People  []Attendee
	Records []AttendanceRecord // all connections, in order
	Total   time.Duration      // sum over all connections
	// Reported are the first maxReported people whom join events reported. They are in no
	// other field.
	Reported []ReportedAttendee
}

// maxReported is the maximum number of reported people in Analytics.
const maxReported = 1000

// ReportedAttendee is a person whom a join event reported.
type ReportedAttendee struct {
	Name   string
	At     time.Time // when the event was received
	Source string    // such as event.SourceExternal
}

// Attendee summarizes all connections of one person.
type Attendee struct {
	Identity    string
	Name        string
	Role        Role
	JoinedAt    time.Time // first join
	LeftAt      time.Time // last leave; zero while the person is connected
	Duration    time.Duration
	Connections int
}

// Analytics returns the analytics of a room of the project, or NotFound.
func (s *Bookings) Analytics(ctx context.Context, p project.Project, roomID string) (Analytics, error) {
	r, err := s.GetInProject(ctx, p, roomID)
	if err != nil {
		return Analytics{}, err
	}
	records, err := s.store.AttendanceRecords(ctx, roomID)
	if err != nil {
		return Analytics{}, err
	}
	records = slices.DeleteFunc(records, func(a AttendanceRecord) bool { return a.Hidden })
	out := analyze(r, records, s.now())
	out.Reported, err = s.store.ReportedAttendance(ctx, roomID, maxReported)
	return out, err
}

// Attendance returns all connections that a room ever had, in the order in which they began,
// those of hidden participants included, or NotFound.
func (s *Bookings) Attendance(ctx context.Context, roomID string) ([]AttendanceRecord, error) {
	if _, err := s.GetSummary(ctx, roomID); err != nil {
		return nil, err
	}
	return s.store.AttendanceRecords(ctx, roomID)
}

// AttendanceOfConnections returns the attendance in a room with the given values of Connection, in any order. It
// leaves out connections that the room never had.
func (s *Bookings) AttendanceOfConnections(
	ctx context.Context, roomID string, connections []string,
) ([]Attendance, error) {
	return s.store.AttendanceOfConnections(ctx, roomID, connections)
}

func analyze(r *Room, records []AttendanceRecord, asOf time.Time) Analytics {
	out := Analytics{Room: r, AsOf: asOf, Records: records}
	index := map[string]int{} // by public id
	for _, record := range records {
		i, known := index[record.PublicID()]
		if !known {
			i = len(out.People)
			index[record.PublicID()] = i
			out.People = append(out.People, Attendee{
				Identity: record.PublicID(),
				Name:     record.Name,
				Role:     record.Role,
				JoinedAt: record.JoinedAt,
				LeftAt:   record.LeftAt,
			})
		}
		attendee, duration := &out.People[i], record.Duration(asOf)
		attendee.Duration += duration
		attendee.Connections++
		out.Total += duration
		if record.LeftAt.IsZero() || !attendee.LeftAt.IsZero() && record.LeftAt.After(attendee.LeftAt) {
			attendee.LeftAt = record.LeftAt
		}
	}
	return out
}

// Duration returns how long the connection lasted, or has lasted by asOf if it has
// not ended.
func (a AttendanceRecord) Duration(asOf time.Time) time.Duration {
	end := a.LeftAt
	if end.IsZero() {
		end = asOf.Truncate(time.Millisecond) // like stored times
	}
	return max(0, end.Sub(a.JoinedAt))
}
