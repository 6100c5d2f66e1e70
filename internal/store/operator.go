package store

import (
	"context"
	"time"

	"parley/internal/operator"
)

var tokenTable = newTable("management_tokens",
	text("id", func(t *operator.Token) *string { return &t.ID }),
	text("name", func(t *operator.Token) *string { return &t.Name }),
	text("token_hash", func(t *operator.Token) *string { return &t.Hash }),
	timestamp("created_at", func(t *operator.Token) *time.Time { return &t.CreatedAt }),
	timestamp("revoked_at", func(t *operator.Token) *time.Time { return &t.RevokedAt }),
)

var (
	selectToken       = tokenTable.selectFrom + "WHERE id = $1"
	selectTokenByHash = tokenTable.selectFrom + "WHERE token_hash = $1"
	selectTokens      = tokenTable.selectFrom + "ORDER BY id"
	insertToken       = tokenTable.insertQuery()
)

func (db *DB) InsertToken(ctx context.Context, t operator.Token) error {
	return db.exec(ctx, insertToken, tokenTable.values(&t)...)
}

func (db *DB) TokenByHash(ctx context.Context, hash string) (operator.Token, error) {
	return db.queryToken(ctx, selectTokenByHash, hash)
}

func (db *DB) queryToken(ctx context.Context, q, arg string) (operator.Token, error) {
	t, err := queryOne(ctx, db, tokenTable, errTokenNotFound, q, arg)
	if err != nil {
		return operator.Token{}, err
	}
	return *t, nil
}
