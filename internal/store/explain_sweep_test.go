package store_test

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// sweepLimit is the number of rows that a sweep of checkSweeps may delete.
const sweepLimit = 20

// sweep is what the service does again and again, in a transaction, with what is older than a time.
type sweep struct {
	name string
	run  func(ctx context.Context, before time.Time) error
	// noLimit says that it deletes all old rows at once, so that only a run without any is checked.
	noLimit bool
	// always says that it reads a batch although nothing is old; a sweep runs it only where something is.
	always bool
}

func sweepsOf(db *store.DB, p project.Project) []sweep {
	limited := func(deleteRows func(context.Context, time.Time, int) (int, error)) func(context.Context, time.Time) error {
		return func(ctx context.Context, before time.Time) error {
			_, err := deleteRows(ctx, before, sweepLimit)
			return err
		}
	}
	ofProject := func(deleteRows func(context.Context, string, time.Time, int) (int, error), id string) func(
		context.Context, time.Time) error {
		return limited(func(ctx context.Context, before time.Time, limit int) (int, error) {
			return deleteRows(ctx, id, before, limit)
		})
	}
	deleteCalls := func(ctx context.Context, projectID string, before time.Time, limit int) (blocks int, err error) {
		_, blocks, err = db.DeleteCalls(ctx, projectID, before, limit)
		return blocks, err
	}
	return []sweep{
		{name: "deliveries", run: ofProject(db.DeleteDeliveries, p.ID), always: true},
		{name: "calls", run: ofProject(deleteCalls, p.ID)},
		{name: "calls without a project", run: ofProject(deleteCalls, "")},
		{name: "names in rooms", run: func(ctx context.Context, before time.Time) error {
			_, err := db.RoomsWithPeople(ctx, p.ID, before, nil, sweepLimit)
			return err
		}},
		{name: "rooms", run: func(ctx context.Context, before time.Time) error {
			ids, err := db.RoomsToDelete(ctx, p.ID, before, sweepLimit)
			if err != nil || len(ids) == 0 {
				return err
			}
			_, _, err = db.DeleteRoom(ctx, ids[0], sweepLimit)
			return err
		}},
		{name: "oldest data", run: func(ctx context.Context, _ time.Time) error {
			_, err := db.OldestData(ctx, []string{p.ID})
			return err
		}},
		{name: "webhook streams", run: limited(db.PruneStreams)},
		{name: "failure records of webhooks", run: limited(db.PruneTargets)},
		{name: "sessions of the console", run: limited(db.DeleteConsoleSessions)},
		{name: "rejected calls", run: limited(db.DeleteRejections)},
		{name: "results of signed requests", run: limited(db.DeleteExpiredIdempotencyRecords)},
		{name: "totals of calls", run: db.DeleteCallTotals, noLimit: true},
		{name: "counts of past rooms", run: func(ctx context.Context, _ time.Time) error {
			_, err := db.MergePastRoomCounts(ctx, sweepLimit)
			return err
		}},
		{name: "events to pack", run: func(ctx context.Context, before time.Time) error {
			_, _, err := db.PackEvents(ctx, time.Time{}, before, sweepLimit)
			return err
		}},
		{name: "due rooms", run: func(ctx context.Context, before time.Time) error {
			_, err := db.DueRooms(ctx, before, sweepLimit)
			return err
		}},
		{name: "late usage", run: func(ctx context.Context, _ time.Time) error {
			_, err := db.OrganizationsWithLateUsage(ctx, sweepLimit)
			return err
		}},
		{name: "rollup of late usage", always: true, run: func(ctx context.Context, _ time.Time) error {
			_, _, err := db.UsageToRollUp(ctx, p.OrganizationID, sweepLimit)
			return err
		}},
		{name: "settled usage", run: func(ctx context.Context, _ time.Time) error {
			_, err := db.UsageSettledUntil(ctx, p.OrganizationID)
			return err
		}},
		{name: "audit log", noLimit: true, run: func(ctx context.Context, before time.Time) error {
			if _, err := db.AuditEntries(ctx, audit.Query{Before: before, BelowN: math.MaxInt64, Limit: 1}); err != nil {
				return err
			}
			return db.PruneAuditEntries(ctx, audit.Entry{})
		}},
		{name: "credentials", noLimit: true, run: func(ctx context.Context, before time.Time) error {
			_, err := db.PurgeRetired(ctx, before, before)
			return err
		}},
		{name: "notices about credentials", run: func(ctx context.Context, before time.Time) error {
			_, err := db.ProjectsWithDueNotices(ctx, before)
			return err
		}},
		{name: "rows of a project", always: true, run: func(ctx context.Context, _ time.Time) error {
			_, err := db.DeleteProjectRows(ctx, p.ID, sweepLimit)
			return err
		}},
		{name: "rows of an organization", always: true, run: func(ctx context.Context, _ time.Time) error {
			_, _, err := db.DeleteOrganizationRows(ctx, p.OrganizationID, sweepLimit)
			return err
		}},
	}
}

