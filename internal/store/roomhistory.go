package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"parley/internal/db"
	"parley/internal/room"
	"parley/internal/usage"
)

// attendanceRecordTable lists the columns of room.AttendanceRecord beside those of
// room.Attendance.
var attendanceRecordTable = newTable("seats",
	text("name", func(r *room.AttendanceRecord) *string { return &r.Name }),
	text("user_id", func(r *room.AttendanceRecord) *string { return &r.UserID }),
	text("role", func(r *room.AttendanceRecord) *room.Role { return &r.Role }),
	number("breakout", func(r *room.AttendanceRecord) *int { return &r.Breakout }),
)

var (
	attendanceRecordColumns = attendanceRecordTable.qualified("s.") + ", " + attendanceTable.qualified("a.")
	attendanceRecordOrder   = " ORDER BY a.joined_at, a.id"

	selectAttendanceRecords = "SELECT " + attendanceRecordColumns + ` FROM seats s
		JOIN attendance a ON a.seat_id = s.id
		WHERE s.room_id = $1` + attendanceRecordOrder
	selectAttendanceOfConnections = "SELECT " + attendanceTable.qualified("a.") + ` FROM seats s
		JOIN attendance a ON a.seat_id = s.id
		WHERE s.room_id = $1 AND a.connection IN `
	selectCurrentRecords = "SELECT " + attendanceRecordColumns + ` FROM attendance a
		JOIN seats s ON s.id = a.seat_id JOIN rooms r ON r.id = a.room_id
		WHERE a.left_at IS NULL AND NOT a.hidden AND ` + unindexed("r.project_id") + ` = $1 AND `
	selectCurrentRecordsOfRoom    = selectCurrentRecords + "a.room_id = $2" + attendanceRecordOrder
	selectCurrentRecordsOfProject = selectCurrentRecords +
		"a.room_id IN (SELECT id FROM rooms WHERE due_at IS NOT NULL)" + attendanceRecordOrder
)

// AttendanceRecords starts from the seats of the room, because attendance has no
// index on room_id that covers past connections.
func (s *DB) AttendanceRecords(ctx context.Context, roomID string) ([]room.AttendanceRecord, error) {
	return s.queryAttendanceRecords(ctx, selectAttendanceRecords, roomID)
}

// AttendanceOfConnections starts from the seats of the room, like AttendanceRecords.
func (s *DB) AttendanceOfConnections(
	ctx context.Context, roomID string, connections []string,
) ([]room.Attendance, error) {
	if len(connections) == 0 {
		return nil, nil
	}
	list, args := inList([]any{roomID}, connections)
	return queryAll(ctx, s, attendanceTable, selectAttendanceOfConnections+list, args...)
}

func (s *DB) CurrentAttendanceRecords(
	ctx context.Context, projectID, roomID string,
) ([]room.AttendanceRecord, error) {
	if roomID != "" {
		return s.queryAttendanceRecords(ctx, selectCurrentRecordsOfRoom, projectID, roomID)
	}
	return s.queryAttendanceRecords(ctx, selectCurrentRecordsOfProject, projectID)
}

func (s *DB) queryAttendanceRecords(ctx context.Context, q string, args ...any) ([]room.AttendanceRecord, error) {
	more := func(r *room.AttendanceRecord) []any { return attendanceTable.dests(&r.Attendance) }
	return queryAllMore(ctx, s, attendanceRecordTable, more, q, args...)
}

var selectRunningRooms = "SELECT " + roomTable.selectList + `
	FROM (SELECT id AS due FROM rooms WHERE due_at IS NOT NULL) AS unfinished
	CROSS JOIN rooms WHERE id = due AND project_id = $1 AND (state = 'open' OR state = 'active') ORDER BY id`

// RunningRooms uses the index of due rooms to find the few rooms that are not
// over. CROSS JOIN makes SQLite start there instead of with all rooms of the
// project.
func (s *DB) RunningRooms(ctx context.Context, projectID string) ([]*room.Room, error) {
	var all []*room.Room
	err := s.Query(ctx, selectRunningRooms, []any{projectID}, func(row db.Row) error {
		r := new(room.Room)
		all = append(all, r)
		return row.Scan(roomTable.dests(r)...)
	})
	return all, err
}

