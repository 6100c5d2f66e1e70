package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/internal/audit"
	"parley/internal/db"
	"parley/internal/project"
	"parley/internal/retention"
)

// OldestData compares each project as a range, like DeleteDeliveries.
func (s *DB) OldestData(ctx context.Context, projectIDs []string) (map[string]retention.Oldest, error) {
	all := map[string]retention.Oldest{}
	if len(projectIDs) == 0 {
		return all, nil
	}
	list, args := inList(nil, projectIDs)
	err := s.Query(ctx, `SELECT id,
			(SELECT created_at FROM webhook_deliveries WHERE project_id >= p.id AND project_id <= p.id
				ORDER BY project_id, id LIMIT 1),
			(SELECT n / 1000000 FROM request_log WHERE project_id >= p.id AND project_id <= p.id
				ORDER BY project_id, n LIMIT 1),
			(SELECT min(at) FROM recent_key_callers WHERE project_id = p.id),
			(SELECT min(at) FROM key_callers WHERE project_id = p.id),
			(SELECT ended_at FROM rooms WHERE project_id = p.id AND ended_at IS NOT NULL AND people_erased_at IS NULL
				ORDER BY ended_at LIMIT 1),
			(SELECT ended_at FROM rooms WHERE project_id = p.id AND ended_at IS NOT NULL ORDER BY ended_at LIMIT 1),
			(SELECT min(last_at) FROM counts WHERE subject = p.id AND period LIKE '`+erasedPrefix+`%'),
			EXISTS (SELECT 1 FROM counts WHERE subject = p.id AND period IN `+sweptPeriods+`)
		FROM projects AS p WHERE id IN `+list, args, func(row db.Row) error {
		var id string
		var o retention.Oldest
		var caller, earlierCaller time.Time
		err := row.Scan(&id, db.ScanTime(&o.Delivery), db.ScanTime(&o.Call), db.ScanTime(&caller),
			db.ScanTime(&earlierCaller), db.ScanTime(&o.People), db.ScanTime(&o.Room), db.ScanTime(&o.Erasure),
			&o.Unrecorded)
		for _, at := range []time.Time{caller, earlierCaller} {
			if o.Call.IsZero() || !at.IsZero() && at.Before(o.Call) {
				o.Call = at
			}
		}
		all[id] = o
		return err
	})
	return all, err
}

func (s *DB) RoomsToDelete(ctx context.Context, projectID string, before time.Time, limit int) ([]string, error) {
	return s.lockRooms(ctx, `SELECT id FROM rooms
		WHERE project_id = $1 AND ended_at < $2 ORDER BY ended_at, id LIMIT $3`, projectID, before.UnixMilli(), limit)
}

func (s *DB) RoomsWithPeople(
	ctx context.Context, projectID string, before time.Time, except []string, limit int,
) ([]string, error) {
	args := []any{projectID, before.UnixMilli(), limit}
	and := ""
	if len(except) > 0 {
		and, args = inList(args, except)
		and = " AND id NOT IN " + and
	}
	return s.lockRooms(ctx, `SELECT id FROM rooms
		WHERE project_id = $1 AND ended_at < $2 AND people_erased_at IS NULL`+and+` ORDER BY ended_at, id LIMIT $3`, args...)
}

func (s *DB) lockRooms(ctx context.Context, q string, args ...any) ([]string, error) {
	forUpdate, err := s.ForUpdateSkipLocked(ctx)
	if err != nil {
		return nil, err
	}
	return s.queryStrings(ctx, q+forUpdate, args...)
}

// backgroundWriteTimeout is the write timeout of WriteInBackground.
const backgroundWriteTimeout = 5 * time.Second

func (s *DB) WriteInBackground(ctx context.Context, work func(ctx context.Context) error) error {
	return s.Write(db.WithWriteTimeout(ctx, backgroundWriteTimeout), work)
}

