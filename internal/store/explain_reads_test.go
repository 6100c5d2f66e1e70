package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"

	"parley/internal/project"
	"parley/internal/store/storetest"
)

// checkReads fails if a statement of the suite reads much more than it returns when its project is the large one.
// PostgreSQL counts the rows, and SQLite the pages. It finds what a plan does not show: a search that reads all rows of
// a project or of an organization to filter or to sort them, and an index that SQLite builds for one statement.
func checkReads(t *testing.T, d storetest.Database, c catalog, raw *sql.DB, run *statements, p project.Project) {
	t.Helper()
	// The large project has 1,500 rooms. To find a row by an index and to read it takes about ten pages.
	unit, most, mostForRow := "pages", 300, 10
	if d.URL != "" {
		unit, most, mostForRow = "rows", 1000, 3
	}
	measured := 0
	for q, lists := range run.args {
		if isExcused(q) || strings.Contains(q, "unnest(") { // the arguments of unnest are not those of its statement
			continue
		}
		verb, _, _ := strings.Cut(strings.TrimSpace(q), " ")
		for i, args := range lists {
			if len(args) > maxExplainedArgs || slices.Contains(args, any(time.Time{}.UnixMilli())) {
				continue
			}
			costs, err := measure(t, d, c, raw, traced{q, withFilledProject(q, args, p)})
			if err != nil && (verb == "INSERT" || verb == "DELETE") {
				continue // the rows that it refers to are missing, it exists, or others refer to it
			}
			if err != nil {
				t.Fatalf("%v, in the statement\n%s %v", err, q, args)
			}
			if i == 0 {
				measured++
			}
			if got := costs[0]; got.read > most+mostForRow*got.returned {
				t.Errorf("got %d %s read for %d rows, want at most %d, in the statement\n%s %v", got.read, unit, got.returned,
					most+mostForRow*got.returned, q, args)
			}
		}
	}
	if measured < len(run.args)/2 {
		t.Errorf("got %d of %d statements measured, want at least half of them", measured, len(run.args))
	}
}

// cost is what a statement has read: pages of SQLite, each as often as it was read, or rows of growing tables of
// PostgreSQL. returned is the number of rows that it returned.
type cost struct{ read, returned int }

// measure runs statements in one transaction, and rolls it back. It returns what each has read, until one fails.
func measure(
	t *testing.T, d storetest.Database, c catalog, raw *sql.DB, run ...traced,
) (costs []cost, err error) {
	t.Helper()
	conn, err := raw.Conn(t.Context()) // a pool of PostgreSQL would replace a connection in a transaction
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	exec := func(q string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	read := func(s traced) (cost, error) {
		if d.URL == "" {
			return pagesRead(t, conn, s)
		}
		plan, err := explain(conn, "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+s.q, s.args...)
		return cost{int(c.rowsRead(plan)), int(plan.Rows)}, err
	}
	exec("BEGIN")
	defer exec("ROLLBACK")
	for _, s := range run {
		got, err := read(s)
		if err != nil {
			return costs, err
		}
		costs = append(costs, got)
	}
	return costs, nil
}

func pagesRead(t *testing.T, conn *sql.Conn, s traced) (got cost, err error) {
	t.Helper()
	count := func() (n int) {
		t.Helper()
		err := conn.Raw(func(driver any) error {
			status, ok := driver.(sqlite.DBStatus)
			if !ok {
				return fmt.Errorf("%T has no counters", driver)
			}
			for _, op := range []sqlite.DBStatusOp{sqlite.DBStatusCacheHit, sqlite.DBStatusCacheMiss} {
				current, _, err := status.Status(op, false)
				if err != nil {
					return err
				}
				n += current
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	began := count()
	rows, err := conn.QueryContext(context.Background(), s.q, s.args...) // Query, so that all rows of RETURNING are read
	if err != nil {
		return got, err
	}
	for rows.Next() {
		got.returned++
	}
	err = errors.Join(rows.Err(), rows.Close())
	got.read = count() - began
	return got, err
}
