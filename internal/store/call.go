package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"parley/internal/diagnostic"
)

// callRows is how many calls one statement inserts.
const callRows = 50

var (
	insertCall  = insertCalls(1)
	insertBlock = insertCalls(callRows)
)

func insertCalls(rows int) string {
	var q strings.Builder
	q.WriteString(`INSERT INTO calls (project_id, n, call) VALUES `)
	for i := range rows {
		if i > 0 {
			q.WriteString(", ")
		}
		fmt.Fprintf(&q, "($%d, $%d, $%d)", 3*i+1, 3*i+2, 3*i+3)
	}
	q.WriteString(` ON CONFLICT (project_id, n) DO NOTHING`)
	return q.String()
}

// InsertCalls implements diagnostic.Store.
func (db *DB) InsertCalls(ctx context.Context, calls []diagnostic.Numbered) error {
	args := make([]any, 0, 3*len(calls))
	for _, c := range calls {
		call, err := json.Marshal(c.Call)
		if err != nil {
			return err
		}
		args = append(args, c.ProjectID, c.N, string(call))
	}
	return db.Write(ctx, func(ctx context.Context) error {
		for rest := args; len(rest) > 0; {
			q, n := insertCall, 3
			if len(rest) >= 3*callRows {
				q, n = insertBlock, 3*callRows
			}
			if err := db.must(ctx, q, rest[:n]...); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
}

// Calls implements diagnostic.Store.
func (db *DB) Calls(ctx context.Context, projectID string, below int64, limit int) ([]diagnostic.Numbered, error) {
	var calls []diagnostic.Numbered
	err := db.each(ctx, `SELECT n, call FROM calls WHERE project_id = $1 AND n < $2 ORDER BY n DESC LIMIT $3`, []any{projectID, below, limit},
		func(scan func(...any) error) error {
			var c diagnostic.Numbered
			var call string
			if err := scan(&c.N, &call); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(call), &c.Call); err != nil {
				return fmt.Errorf("call %d of project %s: %w", c.N, projectID, err)
			}
			c.ProjectID = projectID
			calls = append(calls, c)
			return nil
		})
	return calls, err
}

// PruneCalls implements diagnostic.Store. Naming the projects lets the primary
// key find the rows.
func (db *DB) PruneCalls(ctx context.Context, below int64) error {
	return db.Write(ctx, func(ctx context.Context) error {
		return db.must(ctx, `DELETE FROM calls WHERE project_id IN (SELECT id FROM projects) AND n < $1`, below)
	})
}

// KeepCalls implements diagnostic.Store.
func (db *DB) KeepCalls(ctx context.Context, projectID string, latest int) error {
	return db.Write(ctx, func(ctx context.Context) error {
		return db.must(ctx, `DELETE FROM calls WHERE project_id = $1 AND n <= (
			SELECT n FROM calls WHERE project_id = $1 ORDER BY n DESC LIMIT 1 OFFSET $2)`, projectID, latest)
	})
}

// CallProjects implements diagnostic.Store.
func (db *DB) CallProjects(ctx context.Context) ([]string, error) {
	var ids []string
	err := db.each(ctx, `SELECT id FROM projects WHERE EXISTS (SELECT 1 FROM calls WHERE calls.project_id = projects.id)`, nil,
		func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, err
}
