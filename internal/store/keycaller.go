package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"parley/internal/requestlog"
)

var keyCallerTable = newTable("key_callers",
	text("project_id", func(c *requestlog.KeyCaller) *string { return &c.ProjectID }),
	text("slot", func(c *requestlog.KeyCaller) *string { return &c.KeySlot }),
	timestamp("at", func(c *requestlog.KeyCaller) *time.Time { return &c.At }),
	text("address", func(c *requestlog.KeyCaller) *string { return &c.Address }),
	text("user_agent", func(c *requestlog.KeyCaller) *string { return &c.UserAgent }),
)

var (
	selectKeyCallers = keyCallerTable.selectFrom + "WHERE project_id = $1 ORDER BY slot"
	upsertKeyCaller  = keyCallerTable.insertQuery() + ` ON CONFLICT (project_id, slot) DO UPDATE
		SET at = excluded.at, address = excluded.address, user_agent = excluded.user_agent
		WHERE excluded.at >= key_callers.at`
)

// SetKeyCallers writes in the order of the primary key, so that two nodes cannot deadlock. It skips the callers of
// projects that do not exist, because nothing would delete them.
func (s *DB) SetKeyCallers(ctx context.Context, callers []requestlog.KeyCaller) error {
	callers = slices.SortedFunc(slices.Values(callers), func(a, b requestlog.KeyCaller) int {
		return cmp.Or(cmp.Compare(a.ProjectID, b.ProjectID), cmp.Compare(a.KeySlot, b.KeySlot))
	})
	projects := make([]string, len(callers))
	for i, c := range callers {
		projects[i] = c.ProjectID
	}
	return s.Write(ctx, func(ctx context.Context) error {
		exists, err := s.holdProjects(ctx, projects)
		if err != nil {
			return err
		}
		for _, c := range callers {
			if !exists[c.ProjectID] {
				continue
			}
			if err := s.Exec(ctx, upsertKeyCaller, keyCallerTable.values(&c)...); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *DB) KeyCallers(ctx context.Context, projectID string) ([]requestlog.KeyCaller, error) {
	return queryAll(ctx, s, keyCallerTable, selectKeyCallers, projectID)
}
