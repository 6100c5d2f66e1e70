package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"parley/internal/requestlog"
)

var keyCallerTable = newTable("recent_key_callers",
	text("project_id", func(c *requestlog.KeyCaller) *string { return &c.ProjectID }),
	text("slot", func(c *requestlog.KeyCaller) *string { return &c.KeySlot }),
	text("address", func(c *requestlog.KeyCaller) *string { return &c.Address }),
	text("user_agent", func(c *requestlog.KeyCaller) *string { return &c.UserAgent }),
	timestamp("at", func(c *requestlog.KeyCaller) *time.Time { return &c.At }),
)

var (
	selectKeyCallers = keyCallerTable.selectFrom + `WHERE project_id = $1
		ORDER BY slot, at DESC, address, user_agent`
	upsertKeyCaller = keyCallerTable.insertQuery() + ` ON CONFLICT (project_id, slot, address, user_agent) DO UPDATE
		SET at = excluded.at WHERE excluded.at > recent_key_callers.at`
)

// deleteSurplusCallers is the statement that keeps the callers of a credential that requestlog.mostRecent keeps, before
// a clause that skips the rows which other nodes have locked.
const deleteSurplusCallers = `DELETE FROM recent_key_callers WHERE project_id = $1 AND slot = $2
	AND (address, user_agent) IN (SELECT address, user_agent FROM recent_key_callers WHERE project_id = $1 AND slot = $2
		AND (address, user_agent) NOT IN (SELECT address, user_agent FROM recent_key_callers
			WHERE project_id = $1 AND slot = $2
			ORDER BY row_number() OVER (PARTITION BY user_agent ORDER BY at DESC, address), at DESC, address, user_agent
			LIMIT $3)`

// SetKeyCallers writes in the order of the primary key and deletes only what is not locked, so that two nodes cannot
// deadlock. It skips the callers of projects that do not exist, because nothing would delete them.
func (s *DB) SetKeyCallers(ctx context.Context, callers []requestlog.KeyCaller) error {
	callers = slices.SortedFunc(slices.Values(callers), func(a, b requestlog.KeyCaller) int {
		return cmp.Or(cmp.Compare(a.ProjectID, b.ProjectID), cmp.Compare(a.KeySlot, b.KeySlot),
			cmp.Compare(a.Address, b.Address), cmp.Compare(a.UserAgent, b.UserAgent))
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
		skipLocked, err := s.ForUpdateSkipLocked(ctx)
		if err != nil {
			return err
		}
		for i, c := range callers {
			if !exists[c.ProjectID] {
				continue
			}
			if err := s.Exec(ctx, upsertKeyCaller, keyCallerTable.values(&c)...); err != nil {
				return err
			}
			if rest := callers[i+1:]; len(rest) > 0 && rest[0].ProjectID == c.ProjectID && rest[0].KeySlot == c.KeySlot {
				continue // delete after the last one of the credential
			}
			err := s.Exec(ctx, deleteSurplusCallers+skipLocked+")", c.ProjectID, c.KeySlot, requestlog.MaxKeyCallers)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *DB) KeyCallers(ctx context.Context, projectID string) ([]requestlog.KeyCaller, error) {
	return queryAll(ctx, s, keyCallerTable, selectKeyCallers, projectID)
}