var pastRoomTable = newTable("rooms",
	text("id", func(p *room.PastRoom) *string { return &p.ID }),
	number("session", func(p *room.PastRoom) *int { return &p.Session }),
	text("title", func(p *room.PastRoom) *string { return &p.Title }),
	text("webhook_url", func(p *room.PastRoom) *string { return &p.WebhookURL }),
	timestamp("created_at", func(p *room.PastRoom) *time.Time { return &p.CreatedAt }),
	timestamp("ended_at", func(p *room.PastRoom) *time.Time { return &p.EndedAt }),
)

// PastRooms reads the IDs of the page first, and the rooms by their IDs. In one statement, PostgreSQL would compute the
// columns of skipped rows, and would plan all of it again for each call: with a parameter for OFFSET, a plan for all
// values looks expensive to it.
func (s *DB) PastRooms(
	ctx context.Context, projectID string, q room.PastQuery,
) ([]room.PastRoom, int, error) {
	var total int
	var ids []string
	if q.IDs == nil {
		parts, all, err := s.findPastRooms(ctx, projectID, q)
		if err != nil {
			return nil, 0, err
		}
		total = all
		for _, part := range parts {
			reached := "<"
			if part.ascending {
				reached = ">="
			}
			some, err := s.queryStrings(ctx, `SELECT id FROM rooms WHERE project_id = $1 AND ended_at IS NOT NULL
				AND ended_at `+reached+` $2`+orderByEnd("", part.ascending)+` LIMIT $3 OFFSET $4`,
				projectID, part.edge.UnixMilli(), part.limit, part.skip)
			if err != nil {
				return nil, 0, err
			}
			ids = append(ids, some...)
		}
	} else if len(q.IDs) > 0 {
		list, args := inList([]any{projectID}, q.IDs)
		where := ` FROM rooms WHERE ` + unindexed("project_id") + ` = $1 AND ended_at IS NOT NULL AND id IN ` + list
		err := s.QueryRow(ctx, nil, `SELECT count(*)`+where, args, &total)
		if err != nil {
			return nil, 0, err
		}
		n := len(args)
		ids, err = s.queryStrings(ctx, `SELECT id`+where+orderByEnd("", q.Ascending)+
			fmt.Sprintf(` LIMIT $%d OFFSET $%d`, n+1, n+2), append(args, q.Limit, q.Offset)...)
		if err != nil {
			return nil, 0, err
		}
	}
	if len(ids) == 0 {
		return nil, total, nil
	}
	list, args := inList(nil, ids)
	more := func(p *room.PastRoom) []any { return []any{&p.ParticipantCount} }
	all, err := queryAllMore(ctx, s, pastRoomTable, more, `SELECT `+pastRoomTable.qualified("r.")+`,
			(SELECT count(*) FROM seats s WHERE s.room_id = r.id
				AND EXISTS (SELECT 1 FROM attendance a WHERE a.seat_id = s.id AND NOT a.hidden))
		FROM rooms r WHERE r.id IN `+list+orderByEnd("r.", q.Ascending), args...)
	return all, total, err
}

// orderByEnd sorts rooms by their end. The prefix is that of their columns.
func orderByEnd(prefix string, ascending bool) string {
	direction := " DESC"
	if ascending {
		direction = " ASC"
	}
	return " ORDER BY " + prefix + "ended_at" + direction + ", " + prefix + "id" + direction
}

// pastPart is a part of a page of the past rooms of a project, and the way to it from the edge of a day.
type pastPart struct {
	edge      time.Time // start of a day to read forwards in time, end of a day to read backwards
	ascending bool      // forwards in time
	skip      int       // rooms between edge and the part
	limit     int       // rooms of the part
}

// selectPastRoomCounts reads the merged counts of project $1, and of all projects the few that are not merged yet.
// Each part has an index of its own: in the primary key of PostgreSQL, the pages of a day hardly shrink when its rows
// are merged.
var selectPastRoomCounts = `SELECT day, rooms FROM past_room_counts WHERE project_id = $1 AND id = ''
	UNION ALL SELECT day, rooms FROM past_room_counts WHERE ` + unindexed("project_id") + ` = $1 AND id <> ''`

