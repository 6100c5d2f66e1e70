package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parley/internal/audit"
	"parley/internal/db"
	"parley/internal/room"
	"parley/internal/usage"
)

var usageHourTable = newTable("usage_hours", slices.Concat(usageColumns("hour"), []column[usage.Interval]{
	number("audio_base", func(i *usage.Interval) *int64 { return &i.Base.Audio }),
	number("video_base", func(i *usage.Interval) *int64 { return &i.Base.Video }),
})...)

var usageDayTable = newTable("usage_days", usageColumns("day")...)

// usageColumns returns the columns that hours and days have. start is the name of the column
// with the start of the interval.
func usageColumns(start string) []column[usage.Interval] {
	return []column[usage.Interval]{
		text("project_id", func(i *usage.Interval) *string { return &i.ProjectID }),
		timestamp(start, func(i *usage.Interval) *time.Time { return &i.Start }),
		number("audio_change", func(i *usage.Interval) *int64 { return &i.Change.Audio }),
		number("video_change", func(i *usage.Interval) *int64 { return &i.Change.Video }),
		number("audio_millis", func(i *usage.Interval) *int64 { return &i.Millis.Audio }),
		number("video_millis", func(i *usage.Interval) *int64 { return &i.Millis.Video }),
		number("rise", func(i *usage.Interval) *int64 { return &i.Rise }),
		number("rooms", func(i *usage.Interval) *int64 { return &i.Rooms }),
		number("sessions", func(i *usage.Interval) *int64 { return &i.Sessions }),
	}
}

// updateUsage is the end of the statement that replaces an interval, except the base of an
// hour.
const updateUsage = ` DO UPDATE SET
	audio_change = excluded.audio_change, video_change = excluded.video_change,
	audio_millis = excluded.audio_millis, video_millis = excluded.video_millis,
	rise = excluded.rise, rooms = excluded.rooms, sessions = excluded.sessions`

// ownProjects is the condition that selects the rows of all projects of the organization $1,
// and of the organization as a whole, by an index.
const ownProjects = `organization_id = $1 AND project_id IN
	(SELECT '' UNION ALL SELECT id FROM projects WHERE organization_id = $1)`

// within is the condition that a column has a value from a parameter on and before another one.
func within(column, from, before string) string {
	return column + " >= " + anyValue(from, "BIGINT") + " AND " + column + " < " + anyValue(before, "BIGINT")
}

var (
	selectUsageHours = usageHourTable.selectFrom +
		"WHERE organization_id = $1 AND project_id = $2 AND " + within("hour", "$3", "$4") + " ORDER BY hour"
	selectUsageDays = usageDayTable.selectFrom +
		"WHERE organization_id = $1 AND project_id = $2 AND " + within("day", "$3", "$4") + " ORDER BY day"
	selectLatestUsageHour = usageHourTable.selectFrom +
		"WHERE organization_id = $1 AND project_id = $2 AND hour < " + anyValue("$3", "BIGINT") +
		" ORDER BY hour DESC LIMIT 1"
	selectUsageOfHour = usageHourTable.selectFrom + "WHERE hour = $2 AND " + ownProjects
	selectUsageOfDay  = usageHourTable.selectFrom + "WHERE hour >= $2 AND hour < $3 AND " + ownProjects + " ORDER BY hour"
	upsertUsageHour   = usageHourTable.insertQuery("organization_id") +
		" ON CONFLICT (organization_id, project_id, hour)" + updateUsage
	upsertUsageDay = usageDayTable.insertQuery("organization_id") +
		" ON CONFLICT (organization_id, project_id, day)" + updateUsage
)

func (s *DB) UsageProgress(ctx context.Context, organizationID string) (usage.Progress, error) {
	var hours []time.Time
	p, err := s.usageProgress(ctx, `SELECT DISTINCT '' AS id, hour FROM usage_late_reports WHERE organization_id = $1`,
		func(late usage.LateReport) { hours = append(hours, late.Hour) }, organizationID)
	p.Late = hours
	return p, err
}