// DeleteRoom deletes the rows that reference others first, and the events, from the first
// one on, before everything else, so that a reader of the events learns that they are not
// kept any more. The sessions go before the attendance: if sessions are missing, a rebuild of the
// usage knows that the attendance may be missing, too, and does not correct these hours. The
// attendance of the first seats goes before these seats, so that no batch reads the rows of
// another one.
func (s *DB) DeleteRoom(ctx context.Context, id string, limit int) (deleted retention.Deleted, rows int, err error) {
	packs, packed, err := s.deletePacked(ctx, id, limit)
	if err != nil || packs == limit {
		return retention.Deleted{Events: packed}, packs, err
	}
	var actions, sessions, knocks, breakouts, streams int
	rows, err = s.deleteUpTo(ctx, id, limit-packs, []limitedDelete{
		{&deleted.Events, `DELETE FROM events WHERE room_id = $1 AND sequence IN (SELECT sequence FROM events
			WHERE room_id = $1 ORDER BY sequence LIMIT $2) RETURNING sequence`},
		{&actions, `DELETE FROM host_actions WHERE room_id = $1 AND n IN (SELECT n FROM host_actions
			WHERE room_id = $1 ORDER BY n LIMIT $2) RETURNING n`},
		{&sessions, `DELETE FROM sessions WHERE room_id = $1 AND n IN (SELECT n FROM sessions
			WHERE room_id = $1 ORDER BY n LIMIT $2) RETURNING n`},
		{&deleted.Connections, `DELETE FROM attendance WHERE id IN (SELECT id FROM attendance WHERE seat_id IN (
			SELECT id FROM seats WHERE room_id = $1 ORDER BY key_hash LIMIT $2) LIMIT $2) RETURNING id`},
		{&deleted.Seats, `DELETE FROM seats WHERE id IN (SELECT id FROM seats
			WHERE room_id = $1 ORDER BY key_hash LIMIT $2) RETURNING id`},
		{&deleted.Links, `DELETE FROM links WHERE id IN (SELECT id FROM links WHERE room_id = $1 LIMIT $2) RETURNING id`},
		{&knocks, deleteKnocks},
		{&breakouts, `DELETE FROM breakouts WHERE room_id = $1 AND n IN (SELECT n FROM breakouts
			WHERE room_id = $1 ORDER BY n LIMIT $2) RETURNING n`},
		{&streams, `DELETE FROM webhook_streams WHERE id IN (SELECT id FROM webhook_streams
			WHERE project_id = (SELECT project_id FROM rooms WHERE id = $1) AND room_id = $1 LIMIT $2) RETURNING id`},
		{&deleted.Rooms, `DELETE FROM rooms WHERE id IN (SELECT id FROM rooms WHERE id = $1 LIMIT $2) RETURNING id`},
	})
	deleted.Events += packed
	return deleted, packs + rows, err
}

// limitedDelete is a statement that deletes rows of the object $1, at most $2, and returns
// each.
type limitedDelete struct {
	deleted *int // is set to the number of deleted rows
	query   string
}

// deleteUpTo runs statements until they have deleted limit rows together, and returns how
// many they have deleted.
func (s *DB) deleteUpTo(ctx context.Context, id string, limit int, statements []limitedDelete) (rows int, err error) {
	for _, d := range statements {
		if *d.deleted, err = s.execCounting(ctx, d.query, id, limit-rows); err != nil {
			return 0, err
		}
		if rows += *d.deleted; rows == limit {
			break
		}
	}
	return rows, nil
}

// DeleteDeliveries finds the oldest deliveries by their ids, which are in time order, so
// that it needs no index on created_at. It compares the project as a range, because PostgreSQL
// otherwise reads the deliveries of all projects in the order of their ids if one project has nearly
// all of them. The attempts are deleted by ON DELETE CASCADE.
func (s *DB) DeleteDeliveries(ctx context.Context, projectID string, before time.Time, limit int) (int, error) {
	return s.execCounting(ctx, `DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
		WHERE project_id >= $1 AND project_id <= $1 ORDER BY project_id, id LIMIT $2) AND created_at < $3 RETURNING id`,
		projectID, limit, before.UnixMilli())
}

// keyCallerTables are the tables of callers with credentials. Only earlier releases write to the second one.
var keyCallerTables = []string{"recent_key_callers", "key_callers"}

// DeleteCalls also deletes the callers with credentials, whose addresses are part of these records.
func (s *DB) DeleteCalls(ctx context.Context, projectID string, before time.Time, limit int) (
	calls, blocks int, err error,
) {
	for _, table := range keyCallerTables {
		err := s.Exec(ctx, `DELETE FROM `+table+` WHERE project_id = $1 AND at < $2`, projectID, before.UnixMilli())
		if err != nil {
			return 0, 0, err
		}
	}
	err = s.ExecReturning(ctx, `DELETE FROM request_log WHERE project_id = $1 AND n IN (SELECT n FROM request_log
		WHERE project_id = $1 AND n < $2 ORDER BY n LIMIT $3) RETURNING size`,
		[]any{projectID, before.UnixNano(), limit}, func(row db.Row) error {
			var size int
			err := row.Scan(&size)
			calls, blocks = calls+size, blocks+1
			return err
		})
	return calls, blocks, err
}

