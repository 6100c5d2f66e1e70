package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/filltest"
	"parley/internal/usage"
	"parley/test/bench/measure"
)

// installation is a server with a number of past meetings.
type installation struct {
	*parley              // the running server; nil before startInstallation
	totalCPU measure.CPU // of the server and its database

	meetings    int
	dir         string // data directory
	databaseURL string // empty for SQLite

	meetingBytes          float64 // of the database, for a meeting without webhooks
	filledBytes           int64   // of the database
	fillRate              float64 // meetings a second
	rollupTime, sweepTime time.Duration
	startupTime           time.Duration // median
}

// install creates an installation and fills it. c is nil for SQLite.
func (b *bench) install(ctx context.Context, database string, c *cluster, meetings int) (*installation, error) {
	name := fmt.Sprintf("growth_%d", meetings)
	i := &installation{meetings: meetings, dir: filepath.Join(b.dir, database+"-"+name)}
	var err error
	if c != nil {
		if i.databaseURL, err = c.create(ctx, name); err != nil {
			return nil, err
		}
	}
	p, err := b.startParley(ctx, i.dir, i.databaseURL)
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	// The first start may have rolled up the usage of the past, in which nothing had happened.
	if err := i.query(ctx, `DELETE FROM usage_progress`); err != nil {
		return nil, err
	}
	if err := i.setSynchronousCommit(ctx, name, "off"); err != nil { // a commit may wait for seconds while it is filled
		return nil, err
	}
	if err := i.fill(ctx, p.ProjectID, b.years); err != nil {
		return nil, err
	}
	if err := i.setSynchronousCommit(ctx, name, "on"); err != nil {
		return nil, err
	}
	err = i.withStore(ctx, func(ctx context.Context, s *store.DB) error {
		return i.maintain(ctx, s, p.OrganizationID, b.years)
	})
	if err != nil {
		return nil, err
	}
	if c != nil {
		if err := i.query(ctx, `VACUUM ANALYZE`); err != nil { // as the autovacuum daemon does
			return nil, err
		}
	}
	i.filledBytes, err = i.databaseBytes(ctx)
	return i, err
}

const (
	// recentMeetings is the number of meetings of the last day. It is the same in all installations, so that an hour is
	// the same work for the janitor, and so that a reader of the usage reads as many hours.
	recentMeetings = 120
	recentHours    = 24

	webhookDays      = 29     // for which deliveries exist; the default period is a day longer
	callDays         = 6      // for which calls exist; the default period is a day longer
	mostCalls        = 90_000 // that the server does not trim
	meetingsForEntry = 10     // in the audit log
	meetingsForSmall = 200    // for one small project beside the large one
	fewestSmall      = 30     // small projects
)

