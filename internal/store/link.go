package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/room"
)

var errLinkNotFound = fault.New(fault.NotFound, "link_not_found", "there is no such link")

var linkTable = db.NewTable("links",
	db.Text("id", func(l *room.Link) *string { return &l.ID }),
	db.Text("room_id", func(l *room.Link) *string { return &l.RoomID }),
	db.Text("token_hash", func(l *room.Link) *string { return &l.TokenHash }),
	db.Text("role", func(l *room.Link) *room.Role { return &l.Role }),
	db.Boolean("single", func(l *room.Link) *bool { return &l.SingleUse }),
	db.Text("name", func(l *room.Link) *string { return &l.Name }),
	db.Text("user_id", func(l *room.Link) *string { return &l.UserID }),
	db.Boolean("hidden", func(l *room.Link) *bool { return &l.Hidden }),
	db.Text("claim", func(l *room.Link) *string { return &l.RedeemedBy }),
	db.Timestamp("created_at", func(l *room.Link) *time.Time { return &l.CreatedAt }),
	db.Timestamp("expires_at", func(l *room.Link) *time.Time { return &l.ExpiresAt }),
	db.Text("made_by", func(l *room.Link) *string { return &l.CreatedBy }),
)

var (
	selectLinkByHash = linkTable.SelectFrom + "WHERE token_hash = $2 AND room_id = $1"
	insertLink       = linkTable.InsertQuery()
)

func (s *Store) InsertLink(ctx context.Context, l room.Link) error {
	return s.Exec(ctx, insertLink, linkTable.Values(&l)...)
}

func (s *Store) LinkByHash(ctx context.Context, roomID, tokenHash string) (room.Link, error) {
	l, err := db.QueryOne(ctx, s.DB, linkTable, errLinkNotFound, selectLinkByHash, roomID, tokenHash)
	if err != nil {
		return room.Link{}, err
	}
	return *l, nil
}

func (s *Store) CountLinksCreatedInRoom(ctx context.Context, roomID string) (n int, err error) {
	err = s.QueryRow(ctx, nil, `SELECT count(*) FROM links WHERE room_id = $1 AND made_by <> ''`,
		[]any{roomID}, &n)
	return n, err
}

func (s *Store) RedeemLink(ctx context.Context, id, redeemedBy string) error {
	return s.ExecOne(ctx, errLinkNotFound, `UPDATE links SET claim = $2 WHERE id = $1 AND claim = ''`, id, redeemedBy)
}
