package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/operator"
)

var tokenTable = db.NewTable("management_tokens",
	db.Text("id", func(t *operator.Token) *string { return &t.ID }),
	db.Text("name", func(t *operator.Token) *string { return &t.Name }),
	db.Text("token_hash", func(t *operator.Token) *string { return &t.Hash }),
	db.Timestamp("created_at", func(t *operator.Token) *time.Time { return &t.CreatedAt }),
	db.Timestamp("revoked_at", func(t *operator.Token) *time.Time { return &t.RevokedAt }),
)

var (
	selectToken       = tokenTable.SelectFrom + "WHERE id = $1"
	selectTokenByHash = tokenTable.SelectFrom + "WHERE token_hash = $1"
	selectTokens      = tokenTable.SelectFrom + "ORDER BY id"
	insertToken       = tokenTable.InsertQuery()
)

func (s *Store) InsertToken(ctx context.Context, t operator.Token) error {
	return s.Exec(ctx, insertToken, tokenTable.Values(&t)...)
}

func (s *Store) TokenByHash(ctx context.Context, hash string) (operator.Token, error) {
	return s.queryToken(ctx, selectTokenByHash, hash)
}

func (s *Store) queryToken(ctx context.Context, q, arg string) (operator.Token, error) {
	t, err := db.QueryOne(ctx, s.DB, tokenTable, errTokenNotFound, q, arg)
	if err != nil {
		return operator.Token{}, err
	}
	return *t, nil
}
