package store

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
)

var errLinkNotFound = fault.New(fault.NotFound, "link_not_found", "there is no such link")

var linkTable = newTable("links",
	text("id", func(l *room.Link) *string { return &l.ID }),
	text("room_id", func(l *room.Link) *string { return &l.RoomID }),
	text("token_hash", func(l *room.Link) *string { return &l.TokenHash }),
	text("role", func(l *room.Link) *room.Role { return &l.Role }),
	boolean("single_use", func(l *room.Link) *bool { return &l.SingleUse }),
	text("name", func(l *room.Link) *string { return &l.Name }),
	text("user_id", func(l *room.Link) *string { return &l.UserID }),
	boolean("hidden", func(l *room.Link) *bool { return &l.Hidden }),
	text("redeemed_by", func(l *room.Link) *string { return &l.RedeemedBy }),
	timestamp("created_at", func(l *room.Link) *time.Time { return &l.CreatedAt }),
	timestamp("expires_at", func(l *room.Link) *time.Time { return &l.ExpiresAt }),
	text("created_by", func(l *room.Link) *string { return &l.CreatedBy }),
)

var (
	selectLinkByHash = linkTable.selectFrom + "WHERE token_hash = $2 AND room_id = $1"
	insertLink       = linkTable.insertQuery()
)

func (s *DB) InsertLink(ctx context.Context, l room.Link) error {
	return s.Exec(ctx, insertLink, linkTable.values(&l)...)
}

func (s *DB) LinkByHash(ctx context.Context, roomID, tokenHash string) (room.Link, error) {
	l, err := queryOne(ctx, s, linkTable, errLinkNotFound, selectLinkByHash, roomID, tokenHash)
	if err != nil {
		return room.Link{}, err
	}
	return *l, nil
}

func (s *DB) CountLinksCreatedInRoom(ctx context.Context, roomID string) (n int, err error) {
	err = s.QueryRow(ctx, nil, `SELECT count(*) FROM links WHERE room_id = $1 AND created_by <> ''`,
		[]any{roomID}, &n)
	return n, err
}

func (s *DB) RedeemedLinks(ctx context.Context, roomID, seatID string) ([]string, error) {
	return s.queryStrings(ctx, `SELECT redeemed_by FROM links WHERE room_id = $1 AND created_by = $2 AND created_by <> ''
		AND redeemed_by <> '' ORDER BY id`, roomID, seatID)
}

func (s *DB) RedeemLink(ctx context.Context, id, redeemedBy string) error {
	return s.ExecOne(ctx, errLinkNotFound, `UPDATE links SET redeemed_by = $2 WHERE id = $1 AND redeemed_by = ''`,
		id, redeemedBy)
}