// execCounting runs a statement with RETURNING and returns the number of its rows.
func (s *DB) execCounting(ctx context.Context, q string, args ...any) (n int, err error) {
	err = s.ExecReturning(ctx, q, args, func(db.Row) error { n++; return nil })
	return n, err
}

func (s *DB) MarkProjectDeleted(ctx context.Context, id string, at time.Time) error {
	return s.ExecOne(ctx, project.ErrNotFound, `UPDATE projects SET deleted_at = $2 WHERE id = $1`, id, at.UnixMilli())
}

func (s *DB) HasRooms(ctx context.Context, projectID string) (has bool, err error) {
	err = s.QueryRow(ctx, nil, `SELECT EXISTS (SELECT 1 FROM rooms WHERE project_id = $1)`, []any{projectID}, &has)
	return has, err
}

// DeleteProjectRows deletes the call counts of the first keys before these keys, so that no
// batch reads the rows of another one.
func (s *DB) DeleteProjectRows(ctx context.Context, id string, limit int) (rows int, err error) {
	var statements []limitedDelete
	for _, q := range []string{
		`DELETE FROM client_room_ids WHERE project_id = $1 AND client_room_id IN (SELECT client_room_id
			FROM client_room_ids WHERE project_id = $1 ORDER BY client_room_id LIMIT $2) RETURNING project_id`,
		`DELETE FROM project_events WHERE project_id = $1 AND sequence IN (SELECT sequence
			FROM project_events WHERE project_id = $1 ORDER BY sequence LIMIT $2) RETURNING id`,
		`DELETE FROM webhook_streams WHERE id IN (SELECT id
			FROM webhook_streams WHERE project_id = $1 ORDER BY room_id LIMIT $2) RETURNING id`,
		`DELETE FROM webhook_targets WHERE project_id = $1 AND url IN (SELECT url
			FROM webhook_targets WHERE project_id = $1 ORDER BY url LIMIT $2) RETURNING url`,
		`DELETE FROM past_room_counts WHERE project_id = $1 AND (day, id) IN (SELECT day, id
			FROM past_room_counts WHERE project_id = $1 ORDER BY day, id LIMIT $2) RETURNING id`,
		`DELETE FROM counts WHERE (subject, period) IN (SELECT subject, period FROM counts WHERE subject IN (
			SELECT id FROM api_keys WHERE project_id = $1 ORDER BY id LIMIT $2) LIMIT $2) RETURNING subject`,
		`DELETE FROM api_keys WHERE id IN (SELECT id
			FROM api_keys WHERE project_id = $1 ORDER BY id LIMIT $2) RETURNING id`,
		`DELETE FROM daily_quotas WHERE project_id = $1 AND subject IN (SELECT subject
			FROM daily_quotas WHERE project_id = $1 ORDER BY subject LIMIT $2) RETURNING subject`,
		`DELETE FROM project_secrets WHERE id IN (SELECT id
			FROM project_secrets WHERE project_id = $1 LIMIT $2) RETURNING id`,
	} {
		statements = append(statements, limitedDelete{new(int), q})
	}
	return s.deleteUpTo(ctx, id, limit, statements)
}

// deletedCounts are the counts of a deletion. They are in the table counts, next to the
// counts of calls, because transactions of several nodes add to them.
var deletedCounts = []struct {
	period string
	of     func(d *retention.Deleted) *int
}{
	{"deleted connections", func(d *retention.Deleted) *int { return &d.Connections }},
	{"deleted deliveries", func(d *retention.Deleted) *int { return &d.Deliveries }},
	{"deleted events", func(d *retention.Deleted) *int { return &d.Events }},
	{"deleted links", func(d *retention.Deleted) *int { return &d.Links }},
	{"deleted rooms", func(d *retention.Deleted) *int { return &d.Rooms }},
	{"deleted seats", func(d *retention.Deleted) *int { return &d.Seats }},
}

func (s *DB) AddDeleted(ctx context.Context, projectID string, d retention.Deleted, at time.Time) error {
	for _, count := range deletedCounts {
		if err := s.addCount(ctx, projectID, count.period, *count.of(&d), at); err != nil {
			return err
		}
	}
	return nil
}

// addCount adds to a count of a project.
func (s *DB) addCount(ctx context.Context, projectID, period string, n int, at time.Time) error {
	if n == 0 {
		return nil
	}
	return s.Exec(ctx, `INSERT INTO counts (subject, period, n, last_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (subject, period) DO UPDATE SET n = counts.n + excluded.n, last_at = excluded.last_at`,
		projectID, period, n, at.UnixMilli())
}