func (s *DB) UsageToRollUp(ctx context.Context, organizationID string, limit int) (
	p usage.Progress, late []usage.LateReport, err error,
) {
	p, err = s.usageProgress(ctx, `SELECT id, hour FROM usage_late_reports WHERE organization_id = $1
			ORDER BY hour LIMIT $2`,
		func(l usage.LateReport) { late = append(late, l) }, organizationID, limit)
	return p, late, err
}

// usageProgress returns the progress of the organization that is the first argument, and calls add for each late report
// that a query returns, in order of their hours.
func (s *DB) usageProgress(
	ctx context.Context, lateReports string, add func(usage.LateReport), args ...any,
) (usage.Progress, error) {
	var p usage.Progress
	err := s.Query(ctx, `SELECT p.rolled_up_until, coalesce(p.version, 0),
			CASE WHEN p.days_version = p.version THEN p.days_until END, l.id, l.hour
		FROM organizations o LEFT JOIN usage_progress p ON p.organization_id = o.id
			LEFT JOIN (`+lateReports+`) AS l ON TRUE
		WHERE o.id = $1 ORDER BY l.hour`, args, func(row db.Row) error {
		var late usage.LateReport
		err := row.Scan(db.ScanTime(&p.Until), &p.Version, db.ScanTime(&p.DaysUntil),
			db.ScanString(&late.ID), db.ScanTime(&late.Hour))
		if !late.Hour.IsZero() {
			add(late)
		}
		return err
	})
	raise(&s.rolledUpUntil, p.Until.UnixMilli())
	return p, err
}

// raise makes a number at least as great as another.
func raise(number *atomic.Int64, least int64) {
	for {
		known := number.Load()
		if known >= least || number.CompareAndSwap(known, least) {
			return
		}
	}
}

func (s *DB) RaiseClockAhead(ahead time.Duration) { raise(&s.clockAhead, ahead.Milliseconds()) }

// onLatestClock converts a time of the clock of this node to the clock that is furthest ahead in the cluster.
func (s *DB) onLatestClock(now time.Time) time.Time {
	return now.Add(time.Duration(s.clockAhead.Load()) * time.Millisecond)
}

// mayBeRolledUp reports whether the hour of something that happens now may be rolled up already, as far as this
// process knows. This is possible after the clock was set back, or if that of another node is ahead.
func (s *DB) mayBeRolledUp(at time.Time) bool {
	return at.UnixMilli() < s.rolledUpUntil.Load() || at.Before(usage.RolledUpUntil(s.onLatestClock(at)))
}

// recordIfRolledUp records that the hour of a room or a session, which is stored at its
// beginning, must be rolled up again if it has been rolled up.
func (s *DB) recordIfRolledUp(ctx context.Context, id, projectID string, at time.Time) error {
	return s.Exec(ctx, `INSERT INTO usage_late_reports (id, organization_id, hour)
		SELECT $1, u.organization_id, $2 FROM projects p JOIN usage_progress u ON u.organization_id = p.organization_id
		WHERE p.id = $3 AND u.rolled_up_until > $4 ON CONFLICT DO NOTHING`,
		id, at.Truncate(time.Hour).UnixMilli(), projectID, at.UnixMilli())
}

func (s *DB) UsageHours(ctx context.Context, of usage.Scope, from, to time.Time) ([]usage.Interval, error) {
	return s.usageIntervals(ctx, usageHourTable, time.Hour, selectUsageHours,
		of.OrganizationID, of.ProjectID, from.UnixMilli(), to.UnixMilli())
}

func (s *DB) UsageDays(ctx context.Context, of usage.Scope, from, to time.Time) ([]usage.Interval, error) {
	return s.usageIntervals(ctx, usageDayTable, usage.DayLength, selectUsageDays,
		of.OrganizationID, of.ProjectID, from.UnixMilli(), to.UnixMilli())
}

