package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
	"parley/internal/webhook"
)

// checkRowsRead fails if a list reads many more rows than it returns. It finds what
// the plan of a statement does not show: a search by one column that reads all rows of
// a project, or of all projects, to filter or to sort them. Only PostgreSQL counts the rows.
// ended is the number of ended rooms of the project.
func checkRowsRead(t *testing.T, c catalog, raw *sql.DB, db *store.DB, p project.Project, ended int) {
	t.Helper()
	const limit = 20
	const most = 500 // rows; a large project has three times as many rooms, and thirty times as many deliveries
	ctx := context.Background()
	var run []traced
	db.Trace(func(q string, args []any) { run = append(run, traced{q, args}) })
	check := func(name string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, s := range run {
			rows := rowsRead(t, c, raw, s)
			if rows > most {
				t.Errorf("%s: got %.0f rows read, want at most %d\n%s %v", name, rows, most, s.q, s.args)
			}
		}
		run = nil
	}
	past, _, err := db.PastRooms(ctx, p.ID, room.PastQuery{Offset: ended / 2, Limit: limit})
	check("past rooms from the middle", err)
	middle := past[0].ID
	events, err := db.DeliveredEvents(ctx, middle, 0, 1)
	check("events of a room", err)
	for _, projectID := range []string{"", p.ID} {
		for _, before := range []string{"", middle} {
			for _, state := range []room.State{"", room.Scheduled, room.Open, room.Active, room.Ended, room.Cancelled,
				room.Expired} {
				_, err := db.List(ctx, room.ListQuery{ProjectID: projectID, State: state, Before: before, Limit: limit})
				check(fmt.Sprintf("rooms of project %q in state %q before %q", projectID, state, before), err)
				_, err = db.List(ctx, room.ListQuery{
					ProjectID:    projectID,
					ClientRoomID: "lesson-7",
					State:        state,
					Before:       before,
					Limit:        limit,
				})
				check(fmt.Sprintf("client_room_id in project %q and state %q before %q", projectID, state, before), err)
				_, err = db.List(ctx, room.ListQuery{
					ID:        middle,
					ProjectID: projectID,
					State:     state,
					Before:    before,
					Limit:     limit,
				})
				check(fmt.Sprintf("room by ID in project %q and state %q before %q", projectID, state, before), err)
			}
		}
		for _, of := range []webhook.Filter{{}, {RoomID: middle}, {EventID: events[0].ID}} {
			for _, state := range []webhook.State{"", webhook.Pending, webhook.Delivered, webhook.Failed, webhook.Gone} {
				for _, cursor := range []string{"", middle} {
					f := webhook.Filter{
						ProjectID: projectID,
						RoomID:    of.RoomID,
						EventID:   of.EventID,
						State:     state,
						Cursor:    cursor,
						Limit:     limit,
					}
					found, err := db.Deliveries(ctx, f)
					check(fmt.Sprintf("deliveries %+v", f), err)
					var ids []string
					for _, d := range found {
						ids = append(ids, d.ID)
					}
					_, err = db.LastStatuses(ctx, ids)
					check(fmt.Sprintf("last statuses of deliveries %+v", f), err)
				}
			}
			if of != (webhook.Filter{}) {
				of.ProjectID, of.OldestFirst, of.Limit = projectID, true, limit
				_, err := db.Deliveries(ctx, of)
				check(fmt.Sprintf("replay %+v", of), err)
			}
		}
	}
	for _, q := range []room.PastQuery{{}, {Offset: ended - 10}, {Ascending: true}, {Ascending: true, Offset: ended - 10},
		{IDs: []string{middle}}} {
		q.Limit = limit
		_, _, err := db.PastRooms(ctx, p.ID, q)
		check(fmt.Sprintf("past rooms %+v", q), err)
	}
	for _, q := range blockQueries(p.ID) {
		err = readCalls(ctx, db, q)
		check(fmt.Sprintf("calls %+v", q), err)
	}
	_, _, err = db.SearchCalls(ctx, requestlog.BlockPosition{}, math.MaxInt64, requestlog.Filter{}, limit)
	check("calls of all projects", err)
	_, err = db.Rejections(ctx, time.Time{}, requestlog.RejectionCount{}, limit)
	check("rejected calls", err)
	_, err = db.List(ctx, room.ListQuery{ProjectID: p.ID, CreatedUntil: past[0].CreatedAt, Limit: limit})
	check("rooms created until a time", err)
	_, err = db.PeopleOfRooms(ctx, []string{middle, past[1].ID})
	check("people of rooms", err)
	_, err = db.RoomEvents(ctx, middle, 0, 1)
	check("all events of a room", err)
	for _, after := range []string{"", middle} {
		for _, organizationID := range []string{"", p.OrganizationID} {
			_, err := db.Projects(ctx, project.ListQuery{OrganizationID: organizationID, After: after, Limit: limit})
			check(fmt.Sprintf("projects of organization %q after %q", organizationID, after), err)
		}
		_, err := db.Organizations(ctx, after, limit)
		check(fmt.Sprintf("organizations after %q", after), err)
	}
	for name, list := range map[string]func() error{
		"running rooms":        func() error { _, err := db.RunningRooms(ctx, p.ID); return err },
		"due rooms":            func() error { _, err := db.DueRooms(ctx, time.Now(), limit); return err },
		"attendance of a room": func() error { _, err := db.AttendanceRecords(ctx, middle); return err },
		"attendance of connections": func() error {
			_, err := db.AttendanceOfConnections(ctx, middle, []string{"PA_1", "PA_2"})
			return err
		},
		"attendance of projects": func() error { _, err := db.CurrentAttendanceRecords(ctx, p.ID, ""); return err },
		"ending overlaps": func() error {
			_, err := db.EndingOverlaps(ctx, "", time.Now(), time.Now().Add(time.Hour), limit)
			return err
		},
		"live figures":        func() error { _, err := db.Live(ctx, ""); return err },
		"live figures of one": func() error { _, err := db.Live(ctx, p.ID); return err },
		"loads of nodes":      func() error { _, err := db.NodeLoads(ctx); return err },
		"live sessions":       func() error { _, err := db.Sessions(ctx, room.SessionLive); return err },
		"pending streams":     func() error { _, err := db.PendingStreams(ctx, webhook.Retry{ProjectID: p.ID}); return err },
		"due buckets":         func() error { _, err := db.DueBuckets(ctx, time.Now()); return err },
	} {
		check(name, list())
	}
}