// erasedCounts are the counts of the erasure of a person, in the table counts.
var erasedCounts = []struct {
	name string
	of   func(e *retention.Erased) *int
}{
	{"deliveries", func(e *retention.Erased) *int { return &e.Deliveries }},
	{"events", func(e *retention.Erased) *int { return &e.Events }},
	{"host actions", func(e *retention.Erased) *int { return &e.HostActions }},
	{"knocks", func(e *retention.Erased) *int { return &e.Knocks }},
	{"links", func(e *retention.Erased) *int { return &e.Links }},
	{"rooms", func(e *retention.Erased) *int { return &e.Rooms }},
	{"seats", func(e *retention.Erased) *int { return &e.Seats }},
}

// erasedPrefix, the key of a person, a state and the name of a count are its period.
const erasedPrefix = "erased "

func erasedPeriod(person string, recorded bool, name string) string {
	state := "unrecorded"
	if recorded {
		state = "recorded"
	}
	return erasedPrefix + person + " " + state + " " + name
}

func (s *DB) AddErased(ctx context.Context, e retention.Erasure) error {
	for _, count := range erasedCounts {
		err := s.addCount(ctx, e.ProjectID, erasedPeriod(e.Person, e.Recorded, count.name), *count.of(&e.Erased), e.At)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *DB) TakeErased(ctx context.Context, projectID, person string) (recorded, rest retention.Erased, err error) {
	counts := map[string]*int{} // by period
	for _, count := range erasedCounts {
		counts[erasedPeriod(person, true, count.name)] = count.of(&recorded)
		counts[erasedPeriod(person, false, count.name)] = count.of(&rest)
	}
	periods, args := inList([]any{projectID}, slices.Sorted(maps.Keys(counts)))
	err = s.ExecReturning(ctx, `DELETE FROM counts WHERE subject = $1 AND period IN `+periods+` RETURNING period, n`, args,
		func(row db.Row) error {
			var period string
			var n int
			err := row.Scan(&period, &n)
			if count := counts[period]; count != nil {
				*count = n
			}
			return err
		})
	return recorded, rest, err
}

func (s *DB) UnfinishedErasures(ctx context.Context, projectID string, before time.Time) (persons []string, err error) {
	last := map[string]time.Time{} // by person
	err = s.Query(ctx, `SELECT period, last_at FROM counts WHERE subject = $1 AND period LIKE '`+erasedPrefix+`%'`,
		[]any{projectID}, func(row db.Row) error {
			var period string
			var at time.Time
			err := row.Scan(&period, db.ScanTime(&at))
			person, _, _ := strings.Cut(strings.TrimPrefix(period, erasedPrefix), " ")
			if at.After(last[person]) {
				last[person] = at
			}
			return err
		})
	for _, person := range slices.Sorted(maps.Keys(last)) {
		if last[person].Before(before) {
			persons = append(persons, person)
		}
	}
	return persons, err
}

// sweptPrefix and an action are the period of a sum of AddSwept in the table counts. The column
// last_at has the latest Swept.Before.
const sweptPrefix = "swept "

// sweptPeriods lists the periods of all sums of AddSwept, for a condition.
const sweptPeriods = "('" + sweptPrefix + string(audit.PeopleErased) + "', '" +
	sweptPrefix + string(audit.RoomsDeleted) + "', '" + sweptPrefix + string(audit.DeliveriesDeleted) + "', '" +
	sweptPrefix + string(audit.CallsDeleted) + "')"

func (s *DB) AddSwept(ctx context.Context, projectID string, done retention.Swept) error {
	return s.Exec(ctx, `INSERT INTO counts (subject, period, n, last_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (subject, period) DO UPDATE SET n = counts.n + excluded.n,
			last_at = CASE WHEN counts.last_at > excluded.last_at THEN counts.last_at ELSE excluded.last_at END`,
		projectID, sweptPrefix+string(done.Action), done.N, done.Before.UnixMilli())
}

func (s *DB) UnrecordedSweeps(ctx context.Context, projectID string) (all []retention.Swept, err error) {
	err = s.Query(ctx, `SELECT period, n, last_at FROM counts WHERE subject = $1 AND period IN `+sweptPeriods+`
		ORDER BY period`, []any{projectID}, appendSwept(&all))
	return all, err
}

func (s *DB) TakeUnrecordedSweeps(ctx context.Context, projectID string) (all []retention.Swept, err error) {
	err = s.ExecReturning(ctx, `DELETE FROM counts WHERE subject = $1 AND period IN `+sweptPeriods+`
		RETURNING period, n, last_at`, []any{projectID}, appendSwept(&all))
	slices.SortFunc(all, func(a, b retention.Swept) int { return cmp.Compare(a.Action, b.Action) })
	return all, err
}

// appendSwept returns a function that appends the sums of rows.
func appendSwept(all *[]retention.Swept) func(db.Row) error {
	return func(row db.Row) error {
		var period string
		var done retention.Swept
		err := row.Scan(&period, &done.N, db.ScanTime(&done.Before))
		done.Action = audit.Action(strings.TrimPrefix(period, sweptPrefix))
		*all = append(*all, done)
		return err
	}
}

func (s *DB) Deleted(ctx context.Context, projectID string) (d retention.Deleted, err error) {
	err = s.Query(ctx, `SELECT period, n FROM counts WHERE subject = $1`, []any{projectID}, func(row db.Row) error {
		var period string
		var n int
		err := row.Scan(&period, &n)
		for _, count := range deletedCounts {
			if count.period == period {
				*count.of(&d) = n
			}
		}
		return err
	})
	return d, err
}

// holdProjects returns those of some projects that exist, and keeps others from deleting them until the transaction of
// ctx ends. The empty ID, of what belongs to no project, exists.
func (s *DB) holdProjects(ctx context.Context, ids []string) (exists map[string]bool, err error) {
	exists = map[string]bool{"": true}
	ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id string) bool { return id == "" })
	if len(ids) == 0 {
		return exists, nil
	}
	keyShare, err := s.ForKeyShare(ctx)
	if err != nil {
		return nil, err
	}
	list, args := inList(nil, ids)
	found, err := s.queryStrings(ctx, `SELECT id FROM projects WHERE id IN `+list+` ORDER BY id`+keyShare, args...)
	for _, id := range found {
		exists[id] = true
	}
	return exists, err
}