func (s *DB) LatestUsageHour(ctx context.Context, of usage.Scope, before time.Time) (usage.Interval, error) {
	all, err := s.usageIntervals(ctx, usageHourTable, time.Hour, selectLatestUsageHour,
		of.OrganizationID, of.ProjectID, before.UnixMilli())
	if err != nil || len(all) == 0 {
		return usage.Interval{}, err
	}
	return all[0], nil
}

// usageIntervals reads intervals of a length.
func (s *DB) usageIntervals(
	ctx context.Context, t *table[usage.Interval], length time.Duration, q string, args ...any,
) ([]usage.Interval, error) {
	all, err := queryAll(ctx, s, t, q, args...)
	for i := range all {
		all[i].Length = length
	}
	return all, err
}

func (s *DB) FirstUsageHour(ctx context.Context, organizationID string) (time.Time, error) {
	var first time.Time
	err := s.QueryRow(ctx, nil, `SELECT min(hour) FROM (
		SELECT (SELECT min(hour) FROM usage_hours WHERE organization_id = $1 AND project_id = p.id) AS hour
		FROM (SELECT '' AS id UNION ALL SELECT id FROM projects WHERE organization_id = $1 AND test) AS p) AS firsts`,
		[]any{organizationID}, db.ScanTime(&first))
	return first, err
}

// projectBatch is the number of projects whose moves one query reads.
const projectBatch = 100

func (s *DB) UsageMoves(ctx context.Context, of usage.Scope, from, to time.Time) ([]usage.Move, error) {
	return s.usageMoves(ctx, of, from, to, selectConnectionMoves+" UNION ALL "+selectStartMoves)
}

func (s *DB) UsageStarts(ctx context.Context, of usage.Scope, from, to time.Time) ([]usage.Move, error) {
	return s.usageMoves(ctx, of, from, to, selectStartMoves)
}

// The moves of projects, which stand for PROJECTS.
var (
	selectConnectionMoves = `SELECT project_id, joined_at, room_type, 1, 0, 0 FROM attendance
			WHERE project_id IN PROJECTS AND ` + within("joined_at", "$1", "$2") + `
				AND NOT hidden AND (left_at > joined_at OR left_at IS NULL)
		UNION ALL SELECT project_id, left_at, room_type, -1, 0, 0 FROM attendance
			WHERE project_id IN PROJECTS AND ` + within("left_at", "$1", "$2") + ` AND NOT hidden AND left_at > joined_at`
	selectStartMoves = `SELECT project_id, created_at, '', 0, 1, 0 FROM rooms
			WHERE project_id IN PROJECTS AND ` + within("created_at", "$1", "$2") + `
		UNION ALL SELECT project_id, started_at, '', 0, 0, 1 FROM sessions
			WHERE project_id IN PROJECTS AND ` + within("started_at", "$1", "$2") + ` AND breakout = 0`
)

