package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
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
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// notGrowing are the tables that may be read as a whole, each with the reason why they stay
// small. All other tables grow.
var notGrowing = map[string]string{
	"acme_files":        "a domain has a few",
	"acme_locks":        "a row while a certificate is obtained",
	"audit_chain":       "it has one row",
	"connection_checks": "an operator creates each; it is deleted after a day",
	"console_users":     "an operator creates each",
	"knocks":            "a row stays for the wait in front of a room and minutes after it",
	"management_tokens": "an operator creates each",
	"metadata":          "it has a few fixed names",
	"nodes":             "a row for each node, deleted soon after the node stopped",
	"webhook_targets":   "a row for each URL that fails; old ones are deleted",
}

// fewOfProject are the tables of which a project has a few rows, so that a statement may read all of one project.
var fewOfProject = []string{"api_keys", "daily_quotas", "key_callers", "project_logos", "project_secrets",
	"recent_key_callers"}

// bounded are the partial indexes that contain only rows of what has not ended yet, so
// that reading all of one is no scan.
var bounded = []string{"api_keys_one_overlap", "attendance_node", "attendance_present", "past_room_counts_unmerged",
	"project_secrets_one_overlap", "rooms_due", "sessions_unclosed", "webhook_deliveries_pending", "webhook_streams_due"}

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
	"FROM past_room_counts WHERE project_id = $1 ORDER BY day, id LIMIT":       "it reads the rows that it deletes",
	"FROM client_room_ids WHERE project_id = $1 ORDER BY client_room_id LIMIT": "it reads the rows that it deletes",
	"FROM project_events WHERE project_id = $1 ORDER BY sequence LIMIT":        "it reads the rows that it deletes",
	"FROM organizations WHERE id > $1 ORDER BY id LIMIT":                       "without a limit it returns all",
	"FROM projects WHERE id > $1 ORDER BY id LIMIT":                            "without a limit it returns all",
	"FROM projects UNION ALL SELECT '') AS p":                                  "once an hour it visits each project",
	"DELETE FROM call_totals WHERE at <":                                       "a project has 24 rows, those of two hours",
	"SELECT DISTINCT organization_id FROM usage_late_reports":                  "rollups then delete the rows that it reads",
	"DELETE FROM request_log WHERE project_id":                                 "a project has few rows of many calls",
	"AND n <= (SELECT max(n) FROM (":                                           "of a project the log keeps a bounded number of blocks",
	"SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM request_log":           "of a project the log keeps a bounded number of blocks",
	"SELECT id,\n\t\t\t(SELECT hour FROM usage_hours WHERE":                    "once a minute it visits each organization",
	store.SelectPastRoomCounts:                                                 "a project has a row for each day",
	"SELECT key_hash, project_id FROM api_keys":                                "the start reads the hashes of all keys",
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
	checkReads(t, d, c, raw, run, p)
	checkSweeps(t, d, c, raw, db, p)
	if d.URL != "" {
		checkRowsRead(t, c, raw, db, p, largeProject)
		checkRowsRead(t, c, raw, db, other, largeProject)
		checkKeptPlans(t, raw, db, p, largeProject)
		checkRowsRead(t, c, raw, db, small, smallProject)
		checkPeriod(t, raw, db, p)
		checkEmptyProject(t, c, raw, db, p)
		checkBusyDay(t, c, raw, db)
	} else {
		checkRejectedCalls(t, raw, db, p)
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

var projectParam = regexp.MustCompile(`\b(project_id|organization_id)(?: \|\| '')? (?:[<>]?=|IN|BETWEEN) \(?\$(\d+)`)

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
		isOfProject := scan[3] != ""
		if c.growing[table] && !(isOfProject && slices.Contains(fewOfProject, table)) {
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
	Hit      float64    `json:"Shared Hit Blocks"`
	Read     float64    `json:"Shared Read Blocks"`
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
	plan, err := explain(raw, q, args...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return plan
}

// rowQuerier is a connection or a pool.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row
}

func explain(raw rowQuerier, q string, args ...any) (planNode, error) {
	var text string
	if err := raw.QueryRowContext(context.Background(), q, args...).Scan(&text); err != nil {
		return planNode{}, err
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		return planNode{}, err
	}
	return plans[0].Plan, nil
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