// blockQueries are queries for all calls and for the rejected ones of a project, of all APIs and of one.
func blockQueries(projectID string) (all []requestlog.BlockQuery) {
	for _, api := range []string{"", "v5"} {
		for _, rejected := range []bool{false, true} {
			all = append(all, requestlog.BlockQuery{
				ProjectID:  projectID,
				API:        api,
				FirstBelow: math.MaxInt64,
				LastBelow:  math.MaxInt64,
				Limit:      20,
				Rejected:   rejected,
			})
		}
	}
	return all
}

// readCalls reads all calls of the blocks that q selects.
func readCalls(ctx context.Context, db *store.DB, q requestlog.BlockQuery) error {
	return db.Calls(ctx, q, func(b requestlog.StoredBlock) error {
		for _, err := range b.Calls {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// checkRejectedCalls fails if SQLite, which counts no rows, does not list rejected calls by the indexes that have no
// accepted blocks.
func checkRejectedCalls(t *testing.T, raw *sql.DB, db *store.DB, p project.Project) {
	t.Helper()
	for _, q := range blockQueries(p.ID) {
		var run []traced
		db.Trace(func(q string, args []any) { run = append(run, traced{q, args}) })
		err := readCalls(context.Background(), db, q)
		db.Trace(nil)
		if err != nil || len(run) != 1 {
			t.Fatalf("calls %+v: got %d statements, %v, want one", q, len(run), err)
		}
		var id, parent, unused int
		var detail string
		err = raw.QueryRow("EXPLAIN QUERY PLAN "+run[0].q, run[0].args...).Scan(&id, &parent, &unused, &detail)
		if err != nil || strings.Contains(detail, "INDEX request_log_rejected") != q.Rejected {
			t.Errorf("calls %+v: got the plan %q, %v, want an index of rejected calls: %t", q, detail, err, q.Rejected)
		}
	}
}

// traced is a statement with its arguments.
type traced struct {
	q    string
	args []any
}

// rowsRead returns the number of rows of growing tables that a statement reads.
func rowsRead(t *testing.T, c catalog, raw *sql.DB, s traced) float64 {
	t.Helper()
	return c.rowsRead(explainJSON(t, raw, "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+s.q, s.args...))
}

// rowsRead returns the number of rows of growing tables that a plan has read.
func (c catalog) rowsRead(plan planNode) (rows float64) {
	plan.walk(func(n planNode) {
		if strings.HasSuffix(n.Type, "Scan") && (c.growing[n.Table] || c.growingIndex(n.Index)) {
			rows += (n.Rows + n.Filtered) * n.Loops
		}
	})
	return rows
}

// checkPeriod fails if a list of the deliveries of a few hours in the middle of the history reads more of
// the index than these. Rows that an index rejects are not counted by rowsRead, but their blocks are.
func checkPeriod(t *testing.T, raw *sql.DB, db *store.DB, p project.Project) {
	t.Helper()
	const most = 100 // blocks; the index of a project has about 300, and twenty rows are in as many blocks
	middle := storetest.Room("").CreatedAt.AddDate(0, -1, 0)
	for _, f := range []webhook.Filter{{ProjectID: p.ID}, {ProjectID: p.ID, State: webhook.Delivered}, {}} {
		for _, f.OldestFirst = range []bool{false, true} {
			f.Since, f.Before, f.Limit = middle, middle.Add(2*time.Hour), 20
			var run []traced
			db.Trace(func(q string, args []any) { run = append(run, traced{q, args}) })
			found, err := db.Deliveries(context.Background(), f)
			db.Trace(nil)
			if err != nil || len(found) == 0 {
				t.Fatalf("deliveries of %+v: got %d, %v, want some", f, len(found), err)
			}
			s := run[0]
			plan := explainJSON(t, raw, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+s.q, s.args...)
			if plan.Hit+plan.Read > most {
				t.Errorf("deliveries of %+v: got %.0f blocks read, want at most %d, in the statement\n%s", f, plan.Hit+plan.Read,
					most, s.q)
			}
		}
	}
}

// checkEmptyProject fails if what reads a part of the rows of a project reads those of others when one
// project has all rows of a table and another has none. PostgreSQL then expects the rows of any project
// wherever it looks.
func checkEmptyProject(t *testing.T, c catalog, raw *sql.DB, db *store.DB, p project.Project) {
	t.Helper()
	const most = 50 // rows; the tables have thousands
	ctx := context.Background()
	for _, table := range []string{"webhook_deliveries", "audit", "request_log"} {
		if _, err := raw.Exec(`DELETE FROM `+table+` WHERE project_id <> $1`, p.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := raw.Exec(`VACUUM ANALYZE`); err != nil {
		t.Fatal(err)
	}
	empty := storetest.Project(t, db)
	for name, read := range map[string]func() error{
		"the oldest data": func() error {
			_, err := db.OldestData(ctx, []string{empty.ID})
			return err
		},
		"the deletion of deliveries": func() error {
			return db.Write(ctx, func(ctx context.Context) error {
				_, err := db.DeleteDeliveries(ctx, empty.ID, time.Now(), 20)
				return err
			})
		},
		"deliveries": func() error {
			_, err := db.Deliveries(ctx, webhook.Filter{ProjectID: empty.ID, Limit: 20})
			return err
		},
		"deliveries of a period": func() error {
			_, err := db.Deliveries(ctx, webhook.Filter{ProjectID: empty.ID, Since: time.UnixMilli(1), Limit: 20,
				OldestFirst: true})
			return err
		},
		"the audit log": func() error {
			_, err := db.AuditEntries(ctx, audit.Query{ProjectID: empty.ID, Limit: 20})
			return err
		},
		"calls": func() error {
			return readCalls(ctx, db, requestlog.BlockQuery{ProjectID: empty.ID, FirstBelow: math.MaxInt64,
				LastBelow: math.MaxInt64, Limit: 20})
		},
	} {
		var run []traced
		db.Trace(func(q string, args []any) { run = append(run, traced{q, args}) })
		err := read()
		db.Trace(nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, s := range run {
			rows := rowsRead(t, c, raw, s)
			if rows > most {
				t.Errorf("%s of a project without any: got %.0f rows read, want at most %d, in the statement\n%s", name, rows, most,
					s.q)
			}
		}
	}
}

// checkBusyDay fails if a page of past rooms of two days reads those between it and the farther edge of their day.
func checkBusyDay(t *testing.T, c catalog, raw *sql.DB, db *store.DB) {
	t.Helper()
	const ofDay, rooms, limit = 500, 1000, 20
	const most = 3 * limit // rows
	ctx := context.Background()
	p := storetest.Project(t, db)
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, start := range []time.Time{day.Add(9 * time.Hour), day.Add(33 * time.Hour)} {
		storetest.Fill(t, db, p.ID, ofDay, start, start.Add(8*time.Hour), 1)
	}
	all, _, err := db.PastRooms(ctx, p.ID, room.PastQuery{Limit: rooms})
	if err != nil || len(all) != rooms {
		t.Fatalf("past rooms: got %d, %v, want %d", len(all), err, rooms)
	}
	for _, ascending := range []bool{false, true} {
		for _, from := range []int{0, limit, ofDay - limit, ofDay - limit/2, ofDay, rooms - 2*limit, rooms - limit} {
			var run []traced
			db.Trace(func(q string, args []any) { run = append(run, traced{q, args}) })
			page, total, err := db.PastRooms(ctx, p.ID, room.PastQuery{Offset: from, Limit: limit, Ascending: ascending})
			db.Trace(nil)
			if err != nil || total != rooms || !slices.Equal(page, all[from:from+limit]) {
				t.Errorf("past rooms from %d, ascending %t: got %d of %d, %v, want those of the whole list", from, ascending,
					len(page), total, err)
			}
			// The other statements add up the days, and read the rooms of the page.
			pages := slices.DeleteFunc(run, func(s traced) bool { return !strings.Contains(s.q, " OFFSET ") })
			if len(pages) == 0 {
				t.Fatalf("past rooms: got %d statements, want one with OFFSET", len(run))
			}
			for _, s := range pages {
				if rows := rowsRead(t, c, raw, s); rows > most {
					t.Errorf("past rooms from %d, ascending %t: got %.0f rows read, want at most %d, in the statement\n%s", from,
						ascending, rows, most, s.q)
				}
			}
		}
		slices.Reverse(all)
	}
}

// checkKeptPlans fails if PostgreSQL plans a list of rooms, or a read of the usage, again for each call, which takes
// longer than the call. It does so if a plan for all values looks expensive to it.
func checkKeptPlans(t *testing.T, raw *sql.DB, db *store.DB, p project.Project, ended int) {
	t.Helper()
	ctx := context.Background()
	var run []traced
	db.Trace(func(q string, args []any) { run = append(run, traced{q, args}) })
	past, _, err := db.PastRooms(ctx, p.ID, room.PastQuery{Offset: ended / 2, Limit: 20})
	if err != nil || len(past) == 0 || len(run) == 0 {
		t.Fatalf("past rooms: got %d, %v, want some", len(past), err)
	}
	rows := run[len(run)-1] // the statements before it find the page
	run = nil
	for _, before := range []string{"", past[0].ID} { // of larger pages, a plan for few rooms is not cheaper
		if _, err := db.List(ctx, room.ListQuery{ProjectID: p.ID, Before: before, Limit: 20 + 1}); err != nil {
			t.Fatal(err)
		}
	}
	end := storetest.Room("").CreatedAt
	for _, projectID := range []string{"", p.ID} {
		of := usage.Scope{OrganizationID: p.OrganizationID, ProjectID: projectID}
		_, err := db.UsageDays(ctx, of, end.AddDate(0, -1, 0), end)
		_, hoursErr := db.UsageHours(ctx, of, end.AddDate(0, 0, -1), end)
		_, latestErr := db.LatestUsageHour(ctx, of, end)
		_, movesErr := db.UsageMoves(ctx, of, end.Add(-time.Hour), end)
		if err := errors.Join(err, hoursErr, latestErr, movesErr); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range append(run, rows) {
		requireKeptPlan(t, raw, s)
	}
}

func requireKeptPlan(t *testing.T, raw *sql.DB, s traced) {
	t.Helper()
	exec := func(q string) {
		t.Helper()
		if _, err := raw.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	literals := make([]string, len(s.args))
	for i, arg := range s.args {
		literals[i] = literal(t, arg)
	}
	exec("PREPARE s AS " + s.q)
	defer exec("DEALLOCATE s")
	for range 6 { // PostgreSQL makes five plans for the values before it considers one for all
		exec("EXECUTE s(" + strings.Join(literals, ", ") + ")")
	}
	var kept int
	if err := raw.QueryRow(`SELECT generic_plans FROM pg_prepared_statements WHERE name = 's'`).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if kept == 0 {
		t.Errorf("PostgreSQL plans again for each call, want a plan that it keeps, of the statement\n%s", s.q)
	}
}
