package store

import (
	"context"
	"time"

	"parley/internal/conncheck"
	"parley/internal/fault"
)

var connectionCheckTable = newTable("connection_checks",
	text("id", func(c *conncheck.Check) *string { return &c.ID }),
	text("code_hash", func(c *conncheck.Check) *string { return &c.CodeHash }),
	optionalText("key_hash", func(c *conncheck.Check) *string { return &c.KeyHash }),
	timestamp("created_at", func(c *conncheck.Check) *time.Time { return &c.CreatedAt }),
	timestamp("expires_at", func(c *conncheck.Check) *time.Time { return &c.ExpiresAt }),
	timestamp("started_at", func(c *conncheck.Check) *time.Time { return &c.StartedAt }),
	timestamp("finished_at", func(c *conncheck.Check) *time.Time { return &c.FinishedAt }),
	parsed("paths", conncheck.ParsePaths, func(c *conncheck.Check) *conncheck.Paths { return &c.Paths }),
)

var (
	insertConnectionCheck       = connectionCheckTable.insertQuery()
	selectConnectionCheck       = connectionCheckTable.selectFrom + "WHERE id = $1"
	selectConnectionCheckByCode = connectionCheckTable.selectFrom + "WHERE code_hash = $1"
	selectConnectionCheckByKey  = connectionCheckTable.selectFrom + "WHERE key_hash = $1"
)

var errConnectionCheckNotFound = fault.New(fault.NotFound, "check_not_found", "there is no such connection check")

func (s *DB) InsertConnectionCheck(ctx context.Context, c conncheck.Check, deleteBefore time.Time) error {
	err := s.Exec(ctx, `DELETE FROM connection_checks WHERE expires_at < $1`, deleteBefore.UnixMilli())
	if err != nil {
		return err
	}
	return s.Exec(ctx, insertConnectionCheck, connectionCheckTable.values(&c)...)
}

func (s *DB) ConnectionCheck(ctx context.Context, id string) (conncheck.Check, error) {
	return s.queryConnectionCheck(ctx, selectConnectionCheck, id)
}

func (s *DB) ConnectionCheckByCode(ctx context.Context, codeHash string) (conncheck.Check, error) {
	return s.queryConnectionCheck(ctx, selectConnectionCheckByCode, codeHash)
}

func (s *DB) ConnectionCheckByKey(ctx context.Context, keyHash string) (conncheck.Check, error) {
	return s.queryConnectionCheck(ctx, selectConnectionCheckByKey, keyHash)
}

func (s *DB) queryConnectionCheck(ctx context.Context, q, arg string) (conncheck.Check, error) {
	c, err := queryOne(ctx, s, connectionCheckTable, errConnectionCheckNotFound, q, arg)
	if err != nil {
		return conncheck.Check{}, err
	}
	return *c, nil
}

func (s *DB) StartConnectionCheck(ctx context.Context, codeHash, keyHash string, startedAt, expiresAt time.Time) error {
	return s.ExecOne(ctx, errConnectionCheckNotFound, `UPDATE connection_checks
		SET key_hash = $2, started_at = $3, expires_at = $4
		WHERE code_hash = $1 AND started_at IS NULL AND expires_at > $3`,
		codeHash, keyHash, startedAt.UnixMilli(), expiresAt.UnixMilli())
}

func (s *DB) FinishConnectionCheck(
	ctx context.Context, keyHash string, paths conncheck.Paths, finishedAt time.Time,
) error {
	return s.ExecOne(ctx, errConnectionCheckNotFound, `UPDATE connection_checks SET paths = $2, finished_at = $3
		WHERE key_hash = $1 AND finished_at IS NULL AND expires_at > $3`, keyHash, paths.String(), finishedAt.UnixMilli())
}
