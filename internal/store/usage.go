package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/internal/db"
	"parley/internal/room"
	"parley/internal/usage"
)

var usageHourTable = newTable("usage_hours",
	text("project_id", func(h *usage.Hour) *string { return &h.ProjectID }),
	timestamp("hour", func(h *usage.Hour) *time.Time { return &h.Start }),
	number("audio_base", func(h *usage.Hour) *int64 { return &h.Base.Audio }),
	number("video_base", func(h *usage.Hour) *int64 { return &h.Base.Video }),
	number("audio_change", func(h *usage.Hour) *int64 { return &h.Change.Audio }),
	number("video_change", func(h *usage.Hour) *int64 { return &h.Change.Video }),
	number("audio_millis", func(h *usage.Hour) *int64 { return &h.Millis.Audio }),
	number("video_millis", func(h *usage.Hour) *int64 { return &h.Millis.Video }),
	number("rise", func(h *usage.Hour) *int64 { return &h.Rise }),
	number("rooms", func(h *usage.Hour) *int64 { return &h.Rooms }),
	number("sessions", func(h *usage.Hour) *int64 { return &h.Sessions }),
)

var (
	selectUsageHours = usageHourTable.selectFrom +
		"WHERE organization_id = $1 AND project_id = $2 AND hour >= $3 AND hour < $4 ORDER BY hour"
	selectLatestUsageHour = usageHourTable.selectFrom +
		"WHERE organization_id = $1 AND project_id = $2 AND hour < $3 ORDER BY hour DESC LIMIT 1"
	selectUsageOfHour = usageHourTable.selectFrom + `WHERE organization_id = $1 AND hour = $2 AND project_id IN
		(SELECT '' UNION ALL SELECT id FROM projects WHERE organization_id = $1)`
	// The organization is not a field of usage.Hour, so its parameter is the last.
	upsertUsageHour = `INSERT INTO usage_hours (project_id, hour, audio_base, video_base, audio_change, video_change,
			audio_millis, video_millis, rise, rooms, sessions, organization_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (organization_id, project_id, hour) DO UPDATE SET
			audio_change = excluded.audio_change, video_change = excluded.video_change,
			audio_millis = excluded.audio_millis, video_millis = excluded.video_millis,
			rise = excluded.rise, rooms = excluded.rooms, sessions = excluded.sessions`
)

func (s *DB) UsageProgress(ctx context.Context, organizationID string) (usage.Progress, error) {
	var p usage.Progress
	err := s.Query(ctx, `SELECT rolled_up_until, version FROM usage_progress WHERE organization_id = $1`,
		[]any{organizationID}, func(row db.Row) error { return row.Scan(db.ScanTime(&p.Until), &p.Version) })
	if err != nil {
		return usage.Progress{}, err
	}
	err = s.Query(ctx, `SELECT id, hour FROM usage_late_reports WHERE organization_id = $1 ORDER BY hour`,
		[]any{organizationID}, func(row db.Row) error {
			var late usage.LateReport
			err := row.Scan(&late.ID, db.ScanTime(&late.Hour))
			p.Late = append(p.Late, late)
			return err
		})
	return p, err
}

func (s *DB) UsageHours(ctx context.Context, of usage.Scope, from, to time.Time) ([]usage.Hour, error) {
	return queryAll(ctx, s, usageHourTable, selectUsageHours,
		of.OrganizationID, of.ProjectID, from.UnixMilli(), to.UnixMilli())
}

func (s *DB) LatestUsageHour(ctx context.Context, of usage.Scope, before time.Time) (usage.Hour, error) {
	all, err := queryAll(ctx, s, usageHourTable, selectLatestUsageHour,
		of.OrganizationID, of.ProjectID, before.UnixMilli())
	if err != nil || len(all) == 0 {
		return usage.Hour{}, err
	}
	return all[0], nil
}

// projectBatch is the number of projects whose moves one query reads.
const projectBatch = 100

// UsageMoves names the projects in the query, because PostgreSQL does not know for a
// join how few of all rows the index selects.
func (s *DB) UsageMoves(ctx context.Context, of usage.Scope, from, to time.Time) ([]usage.Move, error) {
	projects := []string{of.ProjectID}
	if of.ProjectID == "" {
		var err error
		projects, err = s.queryStrings(ctx, `SELECT id FROM projects WHERE organization_id = $1`, of.OrganizationID)
		if err != nil {
			return nil, err
		}
	}
	var moves []usage.Move
	for batch := range slices.Chunk(projects, projectBatch) {
		more, err := s.usageMovesOf(ctx, batch, from, to)
		if err != nil {
			return nil, err
		}
		moves = append(moves, more...)
	}
	slices.SortFunc(moves, func(a, b usage.Move) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(step(a), step(b))) })
	return moves, nil
}

func step(m usage.Move) int64 { return m.Step.Audio + m.Step.Video }

