package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"parley/internal/db"
	"parley/internal/store"
	"parley/internal/store/filltest"
	"parley/internal/store/storetest"
	"parley/internal/usage"
	"parley/test/bench/measure"
)

const (
	upgradeDays = 30 // over which the meetings are spread
	// upgradeGoal is for the time until the service is healthy and all usage is rolled up.
	upgradeGoal      = 60.0 // seconds
	usageGoal        = 5.0  // milliseconds
	pastMiddleGoal   = 20.0 // milliseconds
	upgradePoll      = 20 * time.Millisecond
	migrationsFolder = "internal/store/migrations"
)

// seedTables contain what the first start creates: the identity of the installation, and the
// first project with its credentials. The name of the first was facts before migration 34.
var seedTables = []string{
	"metadata", "organizations", "projects", "api_keys", "project_secrets", "management_tokens",
}

// upgrade measures the upgrade of an installation of the release before the rollups, and checks
// that its figures of usage equal the sums of the raw rows.
func (b *bench) upgrade(ctx context.Context) ([]figure, error) {
	var figures []figure
	if slices.Contains(b.databases, "sqlite") {
		var err error
		if figures, err = b.upgradeOn(ctx, "SQLite", nil); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(b.databases, "postgres") {
		return figures, nil
	}
	if _, err := postgresBin(); err != nil {
		return figures, fmt.Errorf("%w: %w", errUnavailable, err)
	}
	c, err := startCluster(ctx, b.dir, "upgrade-postgres")
	if err != nil {
		return figures, err
	}
	defer c.end()
	more, err := b.upgradeOn(ctx, "PostgreSQL", c)
	return append(figures, more...), err
}

// upgradeOn measures one database. c is nil for SQLite.
func (b *bench) upgradeOn(ctx context.Context, database string, c *cluster) ([]figure, error) {
	i := &installation{meetings: b.upgradeMeetings, dir: filepath.Join(b.dir, "upgrade-"+database)}
	begin := time.Now().UTC().AddDate(0, 0, -upgradeDays).Truncate(time.Second)
	fmt.Fprintf(os.Stderr, "filling %s with %s meetings of an earlier release\n", database, thousands(i.meetings))
	if err := b.installEarlierRelease(ctx, i, c, begin); err != nil {
		return nil, fmt.Errorf("%s: %w", database, err)
	}
	from := "the release before the rollups"
	if b.through != "" {
		from = filepath.Base(b.through)
		earlier := *b
		earlier.binary = b.through
		if _, err := earlier.startRolledUp(ctx, i); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", from, database, err)
		}
		if err := i.end(); err != nil {
			return nil, err
		}
	}
	took, err := b.startRolledUp(ctx, i)
	if err != nil {
		return nil, err
	}
	p := i.parley
	defer p.quit()
	of := fmt.Sprintf("upgrade from %s, %s, %s meetings in %d days", from, database, thousands(i.meetings), upgradeDays)
	figures := []figure{
		{Of: of, Name: "start to healthy, with all migrations", Value: p.startupTime.Seconds(), Unit: "s"},
		figure{Of: of, Name: "start to healthy, with all usage rolled up", Value: took.Seconds(), Unit: "s"}.
			atMost(upgradeGoal),
	}
	for _, read := range []struct {
		name    string
		request requestMaker
		goal    float64
	}{
		{"v5 usage, median", signedGet("/api/v5/usage"), usageGoal},
		{"fetch_past_rooms, middle, median", pastRooms(func(meetings int) int { return meetings / 2 }), pastMiddleGoal},
	} {
		median, err := i.medianOf(ctx, read.request, b.slice)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", read.name, err)
		}
		figures = append(figures, figure{Of: of, Name: read.name, Value: millis(median), Unit: "ms"}.atMost(read.goal))
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return figures, i.checkUsage(ctx, begin)
}

// startRolledUp starts the server of an installation, and returns how long it takes until all
// usage is rolled up.
func (b *bench) startRolledUp(ctx context.Context, i *installation) (time.Duration, error) {
	started := time.Now()
	p, err := b.startParley(ctx, i.dir, i.databaseURL)
	if err != nil {
		return 0, err
	}
	i.parley, i.totalCPU = p, p.cpu()
	rolledUp := fmt.Sprintf(`SELECT count(*) FROM usage_progress WHERE organization_id = '%s' AND rolled_up_until > %d`,
		p.OrganizationID, started.Add(-2*time.Hour).UnixMilli())
	err = p.await(ctx, upgradePoll, func() bool {
		n, err := i.queryInt(ctx, rolledUp)
		return err == nil && n == 1
	})
	if err != nil {
		p.quit()
		return 0, fmt.Errorf("roll up the usage: %w", err)
	}
	return time.Since(started), nil
}

