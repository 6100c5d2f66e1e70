package store

import (
	"context"

	"parley/internal/fault"
	"parley/internal/room"
)

var noLink = fault.New(fault.NotFound, "link_not_found", "there is no such link")

// InsertLink implements room.Store.
func (db *DB) InsertLink(ctx context.Context, l room.Link) error {
	return db.must(ctx, `INSERT INTO links (id, room_id, token_hash, role, single, name, user_id, hidden, claim, created_at, expires_at, made_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		l.ID, l.RoomID, l.TokenHash, l.Role, l.Single, l.Name, l.UserID, l.Hidden, l.Claim, millis(l.CreatedAt), millis(l.ExpiresAt), l.MadeBy)
}

// LinkByHash implements room.Store.
func (db *DB) LinkByHash(ctx context.Context, roomID, tokenHash string) (room.Link, error) {
	var l room.Link
	err := db.one(ctx, noLink, `SELECT id, room_id, token_hash, role, single, name, user_id, hidden, claim, created_at, expires_at, made_by
		FROM links WHERE token_hash = $2 AND room_id = $1`, []any{roomID, tokenHash},
		&l.ID, &l.RoomID, &l.TokenHash, &l.Role, &l.Single, &l.Name, &l.UserID, &l.Hidden, &l.Claim, moment{&l.CreatedAt}, moment{&l.ExpiresAt}, &l.MadeBy)
	return l, err
}

// CountLinksMadeIn implements room.Store.
func (db *DB) CountLinksMadeIn(ctx context.Context, roomID string) (n int, err error) {
	err = db.one(ctx, nil, `SELECT count(*) FROM links WHERE room_id = $1 AND made_by <> ''`, []any{roomID}, &n)
	return n, err
}

// ClaimLink implements room.Store.
func (db *DB) ClaimLink(ctx context.Context, id, claim string) error {
	return db.changed(ctx, noLink, `UPDATE links SET claim = $2 WHERE id = $1 AND claim = ''`, id, claim)
}