// DeleteProject keeps the rollups of the project's usage, because the moves of its
// organization are corrected together. The calls and the callers go last, because others may store them
// until the row of the project is deleted; see holdProjects.
func (s *DB) DeleteProject(ctx context.Context, id string) error {
	return s.deleteAll(ctx, id,
		`DELETE FROM counts WHERE subject = $1`,
		`DELETE FROM project_logos WHERE project_id = $1`,
		`DELETE FROM projects WHERE id = $1`,
		`DELETE FROM request_log WHERE project_id = $1`,
		`DELETE FROM recent_key_callers WHERE project_id = $1`,
		`DELETE FROM key_callers WHERE project_id = $1`)
}

func (s *DB) DeleteOrganizationRows(ctx context.Context, id string, limit int) (usageHours, rows int, err error) {
	var counts, reports, days int
	rows, err = s.deleteUpTo(ctx, id, limit, []limitedDelete{
		{&counts, `DELETE FROM counts WHERE subject = $1 AND period IN (SELECT period
			FROM counts WHERE subject = $1 AND period <> '` + deletedHours + `' ORDER BY period LIMIT $2) RETURNING period`},
		{&reports, `DELETE FROM usage_late_reports WHERE id IN (SELECT id
			FROM usage_late_reports WHERE organization_id = $1 ORDER BY hour LIMIT $2) RETURNING id`},
		{&days, `DELETE FROM usage_days WHERE organization_id = $1 AND (project_id, day) IN (SELECT project_id, day
			FROM usage_days WHERE organization_id = $1 ORDER BY project_id, day LIMIT $2) RETURNING day`},
		{&usageHours, `DELETE FROM usage_hours WHERE organization_id = $1 AND (project_id, hour) IN (SELECT project_id, hour
			FROM usage_hours WHERE organization_id = $1 ORDER BY project_id, hour LIMIT $2) RETURNING hour`},
	})
	return usageHours, rows, err
}

// deletedHours is the period of the count of AddDeletedHours in the table counts.
const deletedHours = "deleted usage hours"

func (s *DB) AddDeletedHours(ctx context.Context, id string, hours int, at time.Time) (sum int, err error) {
	if err := s.addCount(ctx, id, deletedHours, hours, at); err != nil {
		return 0, err
	}
	err = s.Query(ctx, `SELECT n FROM counts WHERE subject = $1 AND period = '`+deletedHours+`'`, []any{id},
		func(row db.Row) error { return row.Scan(&sum) })
	return sum, err
}

func (s *DB) DeleteOrganization(ctx context.Context, id string) error {
	return s.deleteAll(ctx, id,
		`DELETE FROM counts WHERE subject = $1`,
		`DELETE FROM usage_progress WHERE organization_id = $1`,
		`DELETE FROM organizations WHERE id = $1`)
}

// deleteAll runs statements with the parameter id.
func (s *DB) deleteAll(ctx context.Context, id string, statements ...string) error {
	for _, q := range statements {
		if err := s.Exec(ctx, q, id); err != nil {
			return err
		}
	}
	return nil
}
