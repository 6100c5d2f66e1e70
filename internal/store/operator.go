package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/operator"
)

var tokenTable = newTable("management_tokens",
	text("id", func(t *operator.Token) *string { return &t.ID }),
	text("name", func(t *operator.Token) *string { return &t.Name }),
	text("token_hash", func(t *operator.Token) *string { return &t.Hash }),
	text("role", func(t *operator.Token) *operator.Role { return &t.Role }),
	parsed("project_ids", operator.ParseProjectIDs, func(t *operator.Token) *operator.ProjectIDs { return &t.ProjectIDs }),
	timestamp("created_at", func(t *operator.Token) *time.Time { return &t.CreatedAt }),
	timestamp("expires_at", func(t *operator.Token) *time.Time { return &t.ExpiresAt }),
	timestamp("last_used_at", func(t *operator.Token) *time.Time { return &t.LastUsedAt }),
	timestamp("revoked_at", func(t *operator.Token) *time.Time { return &t.RevokedAt }),
)

var (
	selectToken       = tokenTable.selectFrom + "WHERE id = $1"
	selectTokenByHash = tokenTable.selectFrom + "WHERE token_hash = $1"
	selectTokens      = tokenTable.selectFrom + "ORDER BY id"
	insertToken       = tokenTable.insertQuery()
)

func (s *DB) InsertToken(ctx context.Context, t operator.Token) error {
	return s.Exec(ctx, insertToken, tokenTable.values(&t)...)
}

func (s *DB) TokenByHash(ctx context.Context, hash string) (operator.Token, error) {
	return s.queryToken(ctx, selectTokenByHash, hash)
}

func (s *DB) queryToken(ctx context.Context, q, arg string) (operator.Token, error) {
	t, err := queryOne(ctx, s, tokenTable, errTokenNotFound, q, arg)
	if err != nil {
		return operator.Token{}, err
	}
	return *t, nil
}

var errTokenNotFound = fault.New(fault.NotFound, "token_not_found", "there is no such token")

func (s *DB) Token(ctx context.Context, id string) (operator.Token, error) {
	return s.queryToken(ctx, selectToken, id)
}

func (s *DB) Tokens(ctx context.Context) ([]operator.Token, error) {
	return queryAll(ctx, s, tokenTable, selectTokens)
}

func (s *DB) RecordTokenUse(ctx context.Context, id string, at time.Time) error {
	return s.Exec(ctx, `UPDATE management_tokens SET last_used_at = $2
		WHERE id = $1 AND coalesce(last_used_at, 0) < $2`, id, at.UnixMilli())
}

func (s *DB) RevokeToken(ctx context.Context, id string, at time.Time) error {
	return s.ExecOne(ctx, errTokenNotFound, `UPDATE management_tokens SET revoked_at = $2 WHERE id = $1`,
		id, db.NullMillis(at))
}