// checkSweeps fails if a statement of a sweep reads more than what it deletes, in a large project: without
// anything that is old, and with a batch of it. PostgreSQL counts the rows, and SQLite the pages. Nothing is changed.
func checkSweeps(t *testing.T, d storetest.Database, c catalog, raw *sql.DB, db *store.DB, p project.Project) {
	t.Helper()
	unit, mostIdle, most := "pages", 50, 500 // a page of SQLite counts as often as it is read
	if d.URL != "" {
		unit, mostIdle, most = "rows", 2*sweepLimit, 10*sweepLimit
	}
	for _, s := range sweepsOf(db, p) {
		check := func(name string, before time.Time, most int) {
			t.Helper()
			run := traceRolledBack(t, db, func(ctx context.Context) error { return s.run(ctx, before) })
			costs, err := measure(t, d, c, raw, run...)
			if err != nil {
				t.Fatalf("sweep of %s, %s: %v, in the statement\n%s", s.name, name, err, run[len(costs)].q)
			}
			for n, got := range costs {
				if got.read > most {
					t.Errorf("sweep of %s, %s: got %d %s read, want at most %d, in the statement\n%s", s.name, name, got.read, unit, most,
						run[n].q)
				}
			}
		}
		if !s.always {
			check("nothing is old", time.UnixMilli(1), mostIdle)
		}
		if !s.noLimit {
			check("everything is old", storetest.Room("").CreatedAt.AddDate(2, 0, 0), most)
		}
	}
}

// The calls of a block are larger than a page of SQLite, and a trim reads the sizes of all blocks of a project.
func TestTrimCalls_ReadsNoCallsOfBlocksThatStay(t *testing.T) {
	t.Parallel()
	const blocks, callsOfBlock = 200, 20
	d := storetest.Database{Dir: t.TempDir()}
	db := d.Open(t)
	p := storetest.Project(t, db)
	var all []requestlog.Block
	for i := range int64(blocks) {
		b := requestlog.Block{ProjectID: p.ID, API: "v5"}
		for j := range int64(callsOfBlock) {
			b.Calls = append(b.Calls, requestlog.NumberedCall{
				N:    i*callsOfBlock + j,
				Call: requestlog.Call{Status: 200, Path: strings.Repeat("/", 1000)},
			})
		}
		all = append(all, b)
	}
	ctx := storetest.Patient(t.Context())
	if err := db.InsertCalls(ctx, all); err != nil {
		t.Fatal(err)
	}
	run := traceRolledBack(t, db, func(ctx context.Context) error {
		return db.TrimCalls(ctx, p.ID, "v5", (blocks-1)*callsOfBlock)
	})
	costs, err := measure(t, d, catalog{}, d.Raw(t), run...)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range costs {
		if got.read > 6*blocks {
			t.Errorf("got %d pages read to trim %d blocks by one, want at most %d, in the statement\n%s", got.read, blocks,
				6*blocks, run[i].q)
		}
	}
}

// errRollBack ends a transaction that changes nothing.
var errRollBack = errors.New("roll back")

// traceRolledBack returns the statements of a transaction and rolls it back.
func traceRolledBack(t *testing.T, db *store.DB, work func(ctx context.Context) error) (run []traced) {
	t.Helper()
	err := db.Write(context.Background(), func(ctx context.Context) error {
		run = nil
		db.Trace(func(q string, args []any) { run = append(run, traced{q, args}) })
		defer db.Trace(nil)
		return errors.Join(work(ctx), errRollBack)
	})
	if !errors.Is(err, errRollBack) || err.Error() != errRollBack.Error() {
		t.Fatal(err)
	}
	return run
}
