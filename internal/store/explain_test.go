package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	engine "parley/internal/db"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

// notGrowing are the tables that may be read as a whole, each with the reason why they stay
// small. All other tables grow.
var notGrowing = map[string]string{
	"acme_files":        "a domain has a few",
	"acme_locks":        "a row while a certificate is obtained",
	"api_keys":          "a project has a few; retired ones are deleted",
	"audit_chain":       "it has one row",
	"connection_checks": "an operator creates each; it is deleted after a day",
	"console_users":     "an operator creates each",
	"daily_quotas":      "a project has three at most",
	"key_callers":       "a project has four at most",
	"knocks":            "a row stays for the wait in front of a room and minutes after it",
	"management_tokens": "an operator creates each",
	"metadata":          "it has a few fixed names",
	"nodes":             "a row for each node, deleted soon after the node stopped",
	"project_logos":     "a project has one",
	"project_secrets":   "a project has a few; retired ones are deleted",
	"usage_progress":    "an organization has one",
	"webhook_targets":   "a row for each URL that fails",
}

// bounded are the partial indexes that contain only rows of what has not ended yet, so
// that reading all of one is no scan.
var bounded = []string{"attendance_node", "attendance_present", "past_room_counts_unmerged", "rooms_due",
	"sessions_unclosed", "webhook_deliveries_pending", "webhook_streams_due"}

// mayScan are the statements that may read a growing table or index without a condition,
// or with the project as the only one, each with a reason. A statement is recognized by a
// part of its text.
var mayScan = map[string]string{
	"FROM rooms ORDER BY id DESC LIMIT":                "without a filter it reads the rows that it returns",
	"FROM webhook_deliveries  ORDER BY id DESC":        "without a filter it reads the rows that it returns",
	"FROM console_sessions ORDER BY id DESC LIMIT":     "without a filter it reads the rows that it returns",
	"SELECT EXISTS (SELECT 1 FROM rooms":               "it stops at the first row, here one of the first in the table",
	"FROM attendance WHERE room_id = $1 ORDER":         "only tests read the whole attendance of a room",
	"FROM project_events\n\t\t\tWHERE project_id = $1": "only tests read the events of a project",

	"FROM rooms WHERE project_id = $1 ORDER BY created_at DESC, id DESC LIMIT": "it reads the rows that it returns",
	"FROM webhook_streams WHERE project_id = $1 ORDER BY room_id LIMIT":        "it reads the rows that it deletes",
	"FROM client_room_ids WHERE project_id = $1 ORDER BY client_room_id LIMIT": "it reads the rows that it deletes",
	"FROM project_events WHERE project_id = $1 ORDER BY sequence LIMIT":        "it reads the rows that it deletes",
	"FROM organizations WHERE id > $1 ORDER BY id LIMIT":                       "without a limit it returns all",
	"FROM projects WHERE id > $1 ORDER BY id LIMIT":                            "without a limit it returns all",
	"FROM projects UNION ALL SELECT '') AS p":                                  "once an hour it visits each project",
	"DELETE FROM call_totals WHERE at <":                                       "a project has 24 rows, those of two hours",
	"SELECT DISTINCT organization_id FROM usage_late_reports":                  "rollups then delete the rows that it reads",
	"DELETE FROM request_log WHERE project_id":                                 "a project has few rows of many calls",
	"FROM past_room_counts":                                                    "a project has a row for each day",
	"SELECT min(at) FROM (":                                                    "the index is in the order of min",
	"SELECT coalesce(max(sequence), 0) FROM project_events":                    "the index is in the order of max",
}

// maxExplainedArgs is the largest number of arguments of a statement that is explained,
// because a table of a few thousand rows is rightly read as a whole for a long list of IDs.
const maxExplainedArgs = 40

// statements are the statements that a database has run, with some of their arguments.
type statements struct {
	mu   sync.Mutex
	args map[string][][]any // by text
}

// add is a function for db.DB.Trace.
func (s *statements) add(q string, args []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.args == nil {
		s.args = map[string][][]any{}
	}
	const kept = 3 // lists of arguments
	if len(s.args[q]) < kept {
		s.args[q] = append(s.args[q], args)
	}
}

