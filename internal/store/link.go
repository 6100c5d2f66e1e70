package store

import (
	"context"

	"parley/internal/fault"
	"parley/internal/room"
)

var errLinkNotFound = fault.New(fault.NotFound, "link_not_found", "there is no such link")

func (db *DB) InsertLink(ctx context.Context, l room.Link) error {
	return db.exec(ctx, `INSERT INTO links (id, room_id, token_hash, role, single, name, user_id, hidden, claim, created_at, expires_at, made_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		l.ID, l.RoomID, l.TokenHash, l.Role, l.SingleUse, l.Name, l.UserID, l.Hidden, l.RedeemedBy, nullMillis(l.CreatedAt), nullMillis(l.ExpiresAt), l.CreatedBy)
}

func (db *DB) LinkByHash(ctx context.Context, roomID, tokenHash string) (room.Link, error) {
	var l room.Link
	err := db.queryRow(ctx, errLinkNotFound, `SELECT id, room_id, token_hash, role, single, name, user_id, hidden, claim, created_at, expires_at, made_by
		FROM links WHERE token_hash = $2 AND room_id = $1`, []any{roomID, tokenHash},
		&l.ID, &l.RoomID, &l.TokenHash, &l.Role, &l.SingleUse, &l.Name, &l.UserID, &l.Hidden, &l.RedeemedBy, nullTime{&l.CreatedAt}, nullTime{&l.ExpiresAt}, &l.CreatedBy)
	return l, err
}

func (db *DB) CountLinksCreatedInRoom(ctx context.Context, roomID string) (n int, err error) {
	err = db.queryRow(ctx, nil, `SELECT count(*) FROM links WHERE room_id = $1 AND made_by <> ''`, []any{roomID}, &n)
	return n, err
}

func (db *DB) RedeemLink(ctx context.Context, id, redeemedBy string) error {
	return db.execOne(ctx, errLinkNotFound, `UPDATE links SET claim = $2 WHERE id = $1 AND claim = ''`, id, redeemedBy)
}