// fill adds the meetings, the last of which is over now, and what such an installation has
// besides: webhooks of the last month, calls of the last week, the audit log, and small projects.
func (i *installation) fill(ctx context.Context, projectID string, years int) error {
	now := time.Now().UTC()
	start, end := now.AddDate(-years, 0, 0), now.Add(-2*time.Hour)
	recent, webhooks := end.Add(-recentHours*time.Hour), end.AddDate(0, 0, -webhookDays)
	late := int(float64(i.meetings-recentMeetings) * recent.Sub(webhooks).Hours() / recent.Sub(start).Hours())
	early := filltest.Past{
		ProjectID: projectID,
		Meetings:  i.meetings - recentMeetings - late,
		Start:     start,
		End:       webhooks,
		Seed:      1,
	}
	empty, err := i.databaseBytes(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := i.fillEarly(ctx, early); err != nil {
		return err
	}
	i.fillRate = float64(early.Meetings) / time.Since(began).Seconds()
	filled, err := i.databaseBytes(ctx)
	if err != nil {
		return err
	}
	i.meetingBytes = float64(filled-empty) / float64(early.Meetings)
	return i.withStore(ctx, func(ctx context.Context, s *store.DB) error {
		for seed, p := range []filltest.Past{
			{Meetings: late, Start: webhooks, End: recent},
			{Meetings: recentMeetings, Start: recent, End: end},
		} {
			p.ProjectID, p.Seed, p.WebhookURL = projectID, uint64(earlyParts+seed+1), "https://receiver.example.org/parley"
			if err := filltest.Meetings(ctx, s, p); err != nil {
				return err
			}
		}
		calls := min(i.meetings, mostCalls)
		return errors.Join(
			filltest.SmallProjects(ctx, s, i.smallProjects(), webhooks, recent),
			filltest.Pack(ctx, s, now),
			filltest.Calls(ctx, s, projectID, calls, end.AddDate(0, 0, -callDays), end),
			filltest.AuditEntries(ctx, s, projectID, i.meetings/meetingsForEntry, start, end))
	})
}

// earlyParts is the number of parts in which fillEarly adds meetings.
const earlyParts = 20

// fillEarly adds meetings. After each part it merges the counts of past rooms, as the janitor does every
// minute, packs the events, as a sweep does every hour, and removes dead rows from PostgreSQL, as the autovacuum daemon
// does, so that later rows use their space again.
func (i *installation) fillEarly(ctx context.Context, p filltest.Past) error {
	step := p.End.Sub(p.Start) / earlyParts
	for n := range earlyParts {
		part := p
		part.Meetings = p.Meetings*(n+1)/earlyParts - p.Meetings*n/earlyParts
		part.Start, part.End = p.Start.Add(time.Duration(n)*step), p.Start.Add(time.Duration(n+1)*step)
		part.Seed = p.Seed + uint64(n)
		err := i.withStore(ctx, func(ctx context.Context, s *store.DB) error {
			if err := filltest.Meetings(ctx, s, part); err != nil {
				return err
			}
			return errors.Join(mergePastRoomCounts(ctx, s), filltest.Pack(ctx, s, part.End.Add(2*time.Hour)))
		})
		if err == nil && i.databaseURL != "" {
			err = i.query(ctx, `VACUUM past_room_counts, rooms, sessions, events`)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func mergePastRoomCounts(ctx context.Context, s *store.DB) error {
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	return room.NewService(s, nil, nil, time.Now, newID, nil, room.Options{}).MergePastRoomCounts(ctx)
}

// setSynchronousCommit sets whether commits wait for the disk, for later connections to a database of PostgreSQL.
func (i *installation) setSynchronousCommit(ctx context.Context, database, value string) error {
	if i.databaseURL == "" {
		return nil
	}
	return i.query(ctx, `ALTER DATABASE `+database+` SET synchronous_commit = `+value)
}

// smallProjects is the number of small projects.
func (i *installation) smallProjects() int { return max(fewestSmall, i.meetings/meetingsForSmall) }

// withStore runs work with the store. No server may run. A transaction waits longer than usual, because the disk is
// busy with what was filled before.
func (i *installation) withStore(
	ctx context.Context, work func(ctx context.Context, s *store.DB) error,
) error {
	ctx = db.WithWriteTimeout(ctx, time.Minute)
	s, err := store.Open(ctx, i.databaseURL, i.dir)
	if err != nil {
		return err
	}
	master, err := (&config.Storage{DataDir: i.dir}).LoadMasterKey(false)
	if err == nil {
		err = s.Unlock(ctx, seal.NewBox(master))
	}
	if err == nil {
		err = work(ctx, s)
	}
	return errors.Join(err, s.Close())
}

// maintain measures the rollup of the past and the work of the janitor in the last hours, and
// merges the counts of past rooms, as the janitor does every minute. It checks that the usage
// has all meetings.
func (i *installation) maintain(ctx context.Context, s *store.DB, organizationID string, years int) error {
	const hours = 5
	clock := time.Now().Add(-hours * time.Hour)
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	u := usage.NewService(s, usage.NoProvider{}, func() time.Time { return clock })
	k := key.NewService(s, project.NewService(s, time.Now, newID, func(string) {}), time.Now, newID)
	began := time.Now()
	if err := u.RollUp(ctx); err != nil {
		return err
	}
	i.rollupTime = time.Since(began)
	if err := mergePastRoomCounts(ctx, s); err != nil {
		return err
	}
	var took []time.Duration
	for range hours {
		clock = clock.Add(time.Hour)
		began := time.Now()
		if err := k.Sweep(ctx); err != nil {
			return err
		}
		if err := u.RollUp(ctx); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	i.sweepTime = measure.Median(took)
	from := clock.AddDate(-years, 0, -1).Truncate(24 * time.Hour)
	got, err := u.Totals(ctx, usage.Scope{OrganizationID: organizationID}, from, clock)
	if err == nil && got.RoomsCreated != int64(i.meetings) {
		err = fmt.Errorf("the usage has %d rooms, want %d", got.RoomsCreated, i.meetings)
	}
	return err
}

// startInstallation starts the server several times, measures that, and leaves it running.
func (b *bench) startInstallation(ctx context.Context, i *installation, c *cluster) error {
	var took []time.Duration
	for range growthStarts {
		if i.parley != nil {
			if err := i.end(); err != nil {
				return err
			}
		}
		var err error
		if i.parley, err = b.startParley(ctx, i.dir, i.databaseURL, keepEverything...); err != nil {
			return err
		}
		took = append(took, i.parley.startupTime)
	}
	i.startupTime = measure.Median(took)
	i.totalCPU = i.cpu()
	if c != nil {
		i.totalCPU = measure.SumCPU(i.cpu(), measure.ProcessTreeCPU(c.pid()))
	}
	return nil
}

// quit stops the server if it runs.
func (i *installation) quit() {
	if i.parley != nil {
		i.parley.quit()
	}
}

// databaseBytes returns the size of the database. No program may have a SQLite database open,
// so that its log is in the file.
func (i *installation) databaseBytes(ctx context.Context) (int64, error) {
	if i.databaseURL == "" {
		info, err := os.Stat(filepath.Join(i.dir, "parley.db"))
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	db, err := sql.Open("pgx", i.databaseURL)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	var size int64
	err = db.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&size)
	return size, err
}

// query runs a statement.
func (i *installation) query(ctx context.Context, q string) error {
	db, err := i.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, q)
	return err
}

// queryInt returns the number that a query returns.
func (i *installation) queryInt(ctx context.Context, q string) (n int64, err error) {
	db, err := i.open()
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	err = db.QueryRowContext(ctx, q).Scan(&n)
	return n, err
}

// open opens the database without the store.
func (i *installation) open() (*sql.DB, error) {
	if i.databaseURL == "" {
		return sql.Open("sqlite", filepath.Join(i.dir, "parley.db"))
	}
	return sql.Open("pgx", i.databaseURL)
}
