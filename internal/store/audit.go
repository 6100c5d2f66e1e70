package store

import (
	"context"
	"errors"
	"math"
	"time"

	"parley/internal/audit"
)

var auditTable = newTable("audit",
	number("n", func(e *audit.Entry) *int64 { return &e.N }),
	timestamp("at", func(e *audit.Entry) *time.Time { return &e.At }),
	text("actor_kind", func(e *audit.Entry) *audit.Kind { return &e.Kind }),
	text("actor_id", func(e *audit.Entry) *string { return &e.ActorID }),
	text("actor_name", func(e *audit.Entry) *string { return &e.ActorName }),
	text("request_id", func(e *audit.Entry) *string { return &e.RequestID }),
	text("address", func(e *audit.Entry) *string { return &e.Address }),
	text("node", func(e *audit.Entry) *string { return &e.Node }),
	text("action", func(e *audit.Entry) *audit.Action { return &e.Action }),
	text("subject", func(e *audit.Entry) *string { return &e.Subject }),
	text("project_id", func(e *audit.Entry) *string { return &e.ProjectID }),
	text("before", func(e *audit.Entry) *string { return &e.Before }),
	text("after", func(e *audit.Entry) *string { return &e.After }),
	text("prev_hash", func(e *audit.Entry) *string { return &e.PrevHash }),
	text("hash", func(e *audit.Entry) *string { return &e.Hash }),
)

var chainTable = newTable("audit_chain",
	number("n", func(c *audit.Chain) *int64 { return &c.N }),
	text("hash", func(c *audit.Chain) *string { return &c.Hash }),
	number("pruned_n", func(c *audit.Chain) *int64 { return &c.PrunedN }),
	text("pruned_hash", func(c *audit.Chain) *string { return &c.PrunedHash }),
)

var (
	insertAuditEntry = auditTable.insertQuery()
	selectAuditAfter = auditTable.selectFrom + `WHERE n > $1 ORDER BY n LIMIT $2`
	// The subqueries turn the times into numbers, so that the list reads only the
	// entries that it returns. The project has a query of its own, because PostgreSQL
	// cannot use the index if the query also allows every project. It compares rows, because
	// PostgreSQL otherwise reads the entries of all projects if one project has nearly all of them.
	firstAuditN        = `coalesce((SELECT n FROM audit WHERE at >= $1 ORDER BY at, n LIMIT 1), $2)`
	endAuditN          = `coalesce((SELECT n FROM audit WHERE at >= $3 ORDER BY at, n LIMIT 1), $2)`
	selectAuditEntries = auditTable.selectFrom +
		`WHERE n >= ` + firstAuditN + ` AND n < $2 AND n < ` + endAuditN + ` ORDER BY n DESC LIMIT $4`
	selectProjectAudit = auditTable.selectFrom + `WHERE (project_id, n) >= ($5, ` + firstAuditN + `)
		AND (project_id, n) < ($5, CASE WHEN ` + endAuditN + ` < $2 THEN ` + endAuditN + ` ELSE $2 END)
		ORDER BY project_id DESC, n DESC LIMIT $4`
	selectAuditChain       = chainTable.selectFrom
	selectAuditChainNewest = `SELECT ` + chainTable.selectList +
		`, (SELECT coalesce(max(audit.n), 0) FROM audit) FROM audit_chain`
)

var errNoAuditChain = errors.New("the audit chain cannot be continued: " +
	"the row of the table audit_chain was deleted, restore it from a backup")

func (s *DB) LockAuditChain(ctx context.Context) (audit.Chain, error) {
	forUpdate, err := s.ForUpdate(ctx)
	if err != nil {
		return audit.Chain{}, err
	}
	c, err := queryOne(ctx, s, chainTable, errNoAuditChain, selectAuditChain+forUpdate)
	if err != nil {
		return audit.Chain{}, err
	}
	return *c, nil
}

func (s *DB) AppendAuditEntry(ctx context.Context, e audit.Entry) error {
	if err := s.Exec(ctx, insertAuditEntry, auditTable.values(&e)...); err != nil {
		return err
	}
	return s.ExecOne(ctx, errNoAuditChain, `UPDATE audit_chain SET n = $1, hash = $2`, e.N, e.Hash)
}

func (s *DB) AuditChain(ctx context.Context) (c audit.Chain, newest int64, err error) {
	err = s.QueryRow(ctx, errNoAuditChain, selectAuditChainNewest, nil, chainTable.dests(&c, &newest)...)
	return c, newest, err
}

func (s *DB) AuditEntries(ctx context.Context, q audit.Query) ([]audit.Entry, error) {
	since, before, belowN := int64(math.MinInt64), int64(math.MaxInt64), int64(math.MaxInt64)
	if !q.Since.IsZero() {
		since = q.Since.UnixMilli()
	}
	if !q.Before.IsZero() {
		before = q.Before.UnixMilli()
	}
	if q.BelowN != 0 {
		belowN = q.BelowN
	}
	if q.ProjectID == "" {
		return queryAll(ctx, s, auditTable, selectAuditEntries, since, belowN, before, q.Limit)
	}
	return queryAll(ctx, s, auditTable, selectProjectAudit, since, belowN, before, q.Limit, q.ProjectID)
}

func (s *DB) AuditEntriesAfter(ctx context.Context, n int64, limit int) ([]audit.Entry, error) {
	return queryAll(ctx, s, auditTable, selectAuditAfter, n, limit)
}

func (s *DB) PruneAuditEntries(ctx context.Context, e audit.Entry) error {
	if err := s.Exec(ctx, `DELETE FROM audit WHERE n <= $1`, e.N); err != nil {
		return err
	}
	return s.ExecOne(ctx, errNoAuditChain, `UPDATE audit_chain SET pruned_n = $1, pruned_hash = $2`, e.N, e.Hash)
}
