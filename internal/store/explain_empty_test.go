package store_test

import (
	"context"
	"database/sql"
	"math"
	"strings"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

// checkEmptyProject fails if what reads a part of the rows of a project reads those of others when one
// project has all rows of a table and another has none. PostgreSQL then expects the rows of any project
// wherever it looks.
func checkEmptyProject(t *testing.T, raw *sql.DB, db *store.DB, p project.Project) {
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
			_, err := db.Calls(ctx, requestlog.BlockQuery{ProjectID: empty.ID, FirstBelow: math.MaxInt64,
				LastBelow: math.MaxInt64, Limit: 20})
			return err
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
			rows := 0.0
			explainJSON(t, raw, "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+s.q, s.args...).walk(func(n planNode) {
				if strings.HasSuffix(n.Type, "Scan") {
					rows += (n.Rows + n.Filtered) * n.Loops
				}
			})
			if rows > most {
				t.Errorf("%s of a project without any: got %.0f rows read, want at most %d, in the statement\n%s", name, rows, most,
					s.q)
			}
		}
	}
}