// usageMoves names the projects in the query, because PostgreSQL does not know for a
// join how few of all rows the index selects.
func (s *DB) usageMoves(ctx context.Context, of usage.Scope, from, to time.Time, q string) ([]usage.Move, error) {
	projects := []string{of.ProjectID}
	isTest := map[string]bool{}
	if of.ProjectID == "" {
		projects = nil
		err := s.Query(ctx, `SELECT id, test FROM projects WHERE organization_id = $1`, []any{of.OrganizationID},
			func(row db.Row) error {
				id, test := "", false
				err := row.Scan(&id, &test)
				projects, isTest[id] = append(projects, id), test
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	var moves []usage.Move
	for batch := range slices.Chunk(projects, projectBatch) {
		more, err := s.usageMovesOf(ctx, batch, from, to, q)
		if err != nil {
			return nil, err
		}
		moves = append(moves, more...)
	}
	for i := range moves {
		moves[i].Test = isTest[moves[i].ProjectID]
	}
	slices.SortFunc(moves, func(a, b usage.Move) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(step(a), step(b))) })
	return moves, nil
}

func step(m usage.Move) int64 { return m.Step.Audio + m.Step.Video }

func (s *DB) usageMovesOf(
	ctx context.Context, projects []string, from, to time.Time, q string,
) ([]usage.Move, error) {
	list, args := inList([]any{from.UnixMilli(), to.UnixMilli()}, projects)
	q = strings.ReplaceAll(q, "PROJECTS", list)
	var moves []usage.Move
	err := s.Query(ctx, q, args, func(row db.Row) error {
		var m usage.Move
		var kind room.Type
		var step int64
		err := row.Scan(&m.ProjectID, db.ScanTime(&m.At), &kind, &step, &m.Rooms, &m.Sessions)
		if kind == room.Audio {
			m.Step.Audio = step
		} else {
			m.Step.Video = step
		}
		moves = append(moves, m)
		return err
	})
	return moves, err
}

func (s *DB) FirstUsageMove(ctx context.Context, organizationID string) (time.Time, error) {
	var first time.Time
	err := s.QueryRow(ctx, nil, `SELECT min(at) FROM (
		SELECT (SELECT min(joined_at) FROM attendance WHERE project_id = p.id) AS at
			FROM projects p WHERE organization_id = $1
		UNION ALL SELECT (SELECT min(created_at) FROM rooms WHERE project_id = p.id)
			FROM projects p WHERE organization_id = $1
		UNION ALL SELECT (SELECT min(started_at) FROM sessions WHERE project_id = p.id)
			FROM projects p WHERE organization_id = $1) AS firsts`, []any{organizationID}, db.ScanTime(&first))
	return first, err
}

func (s *DB) OrganizationsAfter(ctx context.Context, id string, limit int) ([]string, error) {
	return s.queryStrings(ctx, `SELECT id FROM organizations WHERE id > $1 ORDER BY id LIMIT $2`, id, limit)
}

// OrganizationsUsedAfter looks into the rollups and, because the last hours are not rolled up, into the raw rows. Each
// subquery reads the end of an index in the order of that index. Otherwise PostgreSQL may read a whole table for the
// first row that matches, although none does.
func (s *DB) OrganizationsUsedAfter(ctx context.Context, id string, since time.Time, limit int) (
	used []string, last string, err error,
) {
	err = s.Query(ctx, `SELECT id,
			(SELECT hour FROM usage_hours WHERE organization_id = o.id AND project_id = '' AND hour >= $2
				ORDER BY hour DESC LIMIT 1) IS NOT NULL
			OR id IN (SELECT p.organization_id FROM attendance a JOIN projects p ON p.id = a.project_id
				WHERE a.left_at IS NULL)
			OR (SELECT 1 FROM projects p WHERE p.organization_id = o.id AND (
				(SELECT joined_at FROM attendance WHERE project_id = p.id AND joined_at >= $2
					ORDER BY joined_at DESC LIMIT 1) IS NOT NULL
				OR (SELECT left_at FROM attendance WHERE project_id = p.id AND left_at >= $2
					ORDER BY left_at DESC LIMIT 1) IS NOT NULL
				OR (SELECT created_at FROM rooms WHERE project_id = p.id AND created_at >= $2
					ORDER BY created_at DESC LIMIT 1) IS NOT NULL
				OR (SELECT started_at FROM sessions WHERE project_id = p.id AND started_at >= $2
					ORDER BY started_at DESC LIMIT 1) IS NOT NULL)
				LIMIT 1) IS NOT NULL
		FROM organizations o WHERE id > $1 ORDER BY id LIMIT $3`, []any{id, since.UnixMilli(), limit},
		func(row db.Row) error {
			var isUsed bool
			if err := row.Scan(&last, &isUsed); err != nil {
				return err
			}
			if isUsed {
				used = append(used, last)
			}
			return nil
		})
	return used, last, err
}

func (s *DB) OrganizationsWithLateUsage(ctx context.Context, limit int) ([]string, error) {
	return s.queryStrings(ctx, `SELECT DISTINCT organization_id FROM usage_late_reports LIMIT $1`, limit)
}

func (s *DB) MarkUsageLate(ctx context.Context, r usage.Rebuilt, now time.Time, choose usage.HourChoice) error {
	organizationID := r.OrganizationID
	return s.WriteInBackground(ctx, func(ctx context.Context) error {
		// The deletion of rooms takes the same lock before it reads UsageSettledUntil.
		if err := s.LockOrganization(ctx, organizationID); err != nil {
			return err
		}
		hours, err := choose(ctx)
		if err != nil {
			return err
		}
		for _, hour := range hours {
			err := s.Exec(ctx, `INSERT INTO usage_late_reports (id, organization_id, hour) VALUES ($1, $2, $3)
				ON CONFLICT DO NOTHING`, fmt.Sprintf("%s/%d", organizationID, hour.UnixMilli()), organizationID, hour.UnixMilli())
			if err != nil {
				return err
			}
		}
		return audit.Record(ctx, s, now, audit.Change{Action: audit.UsageRebuilt, Subject: organizationID,
			After: audit.Fields{"from": r.From.Format(time.DateOnly), "to": r.To.Format(time.DateOnly), "hours": len(hours)}})
	})
}

// errRolledUpMeanwhile rolls back a rollup that another node has made.
var errRolledUpMeanwhile = errors.New("another node has rolled up this organization")

func (s *DB) SaveUsageRollup(ctx context.Context, r usage.Rollup) error {
	err := s.WriteInBackground(ctx, func(ctx context.Context) error {
		// The deletion of an organization takes the same lock, so that it misses no row.
		if err := s.LockOrganization(ctx, r.OrganizationID); err != nil {
			return err
		}
		if err := s.advanceProgress(ctx, r); err != nil {
			return err
		}
		for i := range r.Hours {
			if err := s.saveUsageHour(ctx, r.OrganizationID, &r.Hours[i]); err != nil {
				return err
			}
		}
		if err := s.correctUsage(ctx, r.OrganizationID, r.Corrections); err != nil {
			return err
		}
		for _, day := range r.Days {
			if err := s.foldUsageDay(ctx, r.OrganizationID, day); err != nil {
				return err
			}
		}
		for _, late := range r.Done {
			if err := s.Exec(ctx, `DELETE FROM usage_late_reports WHERE id = $1`, late.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errRolledUpMeanwhile) || errors.Is(err, errOrganizationNotFound) {
		return nil
	}
	if err == nil {
		raise(&s.rolledUpUntil, r.Until.UnixMilli())
	}
	return err
}

// advanceProgress locks the progress of the organization until the end of the
// transaction.
func (s *DB) advanceProgress(ctx context.Context, r usage.Rollup) error {
	until, daysUntil := r.Until.UnixMilli(), db.NullMillis(r.DaysUntil)
	if r.Version > 0 {
		return s.ExecOne(ctx, errRolledUpMeanwhile, `UPDATE usage_progress SET rolled_up_until = $2,
				version = version + 1, days_until = $4, days_version = version + 1
			WHERE organization_id = $1 AND version = $3`, r.OrganizationID, until, r.Version, daysUntil)
	}
	return s.ExecOne(ctx, errRolledUpMeanwhile, `INSERT INTO usage_progress
			(organization_id, rolled_up_until, version, days_until, days_version)
		VALUES ($1, $2, 1, $3, 1) ON CONFLICT DO NOTHING`, r.OrganizationID, until, daysUntil)
}

func (s *DB) saveUsageHour(ctx context.Context, organizationID string, h *usage.Interval) error {
	return s.Exec(ctx, upsertUsageHour, usageHourTable.values(h, organizationID)...)
}

// foldUsageDay replaces the rollups of a day by those of its hours.
func (s *DB) foldUsageDay(ctx context.Context, organizationID string, day time.Time) error {
	hours, err := s.usageIntervals(ctx, usageHourTable, time.Hour, selectUsageOfDay,
		organizationID, day.UnixMilli(), day.Add(usage.DayLength).UnixMilli())
	if err != nil {
		return err
	}
	for _, folded := range usage.FoldDays(hours) {
		if err := s.Exec(ctx, upsertUsageDay, usageDayTable.values(&folded, organizationID)...); err != nil {
			return err
		}
	}
	return nil
}

// correctUsage replaces the rollups of some hours, which are in order, and moves the base of all later ones by what has
// changed. It writes each later rollup only once, because a year of them may follow.
func (s *DB) correctUsage(ctx context.Context, organizationID string, corrections []usage.Correction) error {
	pending := map[string]baseMove{} // by project
	for _, c := range corrections {
		stored, err := queryAll(ctx, s, usageHourTable, selectUsageOfHour, organizationID, c.Hour.UnixMilli())
		if err != nil {
			return err
		}
		// A rollup whose moves have disappeared becomes empty.
		for _, old := range stored {
			if !slices.ContainsFunc(c.Rollups, func(h usage.Interval) bool { return h.ProjectID == old.ProjectID }) {
				c.Rollups = append(c.Rollups, usage.Interval{ProjectID: old.ProjectID, Start: c.Hour})
			}
		}
		for i := range c.Rollups {
			h := &c.Rollups[i]
			move := pending[h.ProjectID]
			if err := s.moveUsageBase(ctx, organizationID, h.ProjectID, move, c.Hour.UnixMilli()); err != nil {
				return err
			}
			before, err := s.replaceUsageHour(ctx, organizationID, h, stored)
			if err != nil {
				return err
			}
			move.after = c.Hour
			move.by.Audio += h.Change.Audio - before.Audio
			move.by.Video += h.Change.Video - before.Video
			pending[h.ProjectID] = move
		}
	}
	for _, projectID := range slices.Sorted(maps.Keys(pending)) {
		if err := s.moveUsageBase(ctx, organizationID, projectID, pending[projectID], math.MaxInt64); err != nil {
			return err
		}
	}
	return nil
}

// baseMove is by how much corrections have changed the base of the rollups after an hour.
type baseMove struct {
	after time.Time
	by    usage.Level
}

// moveUsageBase moves the base of the rollups of a project until an hour, inclusive.
func (s *DB) moveUsageBase(ctx context.Context, organizationID, projectID string, move baseMove, until int64) error {
	if move.by == (usage.Level{}) {
		return nil
	}
	return s.Exec(ctx, `UPDATE usage_hours SET audio_base = audio_base + $5, video_base = video_base + $6
		WHERE organization_id = $1 AND project_id = $2 AND hour > $3 AND hour <= $4`,
		organizationID, projectID, move.after.UnixMilli(), until, move.by.Audio, move.by.Video)
}

// replaceUsageHour replaces the rollup of a project, which may be among the stored ones of its hour, and returns the
// change that it had.
func (s *DB) replaceUsageHour(
	ctx context.Context, organizationID string, h *usage.Interval, stored []usage.Interval,
) (before usage.Level, err error) {
	i := slices.IndexFunc(stored, func(old usage.Interval) bool { return old.ProjectID == h.ProjectID })
	if i >= 0 {
		before = stored[i].Change
	} else {
		previous, err := s.LatestUsageHour(ctx, usage.Scope{OrganizationID: organizationID, ProjectID: h.ProjectID}, h.Start)
		if err != nil {
			return before, err
		}
		h.Base = previous.AtEnd()
	}
	return before, s.saveUsageHour(ctx, organizationID, h)
}

// UsageSettledUntil reads the oldest open connection of all organizations, because only
// those that last have an index.
func (s *DB) UsageSettledUntil(ctx context.Context, organizationID string) (time.Time, error) {
	progress, late, err := s.UsageToRollUp(ctx, organizationID, 1)
	if err != nil {
		return time.Time{}, err
	}
	settled := progress.Until
	if len(late) > 0 && late[0].Hour.Before(settled) {
		settled = late[0].Hour
	}
	var oldest time.Time
	err = s.QueryRow(ctx, nil, `SELECT min(joined_at) FROM attendance WHERE left_at IS NULL`, nil, db.ScanTime(&oldest))
	if hour := oldest.Truncate(time.Hour); !oldest.IsZero() && hour.Before(settled) {
		settled = hour
	}
	return settled, err
}