// checkPlans fails if a statement scans a table that grows, on a database with
// thousands of rows in each of them.
func checkPlans(t *testing.T, d storetest.Database, run *statements) {
	t.Helper()
	db := d.Open(t)
	p, other, small := fillAll(t, d, db)
	scans := sqliteScans
	if d.URL != "" {
		scans = postgresScans
	}
	raw := d.Raw(t)
	c := readCatalog(t, d, db, raw)
	raw.SetMaxOpenConns(1) // prepared statements of PostgreSQL belong to a connection
	texts := slices.Collect(maps.Keys(run.args))
	for part := range mayScan {
		if !slices.ContainsFunc(texts, func(q string) bool { return strings.Contains(q, part) }) {
			t.Errorf("mayScan excuses %q, want a part of a statement that runs", part)
		}
	}
	for q, lists := range run.args {
		var found []string
		for _, args := range lists {
			if len(args) > maxExplainedArgs {
				continue
			}
			if slices.Contains(args, any(time.Time{}.UnixMilli())) {
				continue // reads all usage of an organization, once after the upgrade to rollups
			}
			found = append(found, scans(t, c, raw, q, withFilledProject(q, args, p))...)
		}
		slices.Sort(found)
		for _, scan := range slices.Compact(found) {
			if !isExcused(q) {
				t.Errorf("got the scan %s, want none, in the statement\n%s", scan, q)
			}
		}
	}
	if d.URL != "" {
		checkRowsRead(t, c, raw, db, p, largeProject)
		checkRowsRead(t, c, raw, db, other, largeProject)
		checkRowsRead(t, c, raw, db, small, smallProject)
		checkEmptyProject(t, raw, db, p)
	}
}

// minFilled is the number of rows of each growing table from which a plan shows a scan.
const minFilled = 500

// catalog names the tables of a database that grow.
type catalog struct {
	growing map[string]bool
	table   map[string]string // by index, on PostgreSQL
}

