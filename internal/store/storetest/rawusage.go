package storetest

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/internal/room"
	"parley/internal/usage"
)

// RawUsage contains the rows that all figures of usage are computed from.
type RawUsage struct {
	rooms    []*room.Room
	sessions []session
	attended []attended
}

// session is where and when a session of a room began.
type session struct {
	projectID string
	startedAt time.Time
}

type attended struct {
	room.Attendance
	projectID string
	kind      room.Type
}

// Add adds the attendance of a room.
func (u *RawUsage) Add(a room.Attendance, r *room.Room) {
	u.attended = append(u.attended, attended{a, r.ProjectID, r.Type})
}

// AddRoom adds a room and the times at which its sessions began.
func (u *RawUsage) AddRoom(r *room.Room, sessions []time.Time) {
	u.rooms = append(u.rooms, r)
	for _, at := range sessions {
		u.sessions = append(u.sessions, session{r.ProjectID, at})
	}
}

// ReadRawUsage returns the rows of all rooms of a database.
func (d Database) ReadRawUsage(t testing.TB) *RawUsage {
	t.Helper()
	u, err := ReadRawUsage(t.Context(), d.Raw(t))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// ReadRawUsage returns the rows of all rooms of a database.
func ReadRawUsage(ctx context.Context, raw *sql.DB) (*RawUsage, error) {
	u := &RawUsage{}
	err := eachRow(ctx, raw, `SELECT project_id, type, created_at FROM rooms`, func(rows *sql.Rows) error {
		r := &room.Room{}
		var created int64
		err := rows.Scan(&r.ProjectID, &r.Type, &created)
		r.CreatedAt = time.UnixMilli(created)
		u.rooms = append(u.rooms, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = eachRow(ctx, raw, `SELECT r.project_id, s.started_at FROM sessions s JOIN rooms r ON r.id = s.room_id
		WHERE breakout = 0`,
		func(rows *sql.Rows) error {
			var s session
			var started int64
			err := rows.Scan(&s.projectID, &started)
			s.startedAt = time.UnixMilli(started)
			u.sessions = append(u.sessions, s)
			return err
		})
	if err != nil {
		return nil, err
	}
	err = eachRow(ctx, raw, `SELECT a.room_id, a.seat_id, a.hidden, a.joined_at, a.left_at, r.project_id, r.type
		FROM attendance a JOIN rooms r ON r.id = a.room_id`, func(rows *sql.Rows) error {
		var a attended
		var joined int64
		var left sql.NullInt64
		err := rows.Scan(&a.RoomID, &a.SeatID, &a.Hidden, &joined, &left, &a.projectID, &a.kind)
		a.JoinedAt = time.UnixMilli(joined)
		if left.Valid {
			a.LeftAt = time.UnixMilli(left.Int64)
		}
		u.attended = append(u.attended, a)
		return err
	})
	return u, err
}

// eachRow calls scan for each row of the result of a query.
func eachRow(ctx context.Context, raw *sql.DB, q string, scan func(*sql.Rows) error) error {
	rows, err := raw.QueryContext(ctx, q)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Compare returns an error if a figure of usage differs from the sum of the rows: the usage of
// an organization and of each of its projects, on each day from one time until another, and in
// the whole period. The service must have until as its present time.
func (u *RawUsage) Compare(
	ctx context.Context, s *usage.Service, organizationID string, projects []string, from, until time.Time,
) error {
	for _, project := range append([]string{""}, projects...) {
		scope := usage.Scope{OrganizationID: organizationID, ProjectID: project}
		got, err := s.Totals(ctx, scope, from, until)
		if err != nil {
			return err
		}
		if want := u.Totals(project, from, until); got != want {
			return fmt.Errorf("usage of %q from %v to %v: got %+v, want %+v", project, from, until, got, want)
		}
		report, err := s.Report(ctx, scope, from, until)
		if err != nil {
			return err
		}
		for _, day := range report.Days {
			end := day.Date.AddDate(0, 0, 1)
			if end.After(until) {
				end = until
			}
			if want := u.Totals(project, day.Date, end); day.Totals != want {
				return fmt.Errorf("usage of %q on %v: got %+v, want %+v", project, day.Date, day.Totals, want)
			}
		}
	}
	return nil
}

// Totals adds up the rows of a project in a period, or with an empty project those of all.
func (u *RawUsage) Totals(project string, start, end time.Time) usage.Totals {
	var sum usage.Totals
	counts := func(projectID string, at time.Time) bool {
		return (project == "" || projectID == project) && !at.Before(start) && at.Before(end)
	}
	for _, r := range u.rooms {
		if counts(r.ProjectID, r.CreatedAt) {
			sum.RoomsCreated++
		}
	}
	for _, s := range u.sessions {
		if counts(s.projectID, s.startedAt) {
			sum.Sessions++
		}
	}
	type step struct {
		at     time.Time
		change int64
	}
	var steps []step
	for _, a := range u.attended {
		from, to := a.JoinedAt, a.LeftAt
		if from.Before(start) {
			from = start
		}
		if to.IsZero() || to.After(end) {
			to = end
		}
		if a.Hidden || project != "" && a.projectID != project || !to.After(from) {
			continue
		}
		if a.kind == room.Audio {
			sum.AudioMillis += to.Sub(from).Milliseconds()
		} else {
			sum.VideoMillis += to.Sub(from).Milliseconds()
		}
		steps = append(steps, step{from, 1}, step{to, -1})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.change, b.change)) })
	var present int64
	for _, s := range steps {
		present += s.change
		sum.Peak = max(sum.Peak, present)
	}
	return sum
}
