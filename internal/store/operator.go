package store

import (
	"context"

	"parley/internal/fault"
	"parley/internal/operator"
)

func (db *DB) InsertToken(ctx context.Context, t operator.Token) error {
	return db.exec(ctx, `INSERT INTO management_tokens (id, name, token_hash, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5)`,
		t.ID, t.Name, t.Hash, nullMillis(t.CreatedAt), nullMillis(t.RevokedAt))
}

func (db *DB) TokenByHash(ctx context.Context, hash string) (operator.Token, error) {
	t := operator.Token{Hash: hash}
	err := db.queryRow(ctx, fault.New(fault.NotFound, "token_not_found", "there is no such token"),
		`SELECT id, name, created_at, revoked_at FROM management_tokens WHERE token_hash = $1`, []any{hash},
		&t.ID, &t.Name, nullTime{&t.CreatedAt}, nullTime{&t.RevokedAt})
	return t, err
}