// readCatalog reads the catalog of a filled database. It fails the test if fillAll forgets a
// growing table, or if notGrowing names one that does not exist.
func readCatalog(t *testing.T, d storetest.Database, db *store.DB, raw *sql.DB) catalog {
	t.Helper()
	c := catalog{growing: map[string]bool{}, table: map[string]string{}}
	var rows map[string]int64
	err := db.ReadSnapshot(context.Background(), func(r *engine.Reader) (err error) {
		rows, err = r.CountRows(context.Background())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for table, n := range rows {
		if _, excepted := notGrowing[table]; excepted {
			continue
		}
		c.growing[table] = true
		if n < minFilled {
			t.Errorf("the table %s: got %d rows, want at least %d: fill it in fillAll, or give a reason in notGrowing",
				table, n, minFilled)
		}
	}
	for table := range notGrowing {
		if _, exists := rows[table]; !exists {
			t.Errorf("notGrowing: got %s, want only tables that exist", table)
		}
	}
	if d.URL == "" {
		return c
	}
	indexes, err := raw.Query(`SELECT indexname, tablename FROM pg_indexes WHERE schemaname = current_schema()`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = indexes.Close() }()
	for indexes.Next() {
		var index, table string
		if err := indexes.Scan(&index, &table); err != nil {
			t.Fatal(err)
		}
		c.table[index] = table
	}
	if err := indexes.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// growingIndex reports whether an index is of a table that grows.
func (c catalog) growingIndex(index string) bool { return c.growing[c.table[index]] }

func isExcused(q string) bool {
	for part := range mayScan {
		if strings.Contains(q, part) {
			return true
		}
	}
	return false
}

var projectParam = regexp.MustCompile(`\b(project_id|organization_id)(?: \|\| '')? (?:=|IN|BETWEEN) \(?\$(\d+)`)

// withFilledProject replaces the project and the organization among the arguments,
// because PostgreSQL plans differently for one with many rows.
func withFilledProject(q string, args []any, p project.Project) []any {
	args = slices.Clone(args)
	for _, param := range projectParam.FindAllStringSubmatch(q, -1) {
		n, _ := strconv.Atoi(param[2])
		if args[n-1] = p.ID; param[1] == "organization_id" {
			args[n-1] = p.OrganizationID
		}
	}
	return args
}

// The numbers of meetings of the projects of fillAll. The small project has fewer rooms than a page,
// so that a statement that walks the rooms of all projects reads all of them.
const (
	largeProject = 1500
	smallProject = 12
)

// tenTimes is a relation of ten rows with a number in column1.
const tenTimes = `(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS copies`

// fillAll fills an empty database and returns a large project, another one whose organization has
// hundreds of projects, and a small one. The rooms of the three lie between each other.
func fillAll(t *testing.T, d storetest.Database, db *store.DB) (p, other, small project.Project) {
	t.Helper()
	ctx := context.Background()
	end := storetest.Room("").CreatedAt
	p, other, small = storetest.Project(t, db), storetest.Project(t, db), storetest.Project(t, db)
	for i, of := range []project.Project{p, other, small} {
		n := largeProject
		if of.ID == small.ID {
			n = smallProject
		}
		storetest.Fill(t, db, of.ID, n, end.AddDate(0, -2, 0), end, uint64(i))
		for range 10 {
			err := db.Write(ctx, func(ctx context.Context) error { return db.InsertRoom(ctx, storetest.Room(of.ID)) })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	merged := 1
	for merged > 0 {
		err := db.Write(ctx, func(ctx context.Context) (err error) {
			merged, err = db.MergePastRoomCounts(ctx, largeProject)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	raw := d.Raw(t)
	for _, q := range []string{
		`UPDATE rooms SET state = 'cancelled' WHERE ended_at % 500 = 0`,
		`INSERT INTO webhook_streams
				(id, project_id, room_id, url, replay, bucket, enqueued, last_sequence, due_at, lease_id, updated_at)
			SELECT id, project_id, id, 'https://example.com/hook', '', project_id || ' example.com', 10, 10,
				CASE WHEN ended_at IS NULL THEN created_at END, '', created_at + 31536000000 FROM rooms`,
		`INSERT INTO webhook_deliveries (id, stream_id, position, event_id, project_id, room_id, url, type, sequence,
				previous, body, replay, state, attempts, step, created_at, done_at)
			SELECT e.id, e.room_id, e.sequence, e.id, r.project_id, e.room_id, 'https://example.com/hook', e.type,
				e.sequence, e.sequence - 1, '{"some":"text"}', FALSE,
				CASE WHEN at % 500 = 0 THEN 'failed' WHEN at % 501 = 0 THEN 'pending' ELSE 'delivered' END, 1, 1, at, at
			FROM events e JOIN rooms r ON r.id = e.room_id`,
		`INSERT INTO webhook_attempts (delivery_id, n, at, duration, status, error, response_body)
			SELECT id, 1, created_at, 20, 204, '', '' FROM webhook_deliveries`,
		`INSERT INTO links (id, room_id, token_hash, role, single_use, name, user_id, hidden, redeemed_by, created_at)
			SELECT id, id, id, 'guest', FALSE, '', '', FALSE, '', created_at FROM rooms`,
		`INSERT INTO host_actions (room_id, n, sequence, at, kind, by_seat, by_name, by_role, target_seat, target_name,
				target_role, details)
			SELECT id, 1, 1, created_at, 'host.muted', id, 'Ada', 'host', id, 'Ben', 'guest', '{}' FROM rooms`,
		`INSERT INTO breakouts (room_id, n, name, session, opened_at, closed_at)
			SELECT id, 1, 'One', 2, created_at, ended_at FROM rooms`,
		`INSERT INTO idempotency_records (id, body_hash, sealed_text, expires_at)
			SELECT id, id, '', created_at + 31536000000 FROM rooms`,
		// More rows, because PostgreSQL rightly reads a table of a few thousand as a whole for a batch.
		`INSERT INTO rejected_calls (day, api, cause, address, calls, last_at)
			SELECT created_at, 'v3', 'unknown_key', id || column1, 1, created_at FROM rooms CROSS JOIN ` + tenTimes,
		`INSERT INTO console_sessions (id, secret_hash, token_id, user_id, name, role, project_ids, created_at, expires_at)
			SELECT id || column1, id || column1, id, '', '', '', '', created_at, created_at + 43200000
			FROM rooms CROSS JOIN ` + tenTimes,
		`INSERT INTO counts (subject, period, n, last_at) SELECT id, 'total', 1, created_at FROM rooms`,
		`INSERT INTO project_events (id, project_id, sequence, type, at, data)
			SELECT id, project_id, row_number() OVER (PARTITION BY project_id ORDER BY id), 'type', created_at, '{}' FROM rooms`,
		`INSERT INTO audit (n, at, actor_kind, actor_id, actor_name, request_id, address, node, action, subject,
				project_id, before, after, prev_hash, hash)
			SELECT (SELECT n FROM audit_chain) + row_number() OVER (ORDER BY id), created_at, 'service', '', '', '', '', '',
				'room.ended', id, project_id, '{}', '{}', '', '' FROM rooms`,
		`UPDATE audit_chain SET n = (SELECT max(n) FROM audit)`,
		`INSERT INTO client_room_ids (project_id, client_room_id) SELECT project_id, id FROM rooms`,
		`INSERT INTO call_totals (project_id, at, accepted, rejected)
			SELECT project_id, at, count(*), 0 FROM
				(SELECT project_id, created_at - created_at % 300000 + 31536000000 AS at FROM rooms) AS r GROUP BY 1, 2`,
		// Many projects or organizations, the id of each is that of a room, because these
		// tables are read by project or organization and have few rows for each.
		`INSERT INTO organizations (id, name, billing, created_at) SELECT id, 'Acme', 'plan', created_at FROM rooms`,
		`INSERT INTO projects (id, organization_id, name, status, settings, created_at)
			SELECT r.id, CASE WHEN ended_at % 2 = 0 THEN p.organization_id ELSE r.id END, 'Lessons', 'active', '{}', r.created_at
			FROM rooms r JOIN projects p ON p.id = r.project_id WHERE r.project_id <> '` + p.ID + `'`,
		`INSERT INTO usage_late_reports (id, organization_id, hour) SELECT id, id, created_at FROM rooms`,
		`INSERT INTO request_log (project_id, n, first_n, size, calls) SELECT id, 1, 1, 1, '[]' FROM rooms`,
		`INSERT INTO past_room_counts (project_id, day, id, rooms) SELECT id, 0, '', 1 FROM rooms`,
		`INSERT INTO usage_hours (organization_id, project_id, hour, audio_base, video_base, audio_change, video_change,
				audio_millis, video_millis, rise, rooms, sessions)
			SELECT organization_id, project_id, rooms.created_at - rooms.created_at % 3600000, 0, 0, 0, 0, 0, 0, 0,
				count(*), 0 FROM rooms JOIN projects ON projects.id = project_id GROUP BY 1, 2, 3`,
		`INSERT INTO usage_days (organization_id, project_id, day, audio_change, video_change, audio_millis, video_millis,
				rise, rooms, sessions)
			SELECT organization_id, project_id, hour, 0, 0, 0, 0, 0, rooms, 0 FROM usage_hours`,
	} {
		if _, err := raw.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	if d.URL != "" {
		if _, err := raw.Exec(`VACUUM ANALYZE`); err != nil {
			t.Fatal(err)
		}
	}
	return p, other, small
}

// sqliteScan matches a step that reads a whole table or index, or all rows of a project.
var sqliteScan = regexp.MustCompile(
	`^(?:SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?|SEARCH (\w+) USING (?:COVERING )?INDEX (\w+) \(project_id=\?\)$)`)

// sqliteScans returns the steps of the statement's plan that scan a growing table, or all
// rows of a project in it.
func sqliteScans(t *testing.T, c catalog, raw *sql.DB, q string, args []any) []string {
	t.Helper()
	if strings.Contains(q, "unnest(") { // only for PostgreSQL
		return nil
	}
	rows, err := raw.Query("EXPLAIN QUERY PLAN "+q, args...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	defer func() { _ = rows.Close() }()
	var found []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		scan := sqliteScan.FindStringSubmatch(detail)
		if scan == nil {
			continue
		}
		table, index := scan[1]+scan[3], scan[2]+scan[4]
		if slices.Contains(bounded, index) {
			continue
		}
		alias := regexp.MustCompile(`(?:FROM|JOIN) (\w+)(?: AS)? ` + table + `\b`).FindStringSubmatch(q)
		if alias != nil {
			table = alias[1]
		}
		if c.growing[table] {
			found = append(found, detail)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// planNode is a step in the plan of a statement on PostgreSQL.
type planNode struct {
	Type     string     `json:"Node Type"`
	Table    string     `json:"Relation Name"`
	Index    string     `json:"Index Name"`
	Cond     string     `json:"Index Cond"`
	Rows     float64    `json:"Actual Rows"` // the average of all loops, like Filtered
	Filtered float64    `json:"Rows Removed by Filter"`
	Loops    float64    `json:"Actual Loops"`
	Plans    []planNode `json:"Plans"`
}

// walk calls visit for each step of the plan.
func (n planNode) walk(visit func(planNode)) {
	visit(n)
	for _, child := range n.Plans {
		child.walk(visit)
	}
}

// postgresScans returns the steps that scan a growing table in the plans of the first
// six runs of a statement. PostgreSQL plans the first five for their arguments. From the
// sixth on it uses one plan for all arguments if that seems as cheap.
func postgresScans(t *testing.T, c catalog, raw *sql.DB, q string, args []any) []string {
	t.Helper()
	exec := func(q string) {
		t.Helper()
		if _, err := raw.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	literals := make([]string, len(args))
	for i, arg := range args {
		if literals[i] = "NULL"; !strings.Contains(q, "unnest(") {
			literals[i] = literal(t, arg)
		}
	}
	run := "s"
	if len(args) > 0 {
		run = "s(" + strings.Join(literals, ", ") + ")"
	}
	exec("PREPARE s AS " + q)
	defer exec("DEALLOCATE s")
	var found []string
	for range 6 {
		explainJSON(t, raw, "EXPLAIN (FORMAT JSON) EXECUTE "+run).walk(func(n planNode) {
			switch {
			case n.Type == "Seq Scan" && c.growing[n.Table]:
				found = append(found, n.Type+" on "+n.Table)
			case n.Index != "" && n.Cond == "" && !slices.Contains(bounded, n.Index) && c.growingIndex(n.Index):
				found = append(found, n.Type+" on all of "+n.Index)
			}
		})
	}
	return found
}

func explainJSON(t *testing.T, raw *sql.DB, q string, args ...any) planNode {
	t.Helper()
	var text string
	if err := raw.QueryRow(q, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan
}

// literal returns an argument as an SQL literal of PostgreSQL.
func literal(t *testing.T, arg any) string {
	t.Helper()
	if valuer, ok := arg.(driver.Valuer); ok {
		var err error
		if arg, err = valuer.Value(); err != nil {
			t.Fatal(err)
		}
	}
	switch v := reflect.ValueOf(arg); v.Kind() {
	case reflect.Invalid:
		return "NULL"
	case reflect.String:
		return "'" + strings.ReplaceAll(v.String(), "'", "''") + "'"
	case reflect.Slice:
		return fmt.Sprintf(`'\x%x'`, arg)
	default:
		return fmt.Sprint(arg)
	}
}

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
			rows := 0.0
			explainJSON(t, raw, "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+s.q, s.args...).walk(func(n planNode) {
				if strings.HasSuffix(n.Type, "Scan") && (c.growing[n.Table] || c.growingIndex(n.Index)) {
					rows += (n.Rows + n.Filtered) * n.Loops
				}
			})
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
					_, err := db.Deliveries(ctx, f)
					check(fmt.Sprintf("deliveries %+v", f), err)
				}
			}
			if of != (webhook.Filter{}) {
				of.ProjectID, of.Sent, of.OldestFirst, of.Limit = projectID, true, true, limit
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
	for _, api := range []string{"", "v5"} {
		_, err = db.Calls(ctx, requestlog.BlockQuery{
			ProjectID:  p.ID,
			API:        api,
			FirstBelow: math.MaxInt64,
			LastBelow:  math.MaxInt64,
			Limit:      limit,
		})
		check("calls of API "+api, err)
	}
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
		"running rooms":          func() error { _, err := db.RunningRooms(ctx, p.ID); return err },
		"due rooms":              func() error { _, err := db.DueRooms(ctx, time.Now(), limit); return err },
		"attendance of a room":   func() error { _, err := db.AttendanceRecords(ctx, middle); return err },
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

// traced is a statement with its arguments.
type traced struct {
	q    string
	args []any
}