func (s *DB) usageMovesOf(ctx context.Context, projects []string, from, to time.Time) ([]usage.Move, error) {
	args := []any{from.UnixMilli(), to.UnixMilli()}
	params := make([]string, len(projects))
	for i, id := range projects {
		args = append(args, id)
		params[i] = fmt.Sprintf("$%d", len(args))
	}
	in := "project_id IN (" + strings.Join(params, ", ") + ")"
	q := `SELECT project_id, joined_at, room_type, 1, 0, 0 FROM attendance
			WHERE ` + in + ` AND joined_at >= $1 AND joined_at < $2
				AND NOT hidden AND (left_at > joined_at OR left_at IS NULL)
		UNION ALL SELECT project_id, left_at, room_type, -1, 0, 0 FROM attendance
			WHERE ` + in + ` AND left_at >= $1 AND left_at < $2 AND NOT hidden AND left_at > joined_at
		UNION ALL SELECT project_id, created_at, '', 0, 1, 0 FROM rooms
			WHERE ` + in + ` AND created_at >= $1 AND created_at < $2
		UNION ALL SELECT project_id, started_at, '', 0, 0, 1 FROM sessions
			WHERE ` + in + ` AND started_at >= $1 AND started_at < $2 AND breakout = 0`
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

func (s *DB) OrganizationsWithLateUsage(ctx context.Context, limit int) ([]string, error) {
	return s.queryStrings(ctx, `SELECT DISTINCT organization_id FROM usage_late_reports LIMIT $1`, limit)
}

// errRolledUpMeanwhile rolls back a rollup that another node has made.
var errRolledUpMeanwhile = errors.New("another node has rolled up this organization")

func (s *DB) SaveUsageRollup(ctx context.Context, r usage.Rollup) error {
	err := s.Write(ctx, func(ctx context.Context) error {
		if err := s.advanceProgress(ctx, r); err != nil {
			return err
		}
		for i := range r.Hours {
			if err := s.saveUsageHour(ctx, r.OrganizationID, &r.Hours[i]); err != nil {
				return err
			}
		}
		for _, c := range r.Corrections {
			if err := s.correctUsage(ctx, r.OrganizationID, c); err != nil {
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
	if errors.Is(err, errRolledUpMeanwhile) {
		return nil
	}
	return err
}

// advanceProgress locks the progress of the organization until the end of the
// transaction.
func (s *DB) advanceProgress(ctx context.Context, r usage.Rollup) error {
	if r.Version > 0 {
		return s.ExecOne(ctx, errRolledUpMeanwhile, `UPDATE usage_progress SET rolled_up_until = $2, version = version + 1
			WHERE organization_id = $1 AND version = $3`, r.OrganizationID, r.Until.UnixMilli(), r.Version)
	}
	return s.ExecOne(ctx, errRolledUpMeanwhile, `INSERT INTO usage_progress (organization_id, rolled_up_until, version)
		VALUES ($1, $2, 1) ON CONFLICT DO NOTHING`, r.OrganizationID, r.Until.UnixMilli())
}

func (s *DB) saveUsageHour(ctx context.Context, organizationID string, h *usage.Hour) error {
	return s.Exec(ctx, upsertUsageHour, usageHourTable.values(h, organizationID)...)
}

// correctUsage replaces the rollups of one hour, and moves the base of all later ones
// by what has changed.
func (s *DB) correctUsage(ctx context.Context, organizationID string, c usage.Correction) error {
	stored, err := queryAll(ctx, s, usageHourTable, selectUsageOfHour, organizationID, c.Hour.UnixMilli())
	if err != nil {
		return err
	}
	// A rollup whose moves have disappeared becomes empty.
	for _, old := range stored {
		if !slices.ContainsFunc(c.Rollups, func(h usage.Hour) bool { return h.ProjectID == old.ProjectID }) {
			c.Rollups = append(c.Rollups, usage.Hour{ProjectID: old.ProjectID, Start: c.Hour})
		}
	}
	for _, h := range c.Rollups {
		var before usage.Level
		i := slices.IndexFunc(stored, func(old usage.Hour) bool { return old.ProjectID == h.ProjectID })
		if i >= 0 {
			before = stored[i].Change
		} else {
			previous, err := s.LatestUsageHour(ctx, usage.Scope{OrganizationID: organizationID, ProjectID: h.ProjectID}, c.Hour)
			if err != nil {
				return err
			}
			h.Base = previous.AtEnd()
		}
		if err := s.saveUsageHour(ctx, organizationID, &h); err != nil {
			return err
		}
		if h.Change == before {
			continue
		}
		err := s.Exec(ctx, `UPDATE usage_hours SET audio_base = audio_base + $4, video_base = video_base + $5
			WHERE organization_id = $1 AND project_id = $2 AND hour > $3`, organizationID, h.ProjectID, c.Hour.UnixMilli(),
			h.Change.Audio-before.Audio, h.Change.Video-before.Video)
		if err != nil {
			return err
		}
	}
	return nil
}