// findPastRooms adds up the rooms of each day, and returns the parts of a page and the number of all rooms. Its cost
// depends on the days with past rooms. The way to a page begins at the nearer edge of its day, so it skips at most half
// of the rooms of that day. A page with rooms of several days has two parts, on either side of the far edge of its
// first day, which skip none.
func (s *DB) findPastRooms(
	ctx context.Context, projectID string, q room.PastQuery,
) (parts []pastPart, total int, err error) {
	rooms := map[int64]int{} // by day
	err = s.Query(ctx, selectPastRoomCounts, []any{projectID}, func(row db.Row) error {
		var day int64
		var n int
		err := row.Scan(&day, &n)
		rooms[day] += n
		total += n
		return err
	})
	first, end := q.Offset, min(q.Offset+q.Limit, total)
	if err != nil || first >= end {
		return nil, total, err
	}
	days := slices.Sorted(maps.Keys(rooms))
	if !q.Ascending {
		slices.Reverse(days)
	}
	before := 0 // rooms of the days that come before in the list
	for _, day := range days {
		after := before + rooms[day]
		if first >= after {
			before = after
			continue
		}
		near, far := edgeOfDay(day, q.Ascending), edgeOfDay(day, !q.Ascending)
		switch {
		case end > after:
			return []pastPart{{far, !q.Ascending, 0, after - first}, {far, q.Ascending, 0, end - after}}, total, nil
		case after-end < first-before:
			return []pastPart{{far, !q.Ascending, after - end, end - first}}, total, nil
		default:
			return []pastPart{{near, q.Ascending, first - before, end - first}}, total, nil
		}
	}
	return nil, total, nil
}

// edgeOfDay returns the start of a day to read forwards in time, and its end to read backwards.
func edgeOfDay(day int64, ascending bool) time.Time {
	if ascending {
		return time.UnixMilli(day)
	}
	return time.UnixMilli(day).Add(usage.DayLength)
}

// MergePastRoomCounts waits for another node that is merging the same rows. A trigger of the table rooms inserts the
// rows. Their range is read first: a DELETE that selects them would read them again for each row of the table if
// PostgreSQL thinks that the table is small.
func (s *DB) MergePastRoomCounts(ctx context.Context, limit int) (merged int, err error) {
	var last *string
	err = s.QueryRow(ctx, nil, `SELECT max(id) FROM (SELECT id FROM past_room_counts WHERE id <> '' ORDER BY id LIMIT $1)
		AS oldest`, []any{limit}, &last)
	if err != nil || last == nil {
		return 0, err
	}
	type ofDay struct {
		projectID string
		day       int64
	}
	sums := map[ofDay]int{}
	err = s.ExecReturning(ctx, `DELETE FROM past_room_counts WHERE id <> '' AND id <= $1
		RETURNING project_id, day, rooms`, []any{*last}, func(row db.Row) error {
		var of ofDay
		var rooms int
		err := row.Scan(&of.projectID, &of.day, &rooms)
		sums[of] += rooms
		merged++
		return err
	})
	if err != nil {
		return 0, err
	}
	// The same order on all nodes, because they would deadlock in different ones.
	days := slices.SortedFunc(maps.Keys(sums), func(a, b ofDay) int {
		return cmp.Or(cmp.Compare(a.projectID, b.projectID), cmp.Compare(a.day, b.day))
	})
	for _, of := range days {
		err := s.Exec(ctx, `INSERT INTO past_room_counts (project_id, day, id, rooms) VALUES ($1, $2, '', $3)
			ON CONFLICT (project_id, day, id) DO UPDATE SET rooms = past_room_counts.rooms + excluded.rooms`,
			of.projectID, of.day, sums[of])
		if err != nil {
			return 0, err
		}
	}
	return merged, nil
}

// Live finds the project by an expression, because the index of the project has all sessions
// and connections of the past.
func (s *DB) Live(ctx context.Context, projectID string) (room.Live, error) {
	live := room.Live{People: map[room.ConnectionType]int{}}
	ofProject, args := "", []any(nil)
	if projectID != "" {
		ofProject, args = " AND project_id || '' = $1", []any{projectID}
	}
	err := s.QueryRow(ctx, nil, `SELECT count(*) FROM sessions
		WHERE state <> 'closed' AND state = 'live' AND breakout = 0`+ofProject, args, &live.Rooms)
	if err != nil {
		return room.Live{}, err
	}
	err = s.Query(ctx, `SELECT connection_type, count(*) FROM attendance WHERE left_at IS NULL AND NOT hidden`+ofProject+`
		GROUP BY connection_type`, args, func(row db.Row) error {
		var t room.ConnectionType
		var n int
		err := row.Scan(&t, &n)
		live.People[t] = n
		return err
	})
	return live, err
}