// medianOf returns the median time of a read in a slice, after one that warms up.
func (i *installation) medianOf(ctx context.Context, request requestMaker, slice time.Duration) (time.Duration, error) {
	r, err := request(ctx, i)
	if err != nil {
		return 0, err
	}
	l, err := measure.Dial(measure.Target{Name: "upgraded", Address: i.Address, CPU: i.totalCPU, Request: r}, 1)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	if _, err := l.Slice(ctx, slice); err != nil {
		return 0, err
	}
	s, err := l.Slice(ctx, slice)
	return s.P50, err
}

// checkUsage compares the usage since a time with the raw rows. No server may run.
func (i *installation) checkUsage(ctx context.Context, since time.Time) error {
	raw, err := i.open()
	if err != nil {
		return err
	}
	defer func() { _ = raw.Close() }()
	rows, err := storetest.ReadRawUsage(ctx, raw)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, i.databaseURL, i.dir)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	now := time.Now().UTC().Truncate(time.Millisecond)
	service := usage.NewService(s, usage.NoProvider{}, func() time.Time { return now })
	return rows.Compare(ctx, service, i.OrganizationID, []string{i.ProjectID}, since, now)
}

// installEarlierRelease creates an installation whose database has the schema and the rows of
// the release before the rollups. Its meetings begin at a time and end before now. c is nil for
// SQLite.
func (b *bench) installEarlierRelease(ctx context.Context, i *installation, c *cluster, begin time.Time) error {
	seed := &installation{dir: i.dir}
	var err error
	if c != nil {
		if seed.databaseURL, err = c.create(ctx, "upgrade_seed"); err != nil {
			return err
		}
		if i.databaseURL, err = c.create(ctx, "upgrade"); err != nil {
			return err
		}
	}
	p, err := b.startParley(ctx, seed.dir, seed.databaseURL)
	if err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return err
	}
	if c == nil { // the server has the next database in its place
		seed.dir = i.dir + "-seed"
		if err := os.Mkdir(seed.dir, 0o700); err != nil {
			return err
		}
		if err := os.Rename(store.SQLiteFile(i.dir), store.SQLiteFile(seed.dir)); err != nil {
			return err
		}
	}
	if err := i.migrateUntil(ctx, filltest.LastWithoutRollups); err != nil {
		return err
	}
	source, err := seed.open()
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := i.open()
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	for _, table := range seedTables {
		earlier := table
		if table == "metadata" {
			earlier = "facts"
		}
		if err := copyRows(ctx, source, target, table, earlier); err != nil {
			return fmt.Errorf("copy the table %s: %w", table, err)
		}
	}
	step := (time.Since(begin) - 2*time.Hour) / time.Duration(i.meetings)
	err = filltest.MeetingsWithoutRollups(ctx, target, []string{p.ProjectID}, i.meetings, begin, step)
	if err == nil && c != nil {
		err = i.query(ctx, `VACUUM ANALYZE`) // as the autovacuum daemon does
	}
	return err
}

// migrateUntil creates the database with the migrations until version last, which it reads from
// the working directory.
func (i *installation) migrateUntil(ctx context.Context, last int) error {
	all := os.DirFS(migrationsFolder)
	files, err := fs.Glob(all, "*.sql")
	if err != nil || len(files) == 0 {
		return errors.Join(err, errors.New("run the benchmark in the root of the repository, which has the migrations"))
	}
	until := fstest.MapFS{}
	for _, name := range files {
		if number, _, _ := strings.Cut(name, "_"); number > fmt.Sprintf("%05d", last) {
			continue
		}
		text, err := fs.ReadFile(all, name)
		if err != nil {
			return err
		}
		until[name] = &fstest.MapFile{Data: text}
	}
	var engine *db.DB
	if i.databaseURL == "" {
		engine, err = db.OpenSQLite(ctx, store.SQLiteFile(i.dir), until)
	} else {
		engine, err = db.OpenPostgres(ctx, i.databaseURL, until)
	}
	if err != nil {
		return err
	}
	return engine.Close()
}

// copyRows copies the columns of a table that the target has.
func copyRows(ctx context.Context, source, target *sql.DB, table, earlier string) error {
	empty, err := target.QueryContext(ctx, `SELECT * FROM `+earlier+` WHERE 1 = 0`)
	if err != nil {
		return err
	}
	columns, err := empty.Columns()
	if err = errors.Join(err, empty.Close()); err != nil {
		return err
	}
	list := strings.Join(columns, ", ")
	rows, err := source.QueryContext(ctx, `SELECT `+list+` FROM `+table)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	values, pointers := make([]any, len(columns)), make([]any, len(columns))
	placeholders := make([]string, len(columns))
	for n := range columns {
		pointers[n], placeholders[n] = &values[n], "$"+strconv.Itoa(n+1)
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		_, err := target.ExecContext(ctx,
			`INSERT INTO `+earlier+` (`+list+`) VALUES (`+strings.Join(placeholders, ", ")+`)`, values...)
		if err != nil {
			return err
		}
	}
	return rows.Err()
}
